"""Text separated by commas, semicolons or vertical bars, with a header."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.data.delimited import parse_delimited
from goldassay.data.readers import BY_NAME, LIKELY, NO
from goldassay.data.roles import is_known_column
from goldassay.data.source import bare_name, read_text
from goldassay.data.table import Table

if TYPE_CHECKING:
    from pathlib import Path

name = "csv"


def recognizes(head: bytes, path: Path) -> int:
    """A first line whose fields are names of columns that datasets have, or the name of such a file."""
    first = head.split(b"\n", 1)[0]
    if b"\t" in first or head.lstrip().startswith((b"{", b"[")):
        return NO
    line = first.decode("utf-8", "replace")
    for separator in (",", ";", *([] if line.startswith("|") else ["|"])):
        fields = [field.strip().strip('"') for field in line.split(separator)]
        if len(fields) > 1 and sum(is_known_column(field) for field in fields) >= 2:
            return LIKELY
    return BY_NAME if bare_name(path).endswith(".csv") else NO


def read(path: Path) -> Table:
    """Read the rows below the header."""
    data, entry = read_text(path)
    separator = separator_of(data.split(b"\n", 1)[0])
    parsed = parse_delimited(data, separator, path)
    decisions = list(parsed.notes)
    if separator != ",":
        decisions.append(f"Fields are separated by {'semicolons' if separator == ';' else 'vertical bars'}.")
    return Table(parsed.columns, name, (entry,), tuple(decisions), lines=parsed.lines)


def separator_of(first: bytes) -> str:
    """The separator that a first line shows: a comma, unless it has more semicolons or vertical bars."""
    return max(",;|", key=lambda each: first.count(each.encode()))
