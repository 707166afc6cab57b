"""The figures of one report that can be compared, each with the interval that the report supports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.intervals import mean_interval, wilson_interval
from goldassay.places import Figure, figures_at, under
from goldassay.report.outline import records
from goldassay.studies.diff.measures import MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.report.reading import StoredReport
    from goldassay.studies.diff.measures import Measure


@dataclass(frozen=True)
class Measured:
    """A figure of a report.

    Attributes:
        measure: What it is.
        of: Which of the report's figures of this kind: names by key.
        value: The figure.
        low: Lower end of its interval; NaN where there is none.
        high: Upper end.
        row: The object of the document that it stands in.
    """

    measure: Measure
    of: dict[str, str]
    value: float
    low: float
    high: float
    row: Mapping[str, Any]

    @property
    def key(self) -> tuple[str, ...]:
        """What makes it the same figure in another report."""
        return (self.measure.place.at, self.measure.place.value, *self.of.values())


def figures_of(report: StoredReport) -> list[Measured]:
    """Every figure of a report that is defined, in the order of the measures."""
    found = []
    for measure in MEASURES:
        for figure in figures_at(report.document, measure.place):
            if isinstance(figure.value, str) or math.isnan(figure.value):
                continue
            low, high = _interval(report.document, measure, figure, figure.value)
            of = {name: str(figure.row[name]) for name in measure.place.names if figure.row.get(name) is not None}
            found.append(Measured(measure, of, figure.value, low, high, figure.row))
    return found


def _interval(document: Mapping[str, Any], measure: Measure, figure: Figure, value: float) -> tuple[float, float]:
    if not math.isnan(figure.low + figure.high):
        return figure.low, figure.high
    trials = under(document, measure.trials) if measure.trials else None
    if isinstance(trials, int) and trials > 0:
        made = wilson_interval(round(value * trials), trials)
        return made.low, made.high
    if measure.question == "instability":
        return _over_runs(document, measure.place.value, figure.row)
    if measure.question == "comparison":
        low, high = figure.row.get("low"), figure.row.get("high")
        if isinstance(low, (int, float)) and isinstance(high, (int, float)):
            return float(low), float(high)
    return math.nan, math.nan


def _over_runs(document: Mapping[str, Any], name: str, row: Mapping[str, Any]) -> tuple[float, float]:
    """The interval over runs of a figure: what the report says, or Student's of a mean of scores."""
    names = ("model", "dataset", "condition")
    for each in records(under(document, "instability.intervals")):
        if all(each.get(key) == row.get(key) for key in names):
            for figure in records(each.get("figures")):
                low, high = figure.get("runs_low"), figure.get("runs_high")
                if figure.get("figure") == name and isinstance(low, float) and isinstance(high, float):
                    return low, high
    scores = row.get("accuracies")
    if name == "mean" and isinstance(scores, list) and len(scores) > 1:
        made = mean_interval(scores)
        return made.low, made.high
    return math.nan, math.nan
