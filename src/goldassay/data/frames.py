"""Anything tabular becomes a polars frame: records, dicts of lists, pandas, Arrow, `datasets.Dataset`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.bounds import check_columns
from goldassay.core.errors import InputError
from goldassay.data.cells import series_of
from goldassay.data.table import Table, stacked

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


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
