"""What commands leave on disk beside their tables: a report on them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from goldassay.core.document import FILE_NAME, TIMING_NAME
from goldassay.core.results import to_plain
from goldassay.questions.report_frame import compose_report
from goldassay.report.html import render_html
from goldassay.report.markdown import render_markdown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


def write_report(document: Mapping[str, Any], table_names: Sequence[str], folder: Path) -> None:
    """Write report.html, report.json, timing.json, report.md and figures/NAME.svg next to the tables of a folder.

    The tables stay next to the page and not in a folder of their own: their paths are what other commands are given.
    """
    report = compose_report(document)
    texts = {
        "report.html": render_html(report, tuple(table_names), ""),
        FILE_NAME: report.to_json(),
        TIMING_NAME: report.timing_json(),
        "report.md": render_markdown(report, ""),
        **{f"figures/{name}.svg": svg for name, svg in report.drawings().items()},
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(text.encode("utf-8", "replace"))


def as_json(value: Mapping[str, Any]) -> str:
    """A result as JSON; what is not defined is null."""
    text = json.dumps(to_plain(dict(value)), ensure_ascii=False, allow_nan=False, indent=2)
    return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"
