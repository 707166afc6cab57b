"""Charts of what a dataset holds: label balance, and lengths by label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.charts import (
    Axis,
    Bar,
    BarGroup,
    Bars,
    Chart,
    Dot,
    DotGroup,
    DotRow,
    Dots,
    by_name,
    numbered_series,
)
from goldassay.core.documents import mapping, records
from goldassay.core.numbers import count, decimal, number, percent

if TYPE_CHECKING:
    from collections.abc import Mapping


def charts(document: Mapping[str, Any]) -> dict[str, Chart]:
    """Charts of label balance and of lengths."""
    facts = mapping(document, "facts")
    return by_name(_labels(facts), _lengths(facts))


def _labels(facts: Mapping[str, Any]) -> Chart | None:
    """A bar a label and split."""
    counts = mapping(facts, "label_counts")
    splits = {split: mapping(counts, split) for split in counts if mapping(counts, split)}
    order = list(dict.fromkeys(label for labels in splits.values() for label in labels))
    if not order:
        return None
    groups = []
    for split, labels in splits.items():
        total = sum(number(n) or 0 for n in labels.values()) or 1.0
        bars = []
        for label, n in labels.items():
            share = (number(n) or 0) / total
            text = f"{percent(share)}  ({count(n)})"
            bars.append(Bar(label, share, f"{split}, {label}: {text}", text, series=order.index(label)))
        groups.append(BarGroup(split, tuple(bars)))
    return Bars(
        name="facts_labels",
        title="Label balance",
        caption="Share of each label in each split.",
        groups=tuple(groups),
        axis=Axis(unit="percent", low=0.0),
        series=numbered_series(order),
        axis_of="none",
    )


def _lengths(facts: Mapping[str, Any]) -> Chart | None:
    """A dot for the mean length of each label, a group a split and text."""
    rows = [row for row in records(facts.get("lengths")) if number(row.get("mean")) is not None]
    if not rows:
        return None
    labels = list(dict.fromkeys(str(row.get("label")) for row in rows))
    groups: dict[str, list[DotRow]] = {}
    for row in rows:
        name, series = f"{row.get('split')}, {row.get('role')}", labels.index(str(row.get("label")))
        mean, p95 = float(row["mean"]), number(row.get("p95"))
        text = f"mean {decimal(mean, 1)}, median {decimal(row.get('median'), 0)}, 95 % below {count(p95)}"
        dot = Dot(mean, f"{name}, {row.get('label')}: {text}", series)
        groups.setdefault(name, []).append(DotRow((dot,), None if p95 is None else (mean, p95), series))
    return Dots(
        name="facts_lengths",
        title="Length by label",
        caption="Mean length; the line reaches to the 95th percentile.",
        groups=tuple(DotGroup(name, tuple(each)) for name, each in groups.items()),
        axis=Axis(str(facts.get("length_unit") or "words"), "count", low=0.0),
        series=numbered_series(labels),
    )
