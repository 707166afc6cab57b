"""The STS Benchmark as published: seven tab-separated columns without a header, some rows with licences behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.data.delimited import head_rows, parse_delimited
from goldassay.data.readers import CERTAIN, NO
from goldassay.data.source import read_text
from goldassay.data.table import Table

if TYPE_CHECKING:
    from pathlib import Path

name = "stsb"

_NAMES = ("genre", "file", "year", "old_index", "score", "sentence1", "sentence2")


def recognizes(head: bytes, path: Path) -> int:  # noqa: ARG001
    """Rows that begin with a genre such as main-news and have a number in the fifth column."""
    rows = head_rows(head)
    return CERTAIN if rows and all(_fits(row) for row in rows) else NO


def _fits(row: list[str]) -> bool:
    return 7 <= len(row) <= 9 and row[0].startswith("main-") and row[4].replace(".", "", 1).isdigit()


def read(path: Path) -> Table:
    """Read one row a pair; licence columns are left out."""
    data, entry = read_text(path)
    parsed = parse_delimited(data, "\t", path, names=_NAMES, extra=2)
    decision = "The file has no header; its columns are those of the STS Benchmark, licences left out."
    return Table(parsed.columns, name, (entry,), (decision,), lines=parsed.lines)
