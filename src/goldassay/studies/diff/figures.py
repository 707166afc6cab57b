"""The figures of one report that can be compared, each with the interval that the report supports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.studies.bounded_figures import bounded_figures
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
        for figure in bounded_figures(report.document, measure.place):
            if isinstance(figure.value, str) or math.isnan(figure.value):
                continue
            of = {name: str(figure.row[name]) for name in measure.place.names if figure.row.get(name) is not None}
            found.append(Measured(measure, of, figure.value, figure.low, figure.high, figure.row))
    return found
