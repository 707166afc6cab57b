"""CoLA as GLUE distributes it: four tab-separated columns without a header."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.data.delimited import head_rows, parse_delimited
from goldassay.data.readers import CERTAIN, NO
from goldassay.data.source import read_text
from goldassay.data.table import Table

if TYPE_CHECKING:
    from pathlib import Path

name = "cola"


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """Rows of source, 0 or 1, the linguist's mark (a star or nothing), and a sentence."""
    rows = head_rows(head)
    fits = all(len(row) == 4 and row[1] in {"0", "1"} and row[2] in {"", "*"} for row in rows)
    return CERTAIN if rows and fits else NO


def read(path: Path) -> Table:
    """Read one row a sentence; 1 is acceptable."""
    data, entry = read_text(path)
    parsed = parse_delimited(data, "\t", path, names=("source", "label", "mark", "sentence"))
    decision = "The file has no header; its columns are those of CoLA."
    return Table(parsed.columns, name, (entry,), (decision,), lines=parsed.lines)
