"""What a reader hands on: rows and columns as they stand in the source, and where they came from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import polars as pl

from goldassay.data.column_names import IDS, normalized

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class InputFile:
    """One file as it was found on disk, before any decompression."""

    name: str
    sha256: str
    bytes: int


@dataclass(frozen=True)
class Provenance:
    """What was read, how it was understood, and what was left out.

    Attributes:
        files: The files read; empty for data handed over in memory.
        format: Name of the reader, or of the kind of object handed over.
        roles: The column that plays each role: `{"premise": "sentence1", "label": "gold_label"}`.
        decisions: What was decided without being asked, in plain sentences.
        n_read: Rows read, before any was dropped.
        dropped: Rows dropped, counted by reason.
        kept_together: Of a part of a split: what is in one part only, besides equal sentences, such as near copies.
    """

    files: tuple[InputFile, ...] = ()
    format: str = "memory"
    roles: Mapping[str, str] = field(default_factory=dict)
    decisions: tuple[str, ...] = ()
    n_read: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    kept_together: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """The rows of a source, uninterpreted.

    Attributes:
        frame: The columns under their own names.
        format: Name of the reader, or of the kind of object handed over.
        files: The files read.
        decisions: What the reader decided without being asked, in plain sentences.
        class_names: For columns of integer codes whose names the source gives: the names in order of code.
        roles: Columns whose role the format itself fixes.
        lines: The line on which each row starts, counted from 1; None where the source has no lines.
        path: The file or folder; None for what is in memory or on the hub.
        parts: The tables that it was joined of, in order; none for the rows of one source.
    """

    frame: pl.DataFrame
    format: str
    files: tuple[InputFile, ...] = ()
    decisions: tuple[str, ...] = ()
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    roles: Mapping[str, str] = field(default_factory=dict)
    lines: NDArray[np.int64] | None = None
    path: Path | None = None
    parts: tuple[Table, ...] = ()

    def line_of(self, row: int) -> int:
        """Line of a row (both as the reader of an error message counts, from 1)."""
        return self.place_of(row)[1]

    def place_of(self, row: int) -> tuple[Path | None, int]:
        """The file of a row, from 0, and its line in it, from 1."""
        for part in self.parts:
            if row < part.frame.height:
                return part.place_of(row)
            row -= part.frame.height
        return self.path, row + 1 if self.lines is None else int(self.lines[row])


def stacked(parts: Mapping[str, Table], format_: str, decisions: tuple[str, ...] = (), column: str = "split") -> Table:
    """One table of several parts, with a column that names them.

    Columns that differ in type become text; names of classes are kept where all parts agree on them; rows without
    an id of their own are numbered within their part.
    """
    parts = {part: _numbered(table) for part, table in parts.items()}
    tables = list(parts.values())
    named = [_as_written(table, tables).with_columns(pl.lit(part).alias(column)) for part, table in parts.items()]
    agreed = {
        column: names
        for column, names in tables[0].class_names.items()
        if all(table.class_names.get(column) == names for table in tables)
    }
    gathered = dict.fromkeys((*decisions, *(decision for table in tables for decision in table.decisions)))
    return Table(
        pl.concat(named, how="diagonal_relaxed"),
        format_,
        tuple(file for table in tables for file in table.files),
        tuple(gathered),
        agreed,
        tables[0].roles if all(table.roles == tables[0].roles for table in tables) else {},
        parts=tuple(tables) if all(table.path for table in tables) else (),
    )


def _numbered(table: Table) -> Table:
    if {normalized(column) for column in table.frame.columns} & set(IDS):
        return table
    frame = table.frame.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    return replace(table, frame=frame)


def _as_written(table: Table, tables: list[Table]) -> pl.DataFrame:
    casts = []
    for column, dtype in table.frame.schema.items():
        kinds = {other.frame.schema[column] for other in tables if column in other.frame.columns}
        if len(kinds) > 1 and not dtype.is_nested():
            casts.append(pl.col(column).cast(pl.String))
    return table.frame.with_columns(casts)
