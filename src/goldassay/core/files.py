"""Files written whole or not at all, and the fingerprints of those read."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from goldassay.core.errors import OutputError
from goldassay.core.pipes import seekable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import polars as pl


def sha256_of(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, as hexadecimal digits."""
    with seekable(Path(path)).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def written_whole(path: str | os.PathLike[str], option: str = "-o") -> Iterator[Path]:
    """Give a path beside `path` to write to; on leaving without error it becomes `path` in one step.

    The file is flushed to disk before it is renamed, so that a kill at any moment leaves either the old file or
    the new one, never half of one. What is no file, such as a terminal or a pipe, is written to as it is.

    Args:
        path: The file.
        option: What names another place, for the error to say.

    Raises:
        OutputError: The folder cannot be made or written to, or the disk is full.
    """
    target = Path(path)
    if target.exists() and not target.is_file() and not target.is_dir():
        with _written_into(target, option) as content:
            yield content
        return
    aside: Path | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
        os.close(handle)
        aside = Path(name)
        yield aside
        with aside.open("rb") as file:
            os.fsync(file.fileno())
        aside.chmod(0o666 & ~_umask())
        aside.replace(target)
    except OSError as error:
        raise output_error(error, target, option) from error
    finally:
        if aside is not None:
            aside.unlink(missing_ok=True)


def check_place(path: Path, option: str) -> None:
    """Refuse a file that could not be written, before hours are spent on what belongs into it.

    Raises:
        OutputError: The file is a folder, or no file can be made where it would be.
    """
    number = None
    try:
        folder = next(each for each in path.absolute().parents if each.exists())
        if path.is_dir():
            number = errno.EISDIR
        elif not folder.is_dir():
            number = errno.ENOTDIR
        elif not os.access(folder, os.W_OK | os.X_OK) and (path.is_file() or not path.exists()):
            number = errno.EACCES
    except OSError as error:
        # A folder that may not be looked into, or a name that is too long.
        raise output_error(error, path, option) from error
    if number is not None:
        raise output_error(OSError(number, os.strerror(number)), path, option)


@contextmanager
def _written_into(target: Path, option: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        aside = Path(folder) / "content"
        yield aside
        try:
            with target.open("wb") as stream:
                stream.write(aside.read_bytes())
        except OSError as error:
            raise output_error(error, target, option) from error


@contextmanager
def written_together(directory: str | os.PathLike[str], instead_of: Collection[str] = ()) -> Iterator[Path]:
    """Give an empty folder to write files to; on leaving without error they all move into `directory`.

    Files of the same names there are replaced, others are left alone. If anything fails, `directory` keeps what
    it had, and is gone again if it was not there.

    Args:
        directory: The folder.
        instead_of: Files in it, by their path seen from it, that are gone afterwards unless they were written anew.

    Raises:
        OutputError: The folder cannot be made or written to, or the disk is full.
    """
    target = Path(directory)
    was_there = target.exists()
    moved: set[str] = set()
    aside: Path | None = None
    try:
        target.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=".goldassay-", dir=target))
        yield aside
        for source in sorted(path for path in aside.rglob("*") if path.is_file()):
            goal = target / source.relative_to(aside)
            goal.parent.mkdir(parents=True, exist_ok=True)
            source.replace(goal)
            moved.add(goal.relative_to(target).as_posix())
        for name in set(instead_of) - moved:
            (target / name).unlink(missing_ok=True)
    except OSError as error:
        raise output_error(error, target) from error
    finally:
        if aside is not None:
            shutil.rmtree(aside, ignore_errors=True)
        if not was_there:
            with suppress(OSError):
                target.rmdir()


def write_parquet(frame: pl.DataFrame, path: Path, **options: Any) -> None:
    """Write a table as Parquet; a disk that fails is an OSError, which polars reports as an error of its own.

    Args:
        frame: The table.
        path: Where to.
        options: Those of `polars.DataFrame.write_parquet`.

    Raises:
        OSError: The disk is full or fails.
    """
    with _disk_errors(path):
        frame.write_parquet(path, **options)


def sink_parquet(frame: pl.LazyFrame, file: BinaryIO, **options: Any) -> None:
    """Write rows as Parquet as they come; otherwise as `write_parquet`.

    Args:
        frame: The rows.
        file: Where to, open: given a name, polars might make the file when it has failed already, and whoever called
            has removed it.
        options: Those of `polars.LazyFrame.sink_parquet`.

    Raises:
        OSError: The disk is full or fails.
    """
    with _disk_errors(Path(file.name)):
        frame.sink_parquet(file, **options)


@contextmanager
def _disk_errors(path: Path) -> Iterator[None]:
    from polars.exceptions import ComputeError

    try:
        yield
    except ComputeError as error:
        number = re.search(r"\(os error (\d+)\)", str(error))
        if number is None:
            raise
        raise OSError(int(number[1]), os.strerror(int(number[1])), os.fspath(path)) from error


def output_error(error: OSError, target: Path, option: str = "-o") -> OutputError:
    """Say in one line why `target` could not be written, and what to do."""
    if isinstance(error, OutputError):
        return error
    reason = error.strerror or str(error)
    mend = f"choose another with {option}"
    if error.errno == errno.ENOSPC:
        mend = f"free some space or choose another place with {option}"
    return OutputError(f"{target}: cannot be written ({reason}); {mend}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def file_slug(text: object) -> str:
    """A text as part of a file's name: letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", str(text)).strip("-.") or "unnamed"
