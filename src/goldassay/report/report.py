"""The report: a plain document, the tables behind it, and the forms they can take."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from goldassay.files import written_together
from goldassay.report.saving import earlier_files, write_page
from goldassay.results import to_plain

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import polars as pl

SCHEMA = "goldassay.report"
SCHEMA_VERSION = 1

_ORDER = (
    "schema",
    "schema_version",
    "goldassay_version",
    "title",
    "questions",
    "verdicts",
    "dataset",
    "inputs",
    "facts",
    "artifacts",
    "leakage",
    "instability",
    "comparison",
    "shift",
    "settings",
    "environment",
    "timing",
    "digest",
)


@dataclass(frozen=True)
class Report:
    """What an audit found, able to show itself as a page, as Markdown, as JSON, in a terminal and in a notebook.

    A report computes nothing: every number it shows stands in `document`.

    Attributes:
        document: Exactly what `report.json` holds: plain data under the schema "goldassay.report", version 1.
        tables: Full tables by name, written beside the page as Parquet and CSV.
    """

    document: Mapping[str, Any]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def verdicts(self) -> dict[str, dict[str, Any]]:
        """The verdict on each question: artifacts, leakage, instability, shift."""
        verdicts = self.to_dict().get("verdicts")
        if not isinstance(verdicts, dict):
            return {}
        return {question: verdict for question, verdict in verdicts.items() if isinstance(verdict, dict)}

    def to_dict(self) -> dict[str, Any]:
        """The document as plain data, top-level keys in a fixed order, NaN as None."""
        plain = to_plain(self.document)
        known = {key: plain[key] for key in _ORDER if key in plain}
        return known | {key: value for key, value in plain.items() if key not in known}

    def to_json(self) -> str:
        """The document as JSON; the same document always gives the same bytes."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=2)
        # A lone surrogate cannot be written as UTF-8; JSON may spell it as an escape.
        return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"

    def to_markdown(self) -> str:
        """The report as Markdown that pastes into a pull request."""
        from goldassay.report.markdown import render_markdown

        return render_markdown(self.to_dict())

    def to_card(self) -> str:
        """The same as a section of a dataset card: with metadata that the Hugging Face hub reads, and the badge."""
        from goldassay.report.markdown import render_markdown

        return render_markdown(self.to_dict(), card=True)

    def to_badge(self) -> str:
        """The verdicts as a small SVG for a README."""
        from goldassay.report.badge import render_badge

        return render_badge(self.to_dict())

    def to_html(self) -> str:
        """The report as one HTML page that needs nothing else and asks nothing of any network."""
        from goldassay.report.html import render_html

        return render_html(self.to_dict(), tuple(self.tables))

    def summary(self) -> str:
        """The report in at most 15 lines of plain text, for a terminal."""
        from goldassay.report.terminal import render_summary

        return render_summary(self.to_dict())

    def figures(self) -> dict[str, str]:
        """The pictures by name, each an SVG file that stands alone; what has nothing to show is left out."""
        from goldassay.report.figures import draw_figures

        return {name: picture.standalone for name, picture in draw_figures(self.to_dict()).items()}

    def save(self, directory: str | os.PathLike[str], also: Mapping[str, bytes] | None = None) -> Path:
        """Write the report, all of it or nothing, and return the path of the page.

        Writes report.html, report.json, report.md, tables/NAME.parquet, tables/NAME.csv and figures/NAME.svg. Of an
        audit report.md is a dataset card, and badge.svg lies beside it. Tables and pictures that an earlier report left
        there and this one has not are removed.

        Args:
            directory: Where to.
            also: Further files by their path in it, such as `goldassay.report.paper` makes.

        Raises:
            OutputError: The folder cannot be made or written to, or the disk is full.
        """
        from goldassay.report.card import BADGE
        from goldassay.report.reproduction import is_audit

        texts = {"report.html": self.to_html(), "report.json": self.to_json()}
        if is_audit(self.to_dict()):
            texts |= {"report.md": self.to_card(), BADGE: self.to_badge()}
        else:
            texts["report.md"] = self.to_markdown()
        texts |= {f"figures/{name}.svg": svg for name, svg in self.figures().items()}
        with written_together(directory, earlier_files(Path(directory), "report.json", (BADGE,))) as folder:
            write_page(texts, self.tables, folder)
            for name, content in (also or {}).items():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_bytes(content)
        return Path(directory) / "report.html"

    def _repr_html_(self) -> str:
        from goldassay.report.notebook import render_notebook

        return render_notebook(self.to_dict())

    def __repr__(self) -> str:
        found = ", ".join(f"{question}: {verdict.get('verdict')}" for question, verdict in self.verdicts.items())
        return f"<Report {self.document.get('title')!r}, {found}>"
