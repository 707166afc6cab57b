"""One JSON value for the whole file: an array of objects, the same under a key, or an object of columns."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.data.column_names import PARTS
from goldassay.data.readers import BY_NAME, CERTAIN, LIKELY, NO
from goldassay.data.readers.jsonl import IN_TURN, objects_in_turn
from goldassay.data.source import bare_name, read_text
from goldassay.data.table import Table, columns_to_frame, frame_of_records, rows_by_key, stacked

if TYPE_CHECKING:
    from pathlib import Path

name = "json"

# Keys of rows, where other lists are beside them.
_ROWS = ("rows", "examples", "instances")
_ROWS_WITHIN = re.compile(rb'^\{\s*"[^"]*"\s*:\s*[\[{]|"\s*:\s*\[\s*\{')


def recognizes(head: bytes, path: Path) -> int:
    """An array, or an object that spans lines or holds an array of objects in its only line."""
    start = head.lstrip()
    if start.startswith(b"["):
        return CERTAIN
    if not start.startswith(b"{") or bare_name(path).endswith((".jsonl", ".ndjson")):
        return BY_NAME if bare_name(path).endswith(".json") else NO
    lines = [line for line in start.split(b"\n") if line.strip()]
    spans_lines = len(lines) > 1 and not lines[1].lstrip().startswith(b"{")
    return LIKELY if spans_lines or (len(lines) == 1 and _ROWS_WITHIN.search(start)) else NO


def read(path: Path) -> Table:
    """Read one row from each object of the array, or from each position of the columns."""
    data, entry = read_text(path)
    decisions: tuple[str, ...] = ()
    try:
        value = json.loads(data)
    except json.JSONDecodeError as error:
        if (records := objects_in_turn(data)) is not None:
            return Table(frame_of_records(records, path), name, (entry,), (IN_TURN,))
        raise InputError(
            f"the file is not valid JSON ({error.msg})",
            file=path,
            row=error.lineno,
            mend="mend that line, or write one JSON object a line",
        ) from error
    except RecursionError as error:
        raise InputError("the JSON is nested too deeply", file=path, mend="give an array of objects") from error
    if isinstance(value, dict):
        key = _key_of_rows(value)
        if key is not None:
            decisions = (f"Examples are the items of {key!r}.",)
            value = value[key]
        elif (rows := _rows_by_place(value)) is not None:
            decisions = ("Rows are the items of 'data'.",)
            value = rows
        elif (parts := _parts(value, path) or _parts_within(value, path)) is not None:
            return replace(stacked(parts, name, ("Each key holds a part.",)), files=(entry,))
        elif (rows := rows_by_key(value)) is not None:
            decisions = ("Each key holds a row, and is its id.",)
            value = rows
        elif value and all(isinstance(column, list) for column in value.values()):
            return Table(columns_to_frame(value, path), name, (entry,), ("Each key holds a column.",))
        elif len(value) > 1 and all(isinstance(column, dict) for column in value.values()):
            columns = {key: list(column.values()) for key, column in value.items()}
            return Table(columns_to_frame(columns, path), name, (entry,), ("Each key holds a column, by row.",))
        else:
            value = [value]
    if not isinstance(value, list):
        raise InputError("the file holds a single JSON value", file=path, mend="give an array of objects")
    if value and all(isinstance(each, (str, int, float)) for each in value):
        value, decisions = [{"text": str(each)} for each in value], ("Each item of the array is one text.",)
    return Table(frame_of_records(value, path), name, (entry,), decisions)


def _parts(value: dict[str, Any], path: Path) -> dict[str, Table] | None:
    """The rows of each part, where keys name parts and hold lists of objects; an empty part is none."""
    if not value or not all(key.lower() in PARTS and isinstance(rows, list) for key, rows in value.items()):
        return None
    filled = {PARTS[key.lower()]: rows for key, rows in value.items() if rows}
    if not all(isinstance(row, dict) for rows in filled.values() for row in rows):
        return None
    return {part: Table(frame_of_records(rows, path), name) for part, rows in filled.items()} or None


def _parts_within(value: dict[str, Any], path: Path) -> dict[str, Table] | None:
    """The same under the one key that holds parts, beside what is said of them."""
    found = [parts for each in value.values() if isinstance(each, dict) and (parts := _parts(each, path))]
    return found[0] if len(found) == 1 else None


def _key_of_rows(value: dict[str, Any]) -> str | None:
    keys = [key for key, rows in value.items() if isinstance(rows, list) and rows and isinstance(rows[0], dict)]
    called = [key for key in keys if key in _ROWS] if len(keys) > 1 else keys
    return called[0] if len(called) == 1 else None


def _rows_by_place(value: dict[str, Any]) -> list[dict[str, Any]] | None:
    """The rows where names of columns and lists of cells are apart, as pandas' "split" and tables of W&B have them."""
    names, rows = value.get("columns"), value.get("data")
    if not isinstance(names, list) or not isinstance(rows, list) or not rows:
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return None
    return [dict(zip(map(str, names), row, strict=True)) for row in rows]
