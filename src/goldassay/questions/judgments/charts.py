"""The chart of judges: what the first seat adds to the win rate of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Axis, Chart, Dot, DotGroup, DotRow, Dots, by_name, first_of
from goldassay.core.documents import mapping, records
from goldassay.core.numbers import bounds, number, percent, points

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST = 20


def charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """A dot a judge, with its interval; those that follow a seat most first."""
    rows = [
        row for row in records(mapping(document, "judgments").get("results")) if number(row.get("effect")) is not None
    ]
    rows.sort(key=lambda row: -abs(number(row.get("effect")) or 0.0))
    shown, omitted = first_of([_group(row) for row in rows], _MOST, "judges")
    if not shown:
        return {}
    return by_name(
        Dots(
            name="judgments_position",
            title="What the first seat adds",
            caption="Each dot is what being shown first adds to a side's win rate by one judge, the line its interval, "
            "of which the end nearer to 0 is simultaneous over judges. At 0 the order does not matter.",
            omitted=omitted,
            groups=tuple(shown),
            axis=Axis("added to the win rate (points)"),
            headings="above",
        )
    )


def _group(row: Mapping[str, Any]) -> DotGroup:
    value = number(row.get("effect")) or 0.0
    low, high, changed = (number(row.get(key)) for key in ("low", "high", "changed"))
    judge = str(row.get("judge"))
    ends = (value, value) if low is None or high is None else (low, high)
    of_items = "" if changed is None else f"; {percent(changed)} of its verdicts change with the order"
    dot = Dot(value, f"{judge}: {points(value)} points {bounds(low, high)}{of_items}")
    return DotGroup(judge, (DotRow((dot,), ends),), points(value), bounds(low, high))
