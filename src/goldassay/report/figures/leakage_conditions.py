"""Accuracy from each part of the input, against always naming the commonest label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, vertical_grid
from goldassay.report.figures.svg import Canvas, marker, text_width
from goldassay.report.numbers import bounds, number, points
from goldassay.report.outline import mapping, records

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Accuracy by condition"
CAPTION = (
    "Mean accuracy over runs, in points, with its 95 % interval. The dashed line is the accuracy of always naming "
    "the commonest label: what is to the right of it was read from the text."
)

_ROW = 34


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A dot with an interval for each condition, one line for the majority."""
    found = mapping(document, "leakage")
    rows = [row for row in records(found.get("conditions")) if number(row.get("accuracy")) is not None]
    if not rows:
        return None
    left = min(max(text_width(str(row.get("condition"))) for row in rows) + 16, 0.4 * width)
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    top, bottom = 24.0, 24.0 + _ROW * len(rows)
    majorities = [m for m in (number(row.get("majority")) for row in rows) if m is not None]
    values = [
        v
        for row in rows
        for v in (number(row.get(key)) for key in ("accuracy", "accuracy_low", "accuracy_high"))
        if v is not None
    ]
    low = max(0.0, min([*values, *majorities]) - 0.06)
    right = width - (132 if width > 500 else 48)
    scale = Scale(low, min(1.0, max([*values, *majorities]) + 0.03), left, right)
    vertical_grid(canvas, scale, top, bottom, lambda value: points(value, 0), 6 if width > 500 else 4)
    for majority in sorted({round(m, 4) for m in majorities}):
        canvas.line(scale(majority), top - 4, scale(majority), bottom, "rule")
        name = f"majority {points(majority)}"
        half = text_width(name) / 2
        canvas.text(min(max(scale(majority), half), width - half), top - 9, name, "small strong", "middle")
    for position, row in enumerate(rows):
        _row(canvas, scale, top + _ROW * (position + 0.5), row)
    canvas.text((left + right) / 2, bottom + 36, "accuracy (points)", "quiet small", "middle")
    canvas.height = bottom + 42
    return canvas


def _row(canvas: Canvas, scale: Scale, y: float, row: Mapping[str, Any]) -> None:
    accuracy, low, high = row["accuracy"], number(row.get("accuracy_low")), number(row.get("accuracy_high"))
    majority = number(row.get("majority"))
    canvas.text(0, y + 4, str(row.get("condition")))
    if majority is not None:
        canvas.line(scale(majority), y, scale(accuracy), y, "axis")
    if low is not None and high is not None:
        canvas.path(f"M{scale(low):.1f} {y - 6:.1f}v12m0 -6H{scale(high):.1f}m0 -6v12", "whisker")
    title = f"{row.get('condition')}: {points(accuracy)} {bounds(low, high)} points"
    canvas.path(marker(0, scale(accuracy), y, 6), "f0 halo", title)
    canvas.text(scale.end + 10, y + 4, points(accuracy), "strong")
    if canvas.width > 500:
        canvas.text(scale.end + 46, y + 4, bounds(low, high), "quiet small")
