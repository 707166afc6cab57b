"""Runs as they are handed over in Python: paths, `Runs`, or tables of predictions.

Whatever they are, they are read from files, so that a figure has one way through the package.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from goldassay.core.entry_point import option
from goldassay.core.errors import InputError
from goldassay.core.temp_files import temporary_folder

if TYPE_CHECKING:
    from pathlib import Path


@contextmanager
def run_paths(runs: Any, *, named: bool = True) -> Iterator[list[str]]:
    """Paths of runs, each of which may be NAME=PATH; what is in memory is written to files that last as long.

    Args:
        runs: A path, `Runs`, a table with a row a prediction (a frame, Arrow table, `datasets.Dataset` or list of
            dicts), {name of the dataset: one of these}, or a list of these; None for none.
        named: Whether they may have names; else runs name their dataset themselves.

    Raises:
        InputError: Something is neither a path nor runs; or what was read from them cannot be used.
    """
    if isinstance(runs, Mapping) and not named:
        raise InputError(f"{option('runs')} holds names", mend="give the runs alone, which name their dataset")
    given = _each(runs)
    if all(isinstance(source, (str, os.PathLike)) for _, source in given):
        yield [_named(name, os.fspath(source)) for name, source in given]
        return
    with temporary_folder() as folder:
        paths = [_named(name, _path(source, folder, place)) for place, (name, source) in enumerate(given, 1)]
        try:
            yield paths
        except InputError as error:
            if error.file is None or str(folder) not in error.file:
                raise
            # The file is gone when the message is read.
            raise InputError(
                f"runs in memory: {error.problem}", row=error.row, column=error.column, mend=error.mend
            ) from error


def _each(runs: Any) -> list[tuple[str, Any]]:
    """Each source with the name of its dataset, "" where none was given. A list of dicts is one table."""
    if runs is None:
        return []
    if isinstance(runs, Mapping):
        return list(runs.items())
    several = isinstance(runs, (list, tuple)) and not (runs and all(isinstance(each, Mapping) for each in runs))
    return [("", each) for each in (runs if several else [runs])]


def _named(name: str, path: str) -> str:
    return f"{name}={path}" if name else path


def _path(source: Any, folder: Path, place: int) -> str:
    from goldassay.runs.runs import Runs
    from goldassay.runs.store import write_runs

    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    if isinstance(source, Runs):
        write_runs(source, folder / f"runs-{place}")
        return str(folder / f"runs-{place}")
    from goldassay.data.frames import table_of

    file = folder / f"runs-{place}.parquet"
    table_of(source).frame.write_parquet(file)
    return str(file)
