"""A format of datasets: fastText's lines of __label__NAME and a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goldassay.data.readers import CERTAIN, NO
from goldassay.data.source import read_text
from goldassay.data.table import Table

if TYPE_CHECKING:
    from pathlib import Path

name = "fasttext"


def recognizes(head: bytes, path: Path) -> int:
    """Whether a file begins with a label."""
    return CERTAIN if head.startswith(b"__label__") else NO


def read(path: Path) -> Table:
    """Read a row a line."""
    content, file = read_text(path)
    rows = [line.removeprefix("__label__").split(" ", 1) for line in content.decode().splitlines()]
    return Table(pl.DataFrame(rows, ["label", "text"], orient="row"), name, (file,))
