"""Premise, hypothesis and label in three tab-separated columns without a header, the label first or last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.errors import InputError
from goldassay.data.delimited import head_rows, parse_delimited
from goldassay.data.labels import is_nli_label
from goldassay.data.readers import CERTAIN, NO
from goldassay.data.source import read_head, read_text
from goldassay.data.table import Table

if TYPE_CHECKING:
    from pathlib import Path

name = "bare-pairs"


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """Rows of three fields of which the first or the last is always a word for an NLI class."""
    return CERTAIN if _names(head) else NO


def _names(head: bytes) -> tuple[str, str, str] | None:
    rows = head_rows(head)
    if not rows or any(len(row) != 3 for row in rows):
        return None
    if all(is_nli_label(row[0]) for row in rows):
        return ("label", "premise", "hypothesis")
    if all(is_nli_label(row[2]) for row in rows):
        return ("premise", "hypothesis", "label")
    return None


def read(path: Path) -> Table:
    """Read one row a pair, the premise before the hypothesis."""
    data, entry = read_text(path)
    names = _names(read_head(path))
    if names is None:
        raise InputError("the rows are not two texts and an NLI label", file=path, mend="add a header line")
    parsed = parse_delimited(data, "\t", path, names=names)
    decision = f"The file has no header; its columns are taken as {', '.join(names)}."
    return Table(parsed.columns, name, (entry,), (decision,), lines=parsed.lines)
