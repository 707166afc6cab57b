"""Charts of leakage: accuracy from each part of the input, on easy and hard examples, and without the first rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.charts import (
    Axis,
    Chart,
    Dot,
    DotGroup,
    DotRow,
    Dots,
    Panel,
    Plot,
    Point,
    Rule,
    Series,
    Trace,
    by_name,
    numbered_series,
)
from goldassay.core.documents import mapping, records
from goldassay.core.numbers import bounds, count, number, points, signed_points
from goldassay.questions.leakage.cluster_charts import cluster_charts, paper_map
from goldassay.questions.leakage.dataset_charts import dataset_charts, paper_dataset_charts
from goldassay.questions.leakage.rule_charts import rule_chart

if TYPE_CHECKING:
    from collections.abc import Mapping

_SUBSETS = (Series("easy", "easy", 3), Series("hard", "hard", 2), Series("full", "s5", 0))
_DROPPED = ("suggested", "random")


def charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """Charts of conditions, difficulty, clusters, rows to rewrite and several datasets."""
    found = mapping(document, "leakage")
    return {
        **by_name(rule_chart(found), _conditions(found), _difficulty(found)),
        **cluster_charts(found),
        **by_name(_falls(mapping(found, "suggestion"))),
        **dataset_charts(found),
    }


def paper_charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """Charts for papers: conditions, the map of sentences and measures over datasets.

    An audit has conditions too, but is no report on leakage alone.
    """
    found = mapping(document, "leakage")
    conditions = _conditions(found, name="conditions") if found.get("source") else None
    return {**by_name(conditions, paper_map(found)), **paper_dataset_charts(found)}


def _conditions(found: Mapping[str, Any], name: str = "leakage_conditions") -> Chart | None:
    """A dot with an interval for each condition, a line for the majority."""
    rows = [row for row in records(found.get("conditions")) if number(row.get("accuracy")) is not None]
    if not rows:
        return None
    majorities = sorted({round(m, 4) for m in (number(row.get("majority")) for row in rows) if m is not None})
    constant = "choosing the most frequent position" if found.get("rules") else "naming the most frequent test label"
    return Dots(
        name=name,
        title="Accuracy by condition",
        caption="Mean accuracy over runs, in points, with its 95 % interval. The dashed line is the accuracy of always "
        f"{constant}: what is to the right of it was read from the text.",
        groups=tuple(_condition(row) for row in rows),
        axis=Axis("accuracy (points)"),
        rules=tuple(Rule(majority, f"majority {points(majority)}") for majority in majorities),
    )


def _condition(row: Mapping[str, Any]) -> DotGroup:
    accuracy, majority = float(row["accuracy"]), number(row.get("majority"))
    low, high = number(row.get("accuracy_low")), number(row.get("accuracy_high"))
    name = str(row.get("condition"))
    dot = Dot(accuracy, f"{name}: {points(accuracy)} {bounds(low, high)} points", low=low, high=high)
    span = None if majority is None else (majority, accuracy)
    return DotGroup(name, (DotRow((dot,), span),), points(accuracy), bounds(low, high))


def _difficulty(found: Mapping[str, Any]) -> Chart | None:
    """Three dots a condition, joined by a line."""
    names = [series.name for series in _SUBSETS]
    rows = [
        row
        for row in records(found.get("difficulty"))
        if number(row.get("accuracy")) is not None and str(row.get("subset")) in names
    ]
    if all(row.get("subset") == "full" for row in rows):
        return None
    groups: dict[str, list[Dot]] = {}
    # The full set last: its number is the first to be left out where there is no room.
    for row in sorted(rows, key=lambda row: row.get("subset") == "full"):
        condition, subset, accuracy = str(row.get("condition")), str(row["subset"]), float(row["accuracy"])
        low, high = number(row.get("low")), number(row.get("high"))
        hover = (
            f"{condition}, {subset}: {points(accuracy)} {bounds(low, high)} points on {count(row.get('n'))} examples"
        )
        dot = Dot(accuracy, hover, names.index(subset), low, high, text=points(accuracy))
        groups.setdefault(condition, []).append(dot)
    order = list(dict.fromkeys(str(row.get("condition")) for row in rows))
    return Dots(
        name="leakage_difficulty",
        title="Easy against hard",
        caption="Accuracy of the probe in points, on the examples that the patterns solve (easy), on those they "
        "mislead (hard), and on the full test set, with 95 % intervals.",
        groups=tuple(
            DotGroup(name, (DotRow(tuple(dots), (min(dot.value for dot in dots), max(dot.value for dot in dots))),))
            for name, dots in ((name, groups[name]) for name in order)
        ),
        axis=Axis("accuracy (points)", low=0.0, high=1.0),
        series=_SUBSETS,
    )


def _falls(found: Mapping[str, Any]) -> Chart | None:
    """Improvement over the share of rows dropped: those suggested, and as many at random; both start from all rows."""
    falls = [
        row
        for row in records(found.get("falls"))
        if number(row.get("improvement")) is not None and number(row.get("share")) is not None
    ]
    before = mapping(found, "before")
    if not falls or number(before.get("improvement")) is None:
        return None
    constant = "guessing" if found.get("of_items") else "the most frequent label"
    traces = []
    for series, kind in enumerate(_DROPPED):
        rows = [{"share": 0.0, "n_dropped": 0, **before}, *(row for row in falls if row.get("rows") == kind)]
        traces.append(Trace(tuple(_fall(kind, row) for row in rows), series, "curve", whisker=True))
    panel = Panel(
        "",
        tuple(traces),
        Axis("rows dropped", "percent", 0, low=0.0, high=max(float(row["share"]) for row in falls) * 1.05),
        Axis("improvement (points)", "signed points", 0),
        (Rule(0.0, across="y", solid=True),),
    )
    return Plot(
        name="leakage_falls",
        title="Leakage without the first rows",
        caption=f"How much better than {constant} a probe of the part alone is among the rows left, "
        "in accuracy points with 95 % intervals over refits: without the rows suggested, and without as many drawn at "
        "random.",
        panels=(panel,),
        series=numbered_series(_DROPPED),
        height=200,
    )


def _fall(kind: str, row: Mapping[str, Any]) -> Point:
    low, high = number(row.get("improvement_low")), number(row.get("improvement_high"))
    hover = (
        f"{kind}, {count(row.get('n_dropped'))} rows dropped: {signed_points(row['improvement'], 1)} "
        f"{bounds(low, high)} points"
    )
    return Point(float(row["share"]), float(row["improvement"]), hover, low, high)
