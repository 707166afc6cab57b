"""What a report holds, which every renderer shows and none computes."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from goldassay.core.report_seal import DIGESTS
from goldassay.core.results import Result, to_plain
from goldassay.core.sections import Reproduction, Section, Subject, VerdictCard
from goldassay.core.verdicts import WORDS, Verdict, severity

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from goldassay.core.charts import Chart
    from goldassay.core.document import Issue
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
    "issues",
    "figures",
    "dataset",
    "inputs",
)
_LAST = ("settings", "environment", "timing", "digest", DIGESTS)


@dataclass(frozen=True)
class ReportContent:
    """A plain document, the tables behind it, and what is shown of it, in reading order.

    Attributes:
        document: What `report.json` holds, plain data under the schema "goldassay.report", version 2; and under
            "timing" what `timing.json` holds.
        answers: What each question found, typed.
        tables: Full tables by name, written next to the page as Parquet and CSV.
        sections: What is shown, in reading order.
        cards: The verdict on each question.
        intervals: What the intervals on the cards are; "" where there is none.
        limits: From which size on a flaw would have been found, by question without one; "" where there is none.
        unasked: Questions that nothing was given for, a sentence each that says what to add.
        subject: What the report is about.
        issues: What is wrong, the gravest first; None where it was not listed.
        first: Rows to look at before anything else; None where no question names any.
        reproduction: How to get an audit again; None for other reports.
        paper_tables: Tables in the layouts of papers, for `goldassay.report.paper`.
        charts: The page's charts by name, as data.
        paper_charts: Charts for papers by the name of their file, as data.
        behind: The examples behind the verdict on each question, the most telling ones first; see `rows`.
        runs: Files of runs that were made for it.
        places: The dataset files that it was made of, by role; timing.json stores where they are, seen from the
            report's folder, so that its rows can be found again.
        result: What was measured, as the question's own type, where it has one.
        judged: The verdict on each question; `verdicts` is their plain form.
    """

    document: Mapping[str, Any]
    tables: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))
    sections: tuple[Section, ...] = ()
    cards: tuple[VerdictCard, ...] = ()
    intervals: str = ""
    limits: str = ""
    unasked: tuple[str, ...] = ()
    subject: Subject = field(default_factory=Subject)
    issues: tuple[Issue, ...] | None = None
    first: Table | None = None
    reproduction: Reproduction | None = None
    paper_tables: tuple[Table, ...] = ()
    charts: Mapping[str, Chart] = field(default_factory=lambda: MappingProxyType({}))
    paper_charts: Mapping[str, Chart] = field(default_factory=lambda: MappingProxyType({}))
    behind: Mapping[str, pl.DataFrame] = field(default_factory=lambda: MappingProxyType({}))
    runs: tuple[Path, ...] = ()
    places: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    result: Any = None
    answers: Mapping[str, Result] = field(default_factory=lambda: MappingProxyType({}))
    judged: Mapping[str, Verdict] = field(default_factory=lambda: MappingProxyType({}))

    def answer(self, kind: type[R]) -> R | None:
        """The result of a question by its class; None where the report has none."""
        return next((each for each in self.answers.values() if isinstance(each, kind)), None)

    @property
    def verdicts(self) -> dict[str, dict[str, Any]]:
        """The verdict on each question, as `report.json` holds it."""
        return {question: verdict.to_dict() for question, verdict in self.judged.items()}

    @property
    def overall(self) -> str:
        """How many of several verdicts name a flaw, are unresolved, not measurable or sound; "" for fewer than two."""
        words = [card.verdict for card in self.cards if card.judged and card.verdict in WORDS]
        flaws = len([word for word in words if severity(word) >= severity("caution")])
        counts = [(flaws, "flaw" if flaws == 1 else "flaws")]
        counts += [(words.count(word), word) for word in ("unresolved", "not measurable", "sound")]
        return ", ".join(f"{n} {word}" for n, word in counts if n) if len(words) > 1 else ""

    @property
    def beneath(self) -> str:
        """What is read below the cards in small type: what the intervals are, and what was not asked."""
        return " ".join(each for each in (self.intervals, *self.unasked) if each)

    def to_dict(self) -> dict[str, Any]:
        """The document as plain data, top-level keys in a fixed order, NaN as None."""
        plain = to_plain(self.document)
        first, last = ({key: plain[key] for key in keys if key in plain} for keys in (_FIRST, _LAST))
        return first | {key: value for key, value in plain.items() if key not in last} | last
