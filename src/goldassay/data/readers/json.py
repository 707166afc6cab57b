"""One JSON value for the whole file: an array of objects, the same under a key, or an object of columns."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.data.frames import columns_to_frame, frame_of_records, rows_by_key
from goldassay.data.readers import BY_NAME, CERTAIN, LIKELY, NO
from goldassay.data.source import bare_name, read_text
from goldassay.data.table import Table

if TYPE_CHECKING:
    from pathlib import Path

name = "json"

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
    try:
        value = json.loads(data)
    except json.JSONDecodeError as error:
        raise InputError(
            f"the file is not valid JSON ({error.msg})",
            file=path,
            row=error.lineno,
            mend="mend that line, or write one JSON object a line",
        ) from error
    except RecursionError as error:
        raise InputError("the JSON is nested too deeply", file=path, mend="give an array of objects") from error
    decisions: tuple[str, ...] = ()
    if isinstance(value, dict):
        key = _key_of_rows(value)
        if key is not None:
            decisions = (f"Examples are the items of {key!r}.",)
            value = value[key]
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


def _key_of_rows(value: dict[str, Any]) -> str | None:
    keys = [key for key, rows in value.items() if isinstance(rows, list) and rows and isinstance(rows[0], dict)]
    return keys[0] if len(keys) == 1 else None
