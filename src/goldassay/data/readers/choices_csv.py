"""Comma-separated items without a header, as MMLU publishes them: question, choices, letter of the right one."""

from __future__ import annotations

import csv
import io
import string
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.readers import CERTAIN, NO
from goldassay.data.source import bare_name, read_text
from goldassay.data.table import Table

if TYPE_CHECKING:
    from pathlib import Path

name = "choices_csv"

_LOOKED_AT = 5


def recognizes(head: bytes, path: Path) -> int:
    """First rows of equally many fields, four or more, of which the last is the letter of one in between."""
    if not bare_name(path).endswith(".csv"):
        return NO
    text = head.decode("utf-8", "replace")
    try:
        # The head may end within a row.
        rows = list(csv.reader(io.StringIO(text)))[: _LOOKED_AT + 1]
    except csv.Error:
        return NO
    rows = rows[:-1] if len(rows) > 1 else rows
    width = len(rows[0]) if rows else 0
    return CERTAIN if width >= 4 and all(len(row) == width and _is_letter(row[-1], width - 2) for row in rows) else NO


def read(path: Path) -> Table:
    """Read one row an item: question, choices, answer."""
    data, entry = read_text(path)
    reader = csv.reader(io.StringIO(data.decode("utf-8"), newline=""))
    rows, lines = [], []
    begin = 1
    try:
        for row in reader:
            if row and len(row) < 4:
                raise InputError(
                    f"the row has {len(row)} fields", file=path, row=begin,
                    mend="give question, two choices or more, and the letter of the right one",
                )  # fmt: skip
            if row:
                rows.append({"question": row[0], "choices": row[1:-1], "answer": row[-1]})
                lines.append(begin)
            begin = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"the row cannot be read ({error})", file=path, row=begin, mend="mend that row") from error
    decision = "The file has no header: a row is question, choices, and the letter of the right one."
    return Table(pl.DataFrame(rows), name, (entry,), (decision,), lines=np.array(lines, np.int64))


def _is_letter(field: str, n_choices: int) -> bool:
    return len(field.strip()) == 1 and field.strip().upper() in string.ascii_uppercase[: min(n_choices, 26)]
