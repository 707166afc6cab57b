"""JSON lines: one object a line, as SNLI, MultiNLI, ANLI and most newer datasets are published."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.bounds import check_depth, check_keys
from goldassay.core.errors import InputError
from goldassay.data.frames import frame_of_records
from goldassay.data.readers import BY_NAME, CERTAIN, NO
from goldassay.data.source import bare_name, read_text
from goldassay.data.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

name = "jsonl"


def recognizes(head: bytes, path: Path) -> int:
    """A first line that is a whole JSON object, or the name of such a file."""
    if not head.lstrip().startswith(b"{"):
        return BY_NAME if bare_name(path).endswith((".jsonl", ".ndjson")) else NO
    first = head.lstrip().split(b"\n", 1)[0]
    if len(first) == len(head.lstrip()):
        # A single line, perhaps longer than the head: an object of rows would be recognized by its own reader.
        return BY_NAME
    try:
        return CERTAIN if isinstance(json.loads(first), dict) else NO
    except ValueError:
        return BY_NAME if bare_name(path).endswith((".jsonl", ".ndjson")) else NO


def read(path: Path) -> Table:
    """Read one row from each line that is not blank."""
    data, entry = read_text(path)
    frame, lines = rows_of(data.replace(b"\r\n", b"\n") if b"\r\n" in data else data, path)
    return Table(frame, name, (entry,), lines=lines)


def rows_of(data: bytes, path: Path) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The rows of lines that end with line feeds, and the number of each row's line, from 1."""
    check_depth(data, path)
    lines = _line_numbers(data)
    check_keys(data, path, len(lines))
    frame = _quickly(data, len(lines))
    if frame is None:
        frame = frame_of_records(_records(data, path), path, lines)
    return frame, lines


def _line_numbers(data: bytes) -> NDArray[np.int64]:
    """Numbers of the lines that are not blank, from 1."""
    bytes_ = np.frombuffer(data, np.uint8)
    ends = np.append(np.flatnonzero(bytes_ == ord("\n")), len(data))
    starts = np.append(0, ends[:-1] + 1)
    filled = ends > starts
    # Nearly all lines begin with a brace; only the others need a closer look.
    for line in np.flatnonzero(filled & (bytes_[np.minimum(starts, len(data) - 1)] != ord("{"))):
        filled[line] = not data[starts[line] : ends[line]].isspace()
    return (np.flatnonzero(filled) + 1).astype(np.int64)


def _quickly(data: bytes, n_rows: int) -> pl.DataFrame | None:
    # polars reads a lone surrogate as a NUL; the careful way refuses it by line.
    if b"\\ud" in data or b"\\uD" in data:
        return None
    try:
        frame = pl.read_ndjson(io.BytesIO(data), infer_schema_length=None)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return None
    mixed = any(dtype.is_nested() and not _is_list_of_text(dtype) for dtype in frame.dtypes)
    return None if frame.height != n_rows or mixed else frame


def _is_list_of_text(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.List) and dtype.inner == pl.String


def _records(data: bytes, path: Path) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line or line.isspace():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            raise InputError(
                f"the line is not valid JSON ({reason})", file=path, row=number, mend="mend or remove that line"
            ) from error
        if not isinstance(value, dict):
            raise InputError(
                f"the line holds a JSON {_kind(value)}, not an object",
                file=path,
                row=number,
                mend='write each example as one object: {"premise": ..., "hypothesis": ..., "label": ...}',
            )
        records.append(value)
    return records


def _kind(value: object) -> str:
    kinds = {list: "array", str: "string", int: "number", float: "number", bool: "boolean"}
    return kinds.get(type(value), "null")
