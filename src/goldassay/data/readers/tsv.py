"""Tab-separated text with a header, as SNLI, MultiNLI, HANS and GLUE are published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.data.delimited import parse_delimited
from goldassay.data.readers import BY_NAME, LIKELY, NO
from goldassay.data.source import bare_name, read_text
from goldassay.data.table import Table

if TYPE_CHECKING:
    from pathlib import Path

name = "tsv"


def recognizes(head: bytes, path: Path) -> int:
    """A first line with a tab, or the name of such a file."""
    if b"\t" in head.split(b"\n", 1)[0] and not head.lstrip().startswith((b"{", b"[")):
        return LIKELY
    return BY_NAME if bare_name(path).endswith((".tsv", ".tab")) else NO


def read(path: Path) -> Table:
    """Read the rows below the header; quoted only if that parses strictly."""
    data, entry = read_text(path)
    parsed = parse_delimited(data, "\t", path)
    decision = (
        "Quotation marks enclose fields (RFC 4180 holds throughout)."
        if parsed.quoted
        else "Quotation marks are part of the text, for the file is not consistently quoted."
    )
    decisions = (decision,) if b'"' in data else ()
    return Table(parsed.columns, name, (entry,), (*parsed.notes, *decisions), lines=parsed.lines)
