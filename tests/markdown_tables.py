"""Tables of a report as its readers see them, out of its Markdown."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goldassay.report.report import Report


def tables_of(report: Report) -> dict[str, list[dict[str, str]]]:
    """{caption: rows}, each row {head: cell} as text; tables of one caption are one after the other."""
    found: dict[str, list[dict[str, str]]] = {}
    caption, heads = "", []
    for line in report.to_markdown().splitlines():
        if line.startswith("**"):
            caption, heads = re.sub(r"\\(.)", r"\1", line.strip("*")), []
        elif folded := re.fullmatch("<details><summary>(.*)</summary>", line):
            caption, heads = unescape(folded[1]), []
        elif line.startswith("|") and caption:
            cells = [re.sub(r"\\(.)", r"\1", cell).strip("` ") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not heads:
                heads = cells
            elif set(line) - set("| -"):
                found.setdefault(caption, []).append(dict(zip(heads, cells, strict=True)))
        elif line:
            caption, heads = "", []
    return found


def table_of(report: Report, stem: str) -> list[dict[str, str]]:
    """The rows of the one table whose caption begins so."""
    (rows,) = [rows for caption, rows in tables_of(report).items() if caption.startswith(stem)]
    return rows
