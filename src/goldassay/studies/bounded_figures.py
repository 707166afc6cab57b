"""Figures of a stored report with the interval that the report supports, the same for a policy and for a diff.

Where no bounds stand beside a figure, they are made of what the report says elsewhere: of how many examples a share is,
or what the figure of several runs is over these.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.intervals import mean_interval, wilson_interval
from goldassay.places import figures_at, under
from goldassay.report.outline import records

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.places import Figure, Place

_RUNS = "instability.results[]"


def bounded_figures(document: Mapping[str, Any], place: Place) -> tuple[Figure, ...]:
    """Every figure of a place, with bounds (95 %) where the report has any, or what they follow from.

    A share of examples gets Wilson's interval, a mean over runs Student's; what the runs vary by has the interval that
    the report gives over runs.
    """
    return tuple(_bounded(document, place, figure) for figure in figures_at(document, place))


def _bounded(document: Mapping[str, Any], place: Place, figure: Figure) -> Figure:
    if isinstance(figure.value, str) or not figure.is_defined or not math.isnan(figure.low + figure.high):
        return figure
    if place.shares_of:
        low, high = _of_share(document, place.shares_of, figure.value)
    elif place.at == _RUNS:
        low, high = _over_runs(document, place.value, figure.row)
    else:
        return figure
    return replace(figure, low=low, high=high)


def _of_share(document: Mapping[str, Any], classes: str, share: float) -> tuple[float, float]:
    counts = [each.get("n") for each in (under(document, classes) or {}).values()]
    trials = sum(count for count in counts if isinstance(count, int))
    if trials == 0:
        return math.nan, math.nan
    made = wilson_interval(round(share * trials), trials)
    return made.low, made.high


def _over_runs(document: Mapping[str, Any], name: str, row: Mapping[str, Any]) -> tuple[float, float]:
    """What the report says of a figure over runs, or Student's interval of a mean of scores."""
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
