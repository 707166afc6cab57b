"""A comparison of two reports that can be shown and saved; what changed is found by `gate.diff`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.core.files import written_together
from goldassay.gate.comparing import Changes, compare_reports, table_names
from goldassay.gate.diff_page import cards, charts, sections, sides_named, summarize, verdict_section
from goldassay.report.charts import draw_pictures
from goldassay.report.html import fill_page
from goldassay.report.markdown import render_section
from goldassay.report.report import write_page
from goldassay.version import __version__

if TYPE_CHECKING:
    import os

    from goldassay.core.charts import Chart


@dataclass(frozen=True)
class ReportDiff(Changes):
    """What changed from one report to another, able to show itself as a page, as Markdown and as JSON."""

    @cached_property
    def document(self) -> dict[str, Any]:
        """Plain data under the schema "goldassay.diff", version 1."""
        return self.result.to_dict()

    def to_json(self) -> str:
        """The document as JSON."""
        text = json.dumps(self.document, ensure_ascii=False, allow_nan=False, indent=2)
        return text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n"

    def to_html(self) -> str:
        """One page that needs nothing else."""
        return fill_page(
            document=self.document,
            cards=cards(self.result),
            line=[f"{side}: {name}" for side, name in zip(("before", "after"), sides_named(self.result), strict=True)],
            sections=sections(self.result),
            pictures=draw_pictures(self.charts),
            stem="diff",
            table_names=tuple(self.tables),
        )

    @property
    def charts(self) -> dict[str, Chart]:
        """The chart of all changes, where any has an interval."""
        return charts(self.result)

    def to_markdown(self) -> str:
        """Markdown that pastes into a pull request."""
        blocks = ["# What changed between two reports"]
        for section in (verdict_section(self.result), *sections(self.result)):
            blocks += render_section(section, "tables/")
        blocks.append(f"Made by goldassay {__version__}.")
        return "\n\n".join(block for block in blocks if block) + "\n"

    def summary(self) -> str:
        """A few lines for a terminal."""
        return summarize(self.result)

    def save(self, directory: str | os.PathLike[str]) -> Path:
        """Write diff.html, diff.json, diff.md, tables/ and figures/, all or nothing, and return the path of the page.

        An earlier comparison in the same folder is replaced, with the tables that this one has not.

        Raises:
            InputError: The folder is that of one of the two reports, whose own tables lie there.
            OutputError: The folder cannot be made or written to, or the disk is full.
        """
        for side in (self.result.before, self.result.after):
            report = Path(side.path)
            if Path(directory).resolve() == report.parent.resolve():
                raise InputError(f"is the folder of {report}", file=directory, mend="choose another with -o")
        texts = {"diff.html": self.to_html(), "diff.json": self.to_json(), "diff.md": self.to_markdown()}
        texts |= {f"figures/{name}.svg": picture.standalone for name, picture in draw_pictures(self.charts).items()}
        # Of an earlier comparison in the same folder nothing is left.
        tables = [f"tables/{name}.{kind}" for name in table_names() for kind in ("parquet", "csv")]
        with written_together(directory, instead_of=("figures/diff_changes.svg", *tables)) as folder:
            write_page(texts, self.tables, folder)
        return Path(directory) / "diff.html"


def diff_reports(before: str | os.PathLike[str], after: str | os.PathLike[str]) -> ReportDiff:
    """Compare two reports; see `gate.comparing.compare_reports`.

    Raises:
        InputError: A report cannot be read or was edited, or the two are not about the same thing.
    """
    found = compare_reports(before, after)
    return ReportDiff(found.result, found.tables)
