"""Tables: rows and columns as they stand in a source, and where they came from.

What is handed over in memory becomes one, too: records, dicts of lists, pandas, Arrow, `datasets.Dataset`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.bounds import check_columns
from goldassay.core.errors import InputError
from goldassay.data.column_names import IDS, normalized
from goldassay.data.fields import series_of

if TYPE_CHECKING:
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


# So many rows tell whether a column holds lists of objects.
_LOOKED_AT = 20
# What each turn of a conversation has; a turn is no row.
_TURNS = ({"role", "content"}, {"from", "value"})


def table_of(data: Any) -> Table:
    """Turn an object in memory into a table.

    Raises:
        InputError: The object is of no kind that holds rows and columns.
    """
    if isinstance(data, pl.DataFrame):
        return Table(data, "polars")
    if isinstance(data, pl.LazyFrame):
        return Table(data.collect(), "polars")
    if isinstance(data, Mapping) and type(data).__module__.split(".")[0] != "datasets":
        return Table(columns_to_frame(data), "dict of lists")
    if isinstance(data, (list, tuple)):
        return Table(frame_of_records(data), "list of dicts")
    module = type(data).__module__.split(".")[0]
    if module == "datasets":
        return _hub_dataset(data)
    if module in {"pandas", "pyarrow"} or hasattr(data, "__arrow_c_stream__"):
        return Table(_frame_of_arrow(data), module)
    raise InputError(
        f"a {type(data).__name__} holds no rows and columns",
        mend="give a polars or pandas frame, an Arrow table, a datasets.Dataset, a list of dicts or a dict of lists",
    )


def frame_of_records(
    records: Sequence[Any], path: Path | None = None, lines: NDArray[np.int64] | None = None
) -> pl.DataFrame:
    """Turn dicts into columns; values of mixed types become text, nested ones their JSON.

    Raises:
        InputError: Some record is no dict, or some text cannot be written as UTF-8.
    """
    names: dict[str, None] = {}
    for row, record in enumerate(records, start=1):
        if not isinstance(record, Mapping):
            raise InputError(
                f"item {row} is a {type(record).__name__}, not an object with named fields",
                file=path,
                mend="give every example as one object of named fields",
            )
        names.update(dict.fromkeys(record))
    if path is not None:
        check_columns(path, len(names))
    return pl.DataFrame([series_of(str(name), [record.get(name) for record in records], path, lines) for name in names])


def unnested(frame: pl.DataFrame) -> tuple[pl.DataFrame, str] | None:
    """A row for each object in the lists of a column, with the other columns around it, and the column's name.

    None where no column holds lists of objects, where several do, where the objects are the turns of a conversation,
    or where an object has a field of the name of another column.
    """
    lists = {name: found for name in frame.columns if (found := _lists_of_objects(frame[name])) is not None}
    if len(lists) != 1:
        return None
    name, items = next(iter(lists.items()))
    around = frame.drop(name).to_dicts()
    records = [{**row, **item} for row, own in zip(around, items, strict=True) for item in own]
    fields = {field for own in items for item in own for field in item}
    if any(turn <= fields for turn in _TURNS):
        return None
    return None if fields & set(frame.columns) - {name} else (frame_of_records(records), name)


def _lists_of_objects(values: pl.Series) -> list[list[dict[str, Any]]] | None:
    if values.dtype not in (pl.String, pl.List) or not len(values) or values.null_count():
        return None
    # Of thousands of files nearly all are told by the first row.
    if values.dtype == pl.String and not (values[0].startswith("[") and values.str.starts_with("[").all()):
        return None
    try:
        cells = [json.loads(each) for each in values] if values.dtype == pl.String else values.to_list()
    except ValueError:
        return None
    of_objects = all(isinstance(own, list) and all(isinstance(item, dict) for item in own) for own in cells)
    return cells if of_objects and any(cells) else None


def rows_of_lists(table: Table) -> Table:
    """The table with a row for each object that `unnested` finds; itself where that finds none."""
    if unnested(table.frame.head(_LOOKED_AT)) is None or (within := unnested(table.frame)) is None:
        return table
    said = f"Each object of the lists in {within[1]!r} is a row."
    return replace(table, frame=within[0], decisions=(*table.decisions, said), lines=None, roles={})


def rows_by_key(value: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The rows of an object with one under each key, its id; None where keys are columns, as pandas writes them."""
    rows = list(value.values())
    if len(rows) < 2 or not all(isinstance(row, Mapping) and row for row in rows):
        return None
    fields = set(rows[0])
    is_like = all(fields & row.keys() for row in rows) and not all(field.isdigit() for field in fields)
    are_ids = all(key.isdigit() for key in value) or len(rows) > 2 * len(fields)
    return [{"id": key, **row} for key, row in value.items()] if is_like and are_ids else None


def columns_to_frame(columns: Mapping[Any, Any], path: Path | None = None) -> pl.DataFrame:
    """Turn a dict of equally long lists into columns.

    Raises:
        InputError: The lists differ in length.
    """
    lengths = {str(name): len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError(f"the columns differ in length ({text})", file=path, mend="give columns of equal length")
    return pl.DataFrame([series_of(str(name), _plain_list(values), path) for name, values in columns.items()])


def _plain_list(values: Any) -> list[Any]:
    return values.tolist() if hasattr(values, "tolist") else list(values)


def _frame_of_arrow(data: Any) -> pl.DataFrame:
    frame = pl.DataFrame(data)
    return frame.rename({name: str(name) for name in frame.columns})


def _hub_dataset(data: Any) -> Table:
    if isinstance(data, Mapping):
        return stacked({str(part): _hub_dataset(rows) for part, rows in data.items()}, "datasets")
    if not hasattr(data, "with_format"):
        raise InputError("an iterable dataset cannot be audited as it streams", mend="load it without streaming")
    # The formatted view honours a selection or shuffle, which the table beneath does not.
    frame = pl.from_arrow(data.with_format("arrow")[:])
    if not isinstance(frame, pl.DataFrame):
        raise InputError("the dataset gives no table", mend="convert it with .to_pandas()")
    names = {
        column: tuple(feature.names) for column, feature in data.features.items() if getattr(feature, "names", None)
    }
    return Table(frame, "datasets", class_names=names)
