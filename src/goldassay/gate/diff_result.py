"""What changed from one report to another, typed: the plain form is diff.json."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.core.figures import Unit, result
from goldassay.core.results import Result, to_plain
from goldassay.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from goldassay.core.document import Verdict

SCHEMA, SCHEMA_VERSION = "goldassay.diff", 1


@dataclass(frozen=True)
class ListChange:
    """What became of the things that two reports list, such as the patterns that give a label away.

    Attributes:
        source: What was compared, as a sentence.
        n_before: How many the first report has.
        n_after: How many the second has.
        gone: Only in the first: the listing's columns; what is worth most first.
        new: Only in the second.
        turned: In both, with another label: as in the second, with the earlier label.
        stayed: In both, with the same label: as in the second, with the earlier numbers.
    """

    source: str
    n_before: int
    n_after: int
    gone: pl.DataFrame
    new: pl.DataFrame
    turned: pl.DataFrame
    stayed: pl.DataFrame


@dataclass(frozen=True)
class Side(Result):
    """One of the two reports: where it lies, its title and version, its digest, and when it was made."""

    path: str
    title: str
    goldassay_version: str
    digest: str
    finished: str


@dataclass(frozen=True)
class VerdictMove(Result):
    """The verdict on one question then and now.

    Attributes:
        question: Its key.
        before: The verdict of the first report.
        after: That of the second.
        moved: Which way the word moved.
        what: What differs: see `comparing.WHAT_CHANGED`.
    """

    question: str
    before: Verdict
    after: Verdict
    moved: str
    what: str

    def to_dict(self) -> dict[str, Any]:
        """The verdicts as the reports have them."""
        before, after = (each.model_dump(exclude_unset=True) for each in (self.before, self.after))
        return {"question": self.question, "before": before, "after": after, "moved": self.moved, "what": self.what}


@result
class Change(Result):
    """One measure in both reports.

    Attributes:
        id: Of the measure.
        question: That it belongs to.
        measure: What it is, in words.
        of: What its figures belong to.
        unit: Of all numbers.
        describes_data: Whether it answers no question.
        before: Its value then.
        before_low: Lower end.
        before_high: Upper end.
        after: Its value now.
        after_low: Lower end.
        after_high: Upper end.
        difference: Now less then.
        low: Lower end of the difference's interval.
        high: Upper end.
        method: Of that interval.
        change: A word that it supports.
    """

    id: str
    question: str
    measure: str
    of: str
    unit: Unit
    describes_data: bool
    before: float
    before_low: float
    before_high: float
    after: float
    after_low: float
    after_high: float
    difference: float
    low: float
    high: float
    method: str
    change: str


@result
class Alone(Result):
    """One measure that only one of the reports has."""

    id: str
    question: str
    measure: str
    of: str
    unit: Unit
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class DiffResult(Result):
    """What changed.

    Attributes:
        title: Of the comparison.
        before: The first report.
        after: The second one.
        warnings: What makes a change mean less than it seems.
        notes: How intervals were made.
        verdicts: Of questions that both answer.
        measures: Figures that both have.
        only_before: Figures that only the first has.
        only_after: Figures that only the second has.
        lists: What both list, by name, such as "patterns"; None where one lists nothing.
    """

    title: str
    before: Side
    after: Side
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    verdicts: tuple[VerdictMove, ...]
    measures: tuple[Change, ...]
    only_before: tuple[Alone, ...]
    only_after: tuple[Alone, ...]
    lists: Mapping[str, ListChange | None]

    def to_dict(self) -> dict[str, Any]:
        """The document of diff.json, each list under its own name."""
        plain = super().to_dict()
        lists = plain.pop("lists")
        head = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, "goldassay_version": __version__}
        return {**head, **plain, **to_plain(lists)}
