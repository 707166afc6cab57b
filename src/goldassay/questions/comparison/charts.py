"""Charts of differences between models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Axis, Chart, Dot, DotGroup, DotRow, Dots, Rule, between, by_name, first_of
from goldassay.core.documents import mapping, records
from goldassay.core.numbers import bounds, number, signed_points

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST = 40


def charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """The differences with their intervals, against zero."""
    groups = _groups(document)
    shown, omitted = first_of(groups, _MOST, "pairs")
    if not shown:
        return {}
    return by_name(
        Dots(
            name="instability_differences",
            title="Differences between models",
            caption="Each mark is the difference of two mean scores, the line its 95 % interval. Where the line "
            "crosses zero, luck alone can explain it. Filled marks are told apart (of several models after Holm's "
            "correction); of models with one run it is these runs that differ, not the models.",
            omitted=omitted,
            groups=tuple(shown),
            axis=Axis("difference of mean scores (points)"),
            rules=(Rule(0.0, solid=True),),
            headings="above",
            capped=False,
        )
    )


def paper_charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """The same for papers, with all pairs."""
    groups = _groups(document)
    if not groups:
        return {}
    axis = Axis("difference (points)")
    groups = [replace(group, value="", interval="") for group in groups]
    return by_name(
        Dots(name="differences", groups=tuple(groups), axis=axis, rules=(Rule(0.0, solid=True),), capped=False)
    )


def _groups(document: Mapping[str, Any]) -> list[DotGroup]:
    found = mapping(document, "comparison")
    several = bool(found.get("totals"))
    totals = [
        {**row, "difference": row.get("macro_difference"), "low": row.get("macro_low"), "high": row.get("macro_high"),
         "dataset": "mean of the datasets"}
        for row in records(found.get("totals"))
    ]  # fmt: skip
    groups = []
    for pair in (*totals, *records(found.get("pairs"))):
        known = between(*(number(pair.get(key)) for key in ("difference", "low", "high")))
        if known is None:
            continue
        difference, low, high = known
        name = f"{pair.get('a')} − {pair.get('b')}"
        if several:
            name = f"{name}, {pair.get('dataset')}" if len(totals) > 1 else str(pair.get("dataset"))
        told, differ = bool(pair.get("told_apart")), bool(pair.get("differ"))
        shown, interval = signed_points(difference), bounds(low, high, 2)
        said = "told apart" if told else "these runs differ" if differ else "not told apart"
        hover = f"{name}: {shown} {interval} points, {said}"
        dot = Dot(difference, hover, low=low, high=high, hollow=not differ)
        groups.append(DotGroup(name, (DotRow((dot,)),), shown, interval))
    return groups
