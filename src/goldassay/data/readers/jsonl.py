"""JSON lines: one object a line, as SNLI, MultiNLI, ANLI and most newer datasets are published."""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.bounds import check_depth, check_keys
from goldassay.core.errors import InputError
from goldassay.data.readers import BY_NAME, CERTAIN, NO
from goldassay.data.source import bare_name, read_text
from goldassay.data.table import Table, frame_of_records

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

name = "jsonl"

# So many bytes tell whether keys stand twice.
_LOOKED_AT = 1 << 16


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
    data = data.replace(b"\r\n", b"\n") if b"\r\n" in data else data
    _check_twice(data, path)
    try:
        frame, lines = rows_of(data, path)
    except InputError as error:
        # As jq writes objects, or with commas between them: the first line is none. Another line is damaged.
        records = objects_in_turn(data) if error.row == 1 and "not valid JSON" in error.problem else None
        if records is None:
            raise
        return Table(frame_of_records(records, path), name, (entry,), (IN_TURN,))
    return Table(frame, name, (entry,), lines=lines)


IN_TURN = "Objects follow one another, and are not one per line."


def objects_in_turn(data: bytes) -> list[dict[str, Any]] | None:
    """Objects that follow each other, with white space or commas between them; None where anything else is there."""
    text, place, found = data.decode(), 0, []
    gap = re.compile(r"[\s,]*")
    while (place := gap.match(text, place).end()) < len(text):  # type: ignore[union-attr]
        try:
            value, place = json.JSONDecoder().raw_decode(text, place)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, dict):
            return None
        found.append(value)
    return found or None


def _check_twice(data: bytes, path: Path) -> None:
    """Refuse objects with a key that stands twice, of which one reader takes the first value and another the last.

    Raises:
        InputError: One of the first objects has such a key.
    """
    twice: list[str] = []

    def note(pairs: list[tuple[str, Any]]) -> None:
        names = [key for key, _ in pairs]
        twice.extend(key for at, key in enumerate(names) if key in names[:at])

    for number, line in enumerate(data[:_LOOKED_AT].split(b"\n")[:-1], start=1):
        try:
            json.loads(line, object_pairs_hook=note)
        except (ValueError, RecursionError):
            return
        if twice:
            problem = f"the key {twice[0]!r} occurs twice in an object"
            raise InputError(problem, file=path, row=number, mend="rename one of the two")


def rows_of(data: bytes, path: Path) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The rows of lines that end with line feeds, and the number of each row's line, from 1."""
    check_depth(data, path)
    lines = _line_numbers(data)
    check_keys(data, path, len(lines))
    frame = _quickly(data, len(lines))
    if frame is None:
        frame = frame_of_records(records_of(data, path), path, lines)
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


def records_of(data: bytes, path: Path) -> list[dict[str, Any]]:
    """The object of each line that is not blank.

    Raises:
        InputError: A line holds none.
    """
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
