"""Where runs are kept while they are made; tried before the long work starts."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.files import locked_folder, output_error
from goldassay.core.temp_files import temporary_folder
from goldassay.runs.store import nothing_left_if_refused

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator


def files_since(directory: Path, start: float) -> tuple[Path, ...]:
    """The runs that were written into a folder since a time; none where the folder is gone."""
    return tuple(sorted(path for path in directory.glob("*.parquet") if path.stat().st_mtime >= start))


@contextmanager
def evidence_directory(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The folder `out/runs`, or one that is gone afterwards where no folder is given.

    Raises:
        OutputError: It cannot be made or written to, or another command writes into it.
        KeyboardInterrupt: It was interrupted; the message says how many runs are kept.
    """
    if out is None:
        with temporary_folder() as place:
            yield place
        return
    directory = Path(out) / "runs"
    new = [each for each in (directory, directory.parent) if not each.exists()]
    try:
        with nothing_left_if_refused(directory):
            _try(directory)
            with locked_folder(Path(out)):
                yield directory
    except KeyboardInterrupt:
        kept = len(list(directory.glob("*.parquet")))
        note = f"{kept} finished runs are kept in {directory}" if kept else ""
        raise KeyboardInterrupt(note) from None
    finally:
        # Where nothing was made, because the data cannot be used, nothing is left.
        for each in new:
            with suppress(OSError):
                each.rmdir()


def _try(directory: Path) -> None:
    """Make a folder and write to it, before the long work starts."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise output_error(error, directory.parent) from error
