"""A finding: what one question found on one input, before anything is rendered."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from goldassay.core.charts import Chart
    from goldassay.core.document import Issue
    from goldassay.core.figures import Figure
    from goldassay.core.results import Result
    from goldassay.core.sections import Section
    from goldassay.core.verdicts import Verdict


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class RowToRead:
    """An example out of the dataset that is worth reading, and why.

    Attributes:
        example_id: Its name in the dataset.
        text: Its texts, a line each.
        label: Its gold label.
        why: One sentence.
    """

    example_id: str
    text: str
    label: str
    why: str


@dataclass(frozen=True)
class Finding:
    """What one question found.

    The questions of this package leave figures, sections and charts to their modules of these names, which make them
    from `result` (or from `results`): their own commands need them too.

    Attributes:
        question: Key of the question.
        verdict: Its verdict, or None for what judges nothing.
        results: Everything measured as plain data, of a question that has no typed result.
        figures: Its numbers.
        sections: What the page and the Markdown file show.
        charts: Pictures by name.
        tables: Full tables by name, written as Parquet and CSV.
        examples: Columns with one value for each test example, for the table of all examples.
        first_rows: The examples to look at first, the most telling ones first.
        issues: What is wrong, of a question that is not of this package: of the others `questions.rows` lists it.
        rows: All examples behind the verdict beside their rows in the data, the most telling ones first; None where
            it is of no examples.
        result: Everything measured, typed; `report.json` holds its plain form under the question's key.
    """

    question: str
    verdict: Verdict | None
    results: Mapping[str, Any] = field(default_factory=_empty)
    figures: tuple[Figure, ...] = ()
    sections: tuple[Section, ...] = ()
    charts: Mapping[str, Chart] = field(default_factory=_empty)
    tables: Mapping[str, pl.DataFrame] = field(default_factory=_empty)
    examples: Mapping[str, pl.Series] = field(default_factory=_empty)
    first_rows: tuple[RowToRead, ...] = ()
    issues: tuple[Issue, ...] = ()
    rows: pl.DataFrame | None = None
    result: Result | None = None

    @property
    def measured(self) -> Result | Mapping[str, Any]:
        """What the report's document holds under the question's key."""
        return self.results if self.result is None else self.result
