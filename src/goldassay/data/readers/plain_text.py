"""Plain text: one sentence a line, without labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.data.readers import LAST_RESORT, NO
from goldassay.data.source import bare_name, read_text
from goldassay.data.table import Table

if TYPE_CHECKING:
    from pathlib import Path

name = "text"

_TAG = re.compile(rb"<([A-Za-z_][\w.-]{0,40})")
_LOOKED_AT = 4096
_MOST_TAGS = 6


def recognizes(head: bytes, path: Path) -> int:
    """Lines of text in which no other reader sees a structure."""
    if not head.strip() or bare_name(path).endswith((".json", ".jsonl", ".parquet", ".arrow", ".csv", ".tsv")):
        return NO
    return LAST_RESORT


def read(path: Path) -> Table:
    """Read each line as one text; only line feeds (after carriage returns, if any) end a line."""
    data, entry = read_text(path)
    if data.lstrip().startswith(b"<?xml") or bare_name(path).endswith(".xml"):
        tags = dict.fromkeys(tag.decode(errors="replace") for tag in _TAG.findall(data[:_LOOKED_AT]))
        raise InputError(
            f"XML is not read (its elements are {', '.join(map(repr, list(tags)[:_MOST_TAGS]))})", file=path,
            mend="write one JSON object per line, with a field for each element of a row",
        )  # fmt: skip
    lines = data.decode("utf-8").replace("\r\n", "\n").removesuffix("\n").split("\n")
    frame = pl.DataFrame({"text": lines}, schema={"text": pl.String})
    decision = "The file is plain text: each line is one text, and there are no labels."
    numbers = np.arange(1, len(lines) + 1, dtype=np.int64)
    return Table(frame, name, (entry,), (decision,), roles={"text": "text"}, lines=numbers)
