"""Tables of a report read back from disk, with columns of the kinds that their writers give them.

A report's seal says that a table is the one that was written with it. Another version, or another program, may have
written both: a column of another kind is refused here by its name, so that nothing that is shown or computed later
meets it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.boundary import reading
from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_AGAIN = "run the command that made the report again"


@dataclass(frozen=True)
class Kind:
    """What a column may hold: in words, and as a test of its type."""

    words: str
    fits: Callable[[pl.DataType], bool]


def _list_of(fits: Callable[[pl.DataType], bool]) -> Callable[[pl.DataType], bool]:
    return lambda kind: isinstance(kind, pl.List) and isinstance(kind.inner, pl.DataType) and fits(kind.inner)


def _is_text(kind: pl.DataType) -> bool:
    return kind in (pl.String, pl.Null)


def _is_number(kind: pl.DataType) -> bool:
    return kind.is_float() or kind.is_integer() or kind == pl.Null


TEXT = Kind("text", _is_text)
NAME = Kind("text or whole numbers", lambda kind: kind == pl.String or kind.is_integer())
NUMBER = Kind("numbers", _is_number)
WHOLE = Kind("whole numbers", lambda kind: kind.is_integer())
FLAG = Kind("true or false", lambda kind: kind == pl.Boolean)
TEXTS = Kind("lists of texts", _list_of(_is_text))
NUMBERS = Kind("lists of numbers", _list_of(_is_number))
WHOLES = Kind("lists of whole numbers", _list_of(lambda kind: kind.is_integer() or kind == pl.Null))


def table_schema(file: Path, kinds: Mapping[str, Kind]) -> Mapping[str, pl.DataType]:
    """The columns of a table of a report.

    Args:
        file: The Parquet file.
        kinds: {column: its kind}; a name may end in `*`. Columns that the table lacks, and those that it has besides,
            are not looked at.

    Raises:
        InputError: The file cannot be read, or a column is of another kind.
    """
    with reading(file):
        schema = pl.read_parquet_schema(file)
    for name, kind in schema.items():
        wanted = next((each for pattern, each in kinds.items() if fnmatchcase(name, pattern)), None)
        if wanted is not None and not wanted.fits(kind):
            raise InputError(f"the column {name!r} holds {kind}, not {wanted.words}", file=file, mend=_AGAIN)
    return schema


def read_table(file: Path, kinds: Mapping[str, Kind]) -> pl.DataFrame:
    """A table of a report, whole.

    Raises:
        InputError: As `table_schema`.
    """
    table_schema(file, kinds)
    with reading(file):
        return pl.read_parquet(file)
