"""Tables that jobs share: one Parquet file each in the folder of the runs, named by its content.

What they were made from may change or go away under a long sweep; jobs read these.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.files import write_parquet, written_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

DATA = "_data"
_KEY = "goldassay_held"
_DIGITS = 12


@dataclass(frozen=True)
class HeldTable:
    """A table in the folder of the runs.

    Attributes:
        name: What its content is called.
        sha256: Of all that it says.
        path: Of its file.
    """

    name: str
    sha256: str
    path: str


def place_of(folder: Path, name: str, sha256: str) -> Path:
    """Where a table lies in the folder of the runs."""
    return folder / DATA / f"{name}-{sha256[:_DIGITS]}.parquet"


def description_of(about: Mapping[str, Any]) -> str:
    """What goes with a table, as JSON that is always the same."""
    return json.dumps(about, ensure_ascii=False, sort_keys=True)


def is_held(path: Path) -> bool:
    """Whether a file is there and tells what it is; what was cut short, or is not ours, does not."""
    try:
        return _KEY in pl.read_parquet_metadata(path)
    except (pl.exceptions.PolarsError, OSError):
        return False


def write_held(path: Path, table: Callable[[], pl.DataFrame], about: str) -> None:
    """Write a table and what goes with it, unless the file is there and tells what it is.

    Raises:
        OutputError: The folder cannot be written to, or the disk is full.
    """
    if not is_held(path):
        with written_whole(path) as aside:
            write_parquet(table(), aside, compression="zstd", metadata={_KEY: about})


def read_held(path: str, problem: str) -> tuple[dict[str, Any], pl.DataFrame]:
    """What goes with a table, and the table.

    Raises:
        InputError: The file is missing or damaged: the problem.
    """
    try:
        return json.loads(pl.read_parquet_metadata(path)[_KEY]), pl.read_parquet(path)
    except (pl.exceptions.PolarsError, OSError, KeyError) as error:
        raise InputError(problem, file=path, mend="remove this file and start the command again") from error
