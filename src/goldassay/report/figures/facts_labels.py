"""How often each label occurs, in each split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale
from goldassay.report.figures.svg import Canvas, shortened, text_width
from goldassay.report.numbers import count, number, percent
from goldassay.report.outline import mapping
from goldassay.report.palette import N_SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Label balance"
CAPTION = "Share of each label in each split."

_ROW, _GAP, _HEAD = 22, 6, 24


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """Horizontal bars, one a label, one block a split."""
    counts = mapping(document, "facts", "label_counts")
    splits = {split: mapping(counts, split) for split in counts if mapping(counts, split)}
    if not splits:
        return None
    names = [label for labels in splits.values() for label in labels]
    left = min(max(text_width(name) for name in names) + 12, 0.36 * width)
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    largest = max((number(n) or 0) / _total(labels) for labels in splits.values() for n in labels.values())
    scale = Scale(0, max(largest, 1e-9), left, width - 118)
    order = list(dict.fromkeys(names))
    y = 4.0
    for split, labels in splits.items():
        canvas.text(0, y + 14, split, "strong")
        y += _HEAD
        for label, n in labels.items():
            share = (number(n) or 0) / _total(labels)
            shown = f"{percent(share)}  ({count(n)})"
            canvas.text(left - 8, y + 16, shortened(label, left - 10), "", "end")
            canvas.bar(
                left,
                y + 2,
                scale(share) - left,
                _ROW - 4,
                f"f{order.index(label) % N_SERIES}",
                f"{split}, {label}: {shown}",
            )
            canvas.text(scale(share) + 7, y + 16, shown, "quiet small")
            y += _ROW
        y += _GAP + 6
    canvas.height = y - _GAP
    return canvas


def _total(labels: Mapping[str, Any]) -> float:
    return sum(number(n) or 0 for n in labels.values()) or 1.0
