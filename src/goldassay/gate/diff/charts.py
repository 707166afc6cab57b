"""The chart of what changed between two reports, measure by measure, around no change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.charts import (
    Axis,
    Chart,
    Dot,
    DotGroup,
    DotRow,
    Dots,
    Rule,
    Series,
    between,
    by_name,
    first_of,
)
from goldassay.core.documents import records
from goldassay.core.numbers import bounds, number, signed_points

if TYPE_CHECKING:
    from collections.abc import Mapping

_SERIES = (
    Series("better", "s3", 3),
    Series("worse", "s2", 2),
    Series("changed", "s0", 0),
    Series("not shown", "s5", 5),
)
_MOST = 40


def charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """A dot with an interval for each measure in points or shares whose change has one."""
    rows = [
        (row, known)
        for row in records(document.get("measures"))
        if row.get("unit") in ("points", "share")
        and (known := between(*(number(row.get(key)) for key in ("difference", "low", "high")))) is not None
    ]
    shown, omitted = first_of(rows, _MOST, "changes")
    if not shown:
        return {}
    words = [str(row.get("change")) for row, _ in shown]
    series = [each for each in _SERIES if each.name in words]
    names = [each.name for each in series]
    groups = []
    for (row, (difference, low, high)), word in zip(shown, words, strict=True):
        name = _name(row)
        hover = f"{name}: {signed_points(difference)} {bounds(low, high, 2)} points, {word}"
        dot = Dot(difference, hover, names.index(word), low, high)
        groups.append(DotGroup(name, (DotRow((dot,)),), signed_points(difference, 1), bounds(low, high)))
    return by_name(
        Dots(
            name="diff_changes",
            title="What changed",
            caption="The second report's figure minus the first's, in points, with its 95 % interval. An interval that "
            "holds 0, the dashed line, shows no change.",
            omitted=omitted,
            groups=tuple(groups),
            axis=Axis("change (points)", "signed points"),
            series=tuple(series),
            rules=(Rule(0.0),),
        )
    )


def _name(row: Mapping[str, Any]) -> str:
    of, measure = str(row.get("of") or "").replace("_only", ""), str(row.get("measure"))
    return f"{measure}, {of}" if of and of != "paired" else measure
