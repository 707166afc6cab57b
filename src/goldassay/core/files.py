"""Files written whole or not at all, and the fingerprints of those read.

Temporary files and folders under names of our own, and the removal of those that killed commands left.

A name holds the machine and the process that made it. Whoever makes the next temporary file in a folder removes there
what nobody uses any more: it is older than an hour, and its process is gone. What another machine made, whose processes
cannot be seen from here, is removed after a day. No other name is touched.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import os
import platform
import re
import select
import shutil
import stat
import tempfile
import threading
import time
import zlib
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from goldassay.core.bounds import BYTES, shown
from goldassay.core.errors import InputError, OutputError
from goldassay.core.report_seal import INCOMPLETE, REPORT, earlier_files, mark_incomplete, seal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    import polars as pl


def sha256_of(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, as hexadecimal digits."""
    with seekable(Path(path)).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_not_read(path: Path, read: Iterable[Path], option: str = "-o") -> None:
    """Refuse to write over what was read.

    Args:
        path: What is to be written.
        read: Files that were read.
        option: What names another place, for the error to say.

    Raises:
        InputError: It is one of them.
    """
    if any(path.exists() and each.exists() and path.samefile(each) for each in read):
        raise InputError("is a file that was read", file=path, mend=f"name another place with {option}")


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
        aside = temporary_file(target.parent)
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


def check_folder(path: Path, option: str) -> None:
    """Refuse a folder that could not be written to, before hours are spent on what belongs into it.

    Raises:
        OutputError: It or a folder above it is a file, may not be written to, or has a name that is too long.
    """
    number = None
    try:
        nearest = next(each for each in (path.absolute(), *path.absolute().parents) if each.exists())
        if not nearest.is_dir():
            number = errno.ENOTDIR
        elif not os.access(nearest, os.W_OK | os.X_OK):
            number = errno.EACCES
        elif path.is_symlink():
            # A link that leads nowhere, or to itself, is taken for a folder that is still to be made.
            path.stat()
    except OSError as error:
        raise output_error(error, path, option) from error
    if number is not None:
        raise output_error(OSError(number, os.strerror(number)), path, option)


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
        elif folder != path.absolute().parent:
            # A file system may refuse what its permissions allow: /proc takes no folders.
            missing = [each for each in path.absolute().parents if not each.exists()][-1]
            missing.mkdir()
            missing.rmdir()
        elif path.is_file() or not path.exists():
            temporary_file(folder).unlink()
    except OSError as error:
        # A folder that may not be looked into, or a name that is too long.
        raise output_error(error, path, option) from error
    if number is not None:
        raise output_error(OSError(number, os.strerror(number)), path, option)


@contextmanager
def _written_into(target: Path, option: str) -> Iterator[Path]:
    with temporary_folder() as folder:
        aside = folder / "content"
        yield aside
        try:
            with target.open("wb") as stream:
                stream.write(aside.read_bytes())
        except OSError as error:
            raise output_error(error, target, option) from error


@contextmanager
def written_together(
    directory: str | os.PathLike[str], instead_of: Collection[str] = (), belonging: Collection[Path] = ()
) -> Iterator[Path]:
    """Give an empty folder to write files to; on leaving without error they all move into `directory`.

    Files of the same names there are replaced, others are left alone. If writing fails, `directory` keeps what it had,
    and is gone again if it was not there. Documents (the JSON files that lie in the folder itself) move last, and those
    that they replace are gone before anything else is replaced, so that a kill at any moment leaves no document with
    the tables of another. A report.json gets the digests of the files, see `goldassay.core.report_seal`; the files of
    the report that it replaces are gone afterwards, unless somebody changed them.

    Args:
        directory: The folder.
        instead_of: Files in it, by their path seen from it, that are gone afterwards unless they were written anew.
        belonging: Further files of a report, written before; those in the folder get digests, too.

    Raises:
        OutputError: The folder cannot be made or written to, another command writes into it, or the disk is full.
    """
    target = Path(directory)
    was_there = target.exists()
    try:
        target.mkdir(parents=True, exist_ok=True)
        with locked_folder(target), temporary_folder(target) as aside:
            # Who else writes whole reports here is gone: a command that was killed left the folder unlocked.
            sweep(target, age=0)
            yield aside
            _move_all(aside, target, instead_of, belonging)
    except OSError as error:
        raise output_error(error, target) from error
    finally:
        if not was_there:
            with suppress(OSError):
                target.rmdir()


def _move_all(aside: Path, target: Path, instead_of: Collection[str], belonging: Collection[Path]) -> None:
    staged = sorted(path.relative_to(aside).as_posix() for path in aside.rglob("*") if path.is_file())
    documents = [name for name in staged if "/" not in name and name.endswith(".json") and name != REPORT]
    obsolete = set(instead_of)
    if REPORT in staged:
        obsolete |= earlier_files(target)
        digests = {name: sha256_of(aside / name) for name in staged if name != REPORT}
        inside = [path.resolve() for path in belonging if path.resolve().is_relative_to(target.resolve())]
        digests |= {path.relative_to(target.resolve()).as_posix(): sha256_of(path) for path in inside}
        seal(aside / REPORT, digests)
        mark_incomplete(target, digests, aside / INCOMPLETE)
    for name in documents:
        (target / name).unlink(missing_ok=True)
    for name in [*(name for name in staged if name not in documents and name != REPORT), *documents]:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (aside / name).replace(target / name)
    for name in obsolete.difference(staged):
        (target / name).unlink(missing_ok=True)
        if "/" in name:
            with suppress(OSError):
                (target / name).parent.rmdir()
    if REPORT in staged:
        (aside / REPORT).replace(target / REPORT)


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
    # The table engine gives the number within its words alone.
    told = re.search(r"^(.*) \(os error (\d+)\)", str(error)) if error.errno is None else None
    reason, number = (told[1], int(told[2])) if told else (error.strerror or str(error), error.errno)
    mend = f"choose another with {option}"
    if number == errno.ENOSPC:
        mend = f"free some space or choose another place with {option}"
    return OutputError(f"{target}: cannot be written ({reason}); {mend}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def file_slug(text: object) -> str:
    """A text as part of a file's name: letters, digits, dots and dashes."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", str(text)).strip("-.") or "unnamed"


def matching(place: str | os.PathLike[str]) -> list[str]:
    """The paths that a pattern such as 'test/*.csv' matches, sorted; a path that is there, or has no sign, is itself.

    Raises:
        InputError: The pattern matches nothing.
    """
    place = os.fspath(place)
    if not glob.has_magic(place) or Path(place).exists():
        return [place]
    matched = sorted(glob.glob(place, recursive=True))  # noqa: PTH207 (a pattern may be absolute)
    if not matched:
        raise InputError("the pattern matches nothing", file=place, mend="check it, and quote it for the shell")
    return matched


# Locks of this process by device and inode of the folder, each with the thread that took it.
_held: dict[tuple[int, int], int] = {}
_until_the_end: ContextVar[ExitStack | None] = ContextVar("until_the_end", default=None)


@contextmanager
def locks_kept() -> Iterator[None]:
    """Keep each lock that is taken meanwhile until this is left: for a command, which is one writer all along."""
    with ExitStack() as locks:
        token = _until_the_end.set(locks)
        try:
            yield
        finally:
            _until_the_end.reset(token)


@contextmanager
def locked_folder(folder: Path, option: str = "-o") -> Iterator[None]:
    """Be the only one that writes into a folder; the same thread may take a lock again that it has.

    Args:
        folder: It is there.
        option: What names another place, for the error to say.

    Raises:
        OutputError: Another command, or another thread, writes into it.
    """
    locks = _until_the_end.get()
    if locks is not None:
        locks.enter_context(_taken(folder, option))
        yield
        return
    with _taken(folder, option):
        yield


@contextmanager
def _taken(folder: Path, option: str) -> Iterator[None]:
    found = folder.stat()
    key = (found.st_dev, found.st_ino)
    if _held.get(key) == threading.get_ident():
        yield
        return
    handle = _locked(folder, option)
    if handle is None:
        yield
        return
    _held[key] = threading.get_ident()
    try:
        yield
    finally:
        del _held[key]
        os.close(handle)


def _locked(folder: Path, option: str) -> int | None:
    """A handle that holds the lock; None where there is no such lock."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:
        # A folder that may be written to but not listed.
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise OutputError(
            f"{folder}: another command is writing into this folder; wait for it, or choose another with {option}"
        ) from None
    except OSError:
        with suppress(OSError):
            os.close(handle)
        return None
    return handle


_HOUR = 3600
_DAY = 24 * _HOUR
_NAME = re.compile(r"\.goldassay-([0-9a-f]{8})-(\d+)-\w+(?:\.part)?")
_swept: set[str] = set()


def temporary_file(folder: Path) -> Path:
    """An empty file of a name of our own, ending in ".part", in a folder that is there."""
    sweep_once(folder)
    handle, name = tempfile.mkstemp(prefix=own_prefix(), suffix=".part", dir=folder)
    os.close(handle)
    return Path(name)


@contextmanager
def temporary_folder(parent: Path | None = None) -> Iterator[Path]:
    """An empty folder of a name of our own, gone at the end.

    Args:
        parent: A folder that is there; without it the one for temporary files.
    """
    parent = Path(tempfile.gettempdir()) if parent is None else parent
    sweep_once(parent)
    made = Path(tempfile.mkdtemp(prefix=own_prefix(), dir=parent))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def is_temporary(path: Path) -> bool:
    """Whether a file, or a folder above it, has a name of our own."""
    return any(map(_NAME.fullmatch, path.parts))


def sweep(folder: Path, age: float = _HOUR) -> None:
    """Remove what killed commands left in a folder; what cannot be removed stays.

    Args:
        folder: Need not be there.
        age: Seconds for which a file whose process is gone is left; of other machines' files a day.
    """
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            named = _NAME.fullmatch(entry.name)
            if named and _is_abandoned(Path(entry.path), named[1], int(named[2]), age):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    Path(entry.path).unlink(missing_ok=True)


def sweep_once(folder: Path) -> None:
    """Sweep a folder, unless this process has done so."""
    # Thousands of runs may be written into one folder.
    if (key := os.path.realpath(folder)) not in _swept:
        _swept.add(key)
        sweep(folder)


def own_prefix() -> str:
    """What names of temporary files and folders of this process begin with."""
    return f".goldassay-{_machine()}-{os.getpid()}-"


def _machine() -> str:
    return f"{zlib.crc32(platform.node().encode('utf-8', 'replace')):08x}"


def _is_abandoned(path: Path, machine: str, process: int, least: float) -> bool:
    inside = path.rglob("*") if path.is_dir() and not path.is_symlink() else ()
    age = time.time() - max(each.lstat().st_mtime for each in (path, *inside))
    # Elsewhere signal 0 is a signal like any other.
    if machine != _machine() or os.name != "posix":
        return age > _DAY
    return age >= least and not _is_running(process)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


_PIECE = 1 << 20
# Bash opens a process substitution while the command already runs.
_PATIENCE_MS = 5000
# By device and inode, since a pipe has several names.
_copies: dict[tuple[int, int], tempfile._TemporaryFileWrapper[bytes]] = {}


def seekable(path: Path) -> Path:
    """The file itself, or a copy of what a pipe gives, which is deleted when the process ends.

    Raises:
        InputError: It is a device or a socket, or no process writes to the pipe.
        OSError: There is no such file, or it may not be read.
    """
    found = path.stat()
    if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
        return path
    if not stat.S_ISFIFO(found.st_mode):
        raise InputError("it is a device or a socket, and no file", file=path, mend="give a file, a folder or a pipe")
    key = (found.st_dev, found.st_ino)
    if key not in _copies:
        _copies[key] = _copied(path)
    return Path(_copies[key].name)


def is_pipe(path: Path) -> bool:
    """Whether a pipe lies at a path."""
    return path.exists() and stat.S_ISFIFO(path.stat().st_mode)


def _copied(path: Path) -> tempfile._TemporaryFileWrapper[bytes]:
    # Without O_NONBLOCK this waits for ever where nobody opens the other end.
    pipe = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    limit = BYTES.limit()
    sweep_once(Path(tempfile.gettempdir()))
    copy = tempfile.NamedTemporaryFile(prefix=own_prefix())  # noqa: SIM115 (it lives as long as the process)
    try:
        waiting = select.poll()
        waiting.register(pipe, select.POLLIN)
        begun = False
        while True:
            ready = waiting.poll(_PATIENCE_MS)
            try:
                piece = os.read(pipe, _PIECE)
            except BlockingIOError:
                continue
            if piece:
                begun = True
                copy.write(piece)
                if copy.tell() > limit:
                    raise BYTES.refusal(f"the pipe gives more than {shown(limit)}", path)
            elif ready or begun:
                break
            else:
                raise InputError("no process writes to this pipe", file=path, mend="give a file, or start the writer")
    except BaseException:
        copy.close()
        raise
    finally:
        os.close(pipe)
    copy.flush()
    return copy
