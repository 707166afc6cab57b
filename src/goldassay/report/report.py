"""The report: a plain document, the tables behind it, and the forms they can take."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from goldassay.core.document import FILE_NAME, TIMING_NAME
from goldassay.core.documents import mapping
from goldassay.core.errors import InputError
from goldassay.core.files import written_together
from goldassay.core.report_seal import DIGESTS, as_json
from goldassay.core.results import Result, to_plain
from goldassay.core.sections import Subject
from goldassay.report.saving import write_page

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from goldassay.core.charts import Chart
    from goldassay.core.sections import Reproduction, Section, VerdictCard
    from goldassay.core.tables import Table

R = TypeVar("R", bound=Result)
# Keys of every document; those of the questions stand between them, in the order in which they were measured.
_FIRST = (
    "schema",
    "schema_version",
    "goldassay_version",
    "command",
    "title",
    "questions",
    "verdicts",
    "figures",
    "dataset",
    "inputs",
)
_LAST = ("settings", "environment", "timing", "digest", DIGESTS)


@dataclass(frozen=True)
class Report:
    """What an audit found, able to show itself as a page, as Markdown, as JSON, in a terminal and in a notebook.

    A report computes nothing, and knows no question: its sections are composed from the document by
    `goldassay.questions`.

    Attributes:
        document: What `report.json` holds, plain data under the schema "goldassay.report", version 2; and under
            "timing" what `timing.json` holds.
        answers: What each question found, typed.
        tables: Full tables by name, written next to the page as Parquet and CSV.
        sections: What is shown, in reading order.
        cards: The verdict on each question.
        intervals: What the intervals on the cards are; "" where there is none.
        unasked: Questions that nothing was given for, a sentence each that says what to add.
        subject: What the report is about.
        first: Rows to look at before anything else; None where no question names any.
        reproduction: How to get an audit again; None for other reports.
        paper_tables: Tables in the layouts of papers, for `goldassay.report.paper`.
        charts: The page's charts by name, as data.
        paper_charts: Charts for papers by the name of their file, as data.
        behind: The examples behind the verdict on each question, the most telling ones first; see `rows`.
        runs: Files of runs that were made for it.
        places: The dataset files that it was made of, by role; timing.json stores where they are, seen from the
            report's folder, so that its rows can be found again.
    """

    document: Mapping[str, Any]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))
    sections: tuple[Section, ...] = ()
    cards: tuple[VerdictCard, ...] = ()
    intervals: str = ""
    unasked: tuple[str, ...] = ()
    subject: Subject = field(default_factory=Subject)
    first: Table | None = None
    reproduction: Reproduction | None = None
    paper_tables: tuple[Table, ...] = ()
    charts: Mapping[str, Chart] = field(default_factory=lambda: MappingProxyType({}))
    paper_charts: Mapping[str, Chart] = field(default_factory=lambda: MappingProxyType({}))
    behind: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))
    runs: tuple[Path, ...] = ()
    places: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    answers: Mapping[str, Result] = field(default_factory=lambda: MappingProxyType({}))

    def answer(self, kind: type[R]) -> R | None:
        """The result of a question by its class; None where the report has none."""
        return next((each for each in self.answers.values() if isinstance(each, kind)), None)

    @property
    def verdicts(self) -> dict[str, dict[str, Any]]:
        """The verdict on each question."""
        verdicts = self.to_dict().get("verdicts")
        if not isinstance(verdicts, dict):
            return {}
        return {question: verdict for question, verdict in verdicts.items() if isinstance(verdict, dict)}

    def to_dict(self) -> dict[str, Any]:
        """The document as plain data, top-level keys in a fixed order, NaN as None."""
        plain = to_plain(self.document)
        first, last = ({key: plain[key] for key in keys if key in plain} for keys in (_FIRST, _LAST))
        return first | {key: value for key, value in plain.items() if key not in last} | last

    def to_json(self) -> str:
        """The document as JSON, without its times: the same input always gives the same bytes."""
        return as_json({key: value for key, value in self.to_dict().items() if key != "timing"})

    def timing_json(self, directory: str | os.PathLike[str] | None = None) -> str:
        """When the report was made, the seconds of each step and, seen from a folder, where its data are, as JSON."""
        timing = dict(self.to_dict().get("timing") or {})
        if directory is not None and self.places:
            timing["places"] = {role: _seen_from(directory, place) for role, place in self.places.items()}
        return as_json(timing)

    def to_markdown(self) -> str:
        """The report as Markdown that pastes into a pull request."""
        from goldassay.report.markdown import render_markdown

        return render_markdown(self)

    def to_card(self) -> str:
        """The same as a section of a dataset card: with metadata that the Hugging Face hub reads, and the badge."""
        from goldassay.report.markdown import render_markdown

        return render_markdown(self, card=True)

    def to_badge(self) -> str:
        """The verdicts as a small SVG for a README."""
        from goldassay.report.badge import render_badge

        return render_badge(self)

    def to_html(self) -> str:
        """The report as one HTML page that needs nothing else and asks nothing of any network."""
        from goldassay.report.html import render_html

        return render_html(self, tuple(self.tables))

    def summary(self) -> str:
        """The report in at most 15 lines of plain text, for a terminal."""
        from goldassay.report.terminal import render_summary

        return render_summary(self)

    @property
    def figures(self) -> pl.DataFrame:
        """Every figure of the report, a row each.

        Columns: id, question, of (names by role, as a struct), label, unit, better, value, low, high, n, reason.
        Undefined numbers are null.
        """
        from goldassay.core.figures import frame_of

        return frame_of(self.to_dict().get("figures") or ())

    def rows(self, question: str) -> pl.DataFrame:
        """The examples behind the verdict on a question, beside their rows in the user's data.

        Args:
            question: "artifacts" (patterns name their label), "leakage" (a part of the input tells it), "instability"
                (runs differ on them), "shift" (a run gets them wrong on another distribution), "comparison" (two
                models score differently on them) or "suspect" (their label may be wrong).

        Returns:
            A row an example, or of several models an example and model, the most telling ones first: `dataset`,
            `example_id`, what was measured of it, then every column of the data as far as they were given.

        Raises:
            InputError: The report has no rows of the question.
        """
        if question not in self.behind:
            known = ", ".join(self.behind)
            why = str(mapping(self.document, question).get("why_not") or "").rstrip(".")
            raise InputError(
                f"the report has no rows of the question {question!r}{f': {why[0].lower()}{why[1:]}' if why else ''}",
                mend=f"there are rows of {known}" if known else "audit with a test part, runs, or sets from elsewhere",
            )
        return self.behind[question]

    def drawings(self) -> dict[str, str]:
        """The charts by name, each drawn as an SVG file that stands alone."""
        from goldassay.report.charts import draw_pictures

        return {name: picture.standalone for name, picture in draw_pictures(self.charts).items()}

    def save(self, directory: str | os.PathLike[str], also: Mapping[str, bytes] | None = None) -> Path:
        """Write the report, all of it or nothing, and return the path of the page.

        Writes report.html, report.json, timing.json, report.md, tables/NAME.parquet, tables/NAME.csv and
        figures/NAME.svg. Of an audit report.md is a dataset card, and badge.svg lies beside it. Files that an earlier
        report left there and this one has not are removed, unless somebody changed them.

        Args:
            directory: Where to.
            also: Further files by their path in it, such as `goldassay.report.paper` makes.

        Raises:
            OutputError: The folder cannot be made or written to, another command writes into it, or the disk is full.
        """
        from goldassay.report.card import BADGE

        texts = {"report.html": self.to_html(), FILE_NAME: self.to_json(), TIMING_NAME: self.timing_json(directory)}
        if self.reproduction is not None:
            texts |= {"report.md": self.to_card(), BADGE: self.to_badge()}
        else:
            texts["report.md"] = self.to_markdown()
        texts |= {f"figures/{name}.svg": svg for name, svg in self.drawings().items()}
        with written_together(directory, belonging=self.runs) as folder:
            write_page(texts, self.tables, folder)
            for name, content in (also or {}).items():
                (folder / name).parent.mkdir(exist_ok=True)
                (folder / name).write_bytes(content)
        return Path(directory) / "report.html"

    def _repr_html_(self) -> str:
        from goldassay.report.notebook import render_notebook

        return render_notebook(self)

    def __repr__(self) -> str:
        found = ", ".join(f"{question}: {verdict.get('verdict')}" for question, verdict in self.verdicts.items())
        return f"<Report {self.document.get('title')!r}, {found}>"


def _seen_from(directory: str | os.PathLike[str], place: Path) -> str:
    """A path relative to a folder, so that both can be moved together and no home folder's name is stored."""
    try:
        return Path(os.path.relpath(place.resolve(), Path(directory).resolve())).as_posix()
    except ValueError:
        # Another drive, where there are drives.
        return ""
