"""The chart of overlap: items by how much of them one document has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Axis, Bar, BarGroup, Bars, Chart, by_name
from goldassay.core.documents import mapping, records
from goldassay.core.numbers import count, number

if TYPE_CHECKING:
    from collections.abc import Mapping


def charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """A bar for each fifth of coverage."""
    rows = records(mapping(document, "overlap").get("histogram"))
    if not rows:
        return {}
    return by_name(
        Bars(
            name="overlap_coverage",
            title="Items by the share of their words that one document has",
            caption="Each item by its best document. From 80 % on an item is dirty, below 20 % clean.",
            groups=(BarGroup("", tuple(_bar(row) for row in rows)),),
            axis=Axis("items", unit="count", digits=0, low=0.0),
        )
    )


def _bar(row: Mapping[str, Any]) -> Bar:
    value = number(row.get("n")) or 0.0
    name = str(row.get("of"))
    return Bar(name, value, f"{name}: {count(value)} items", count(value))
