"""How much better the probe is where the patterns point the right way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, vertical_grid
from goldassay.report.figures.svg import Canvas, marker, text_width
from goldassay.report.numbers import bounds, count, number, points
from goldassay.report.outline import mapping, records

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Easy against hard"
CAPTION = (
    "Accuracy of the probe in points, on the examples that the patterns solve (easy), on those they mislead (hard), "
    "and on the full test set, with 95 % intervals."
)

_ROW = 40
_NUMBER_WIDTH = 30
_SERIES = {"easy": (3, "easy"), "hard": (2, "hard"), "full": (0, "f5")}


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """Three dots a condition, joined by a line."""
    rows = [
        row
        for row in records(mapping(document, "leakage").get("difficulty"))
        if number(row.get("accuracy")) is not None and str(row.get("subset")) in _SERIES
    ]
    if all(row.get("subset") == "full" for row in rows):
        return None
    conditions = list(dict.fromkeys(str(row.get("condition")) for row in rows))
    left = min(max(text_width(name) for name in conditions) + 16, 0.4 * width)
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    at = 0.0
    for name, (shape, css) in _SERIES.items():
        canvas.path(marker(shape, at + 6, 11.5, 5), css)
        canvas.text(at + 17, 16, name)
        at += 17 + text_width(name) + 18
    top, bottom = 30.0, 30.0 + _ROW * len(conditions)
    scale = Scale(0, 1, left, width - 16)
    vertical_grid(canvas, scale, top, bottom, lambda value: points(value, 0), 5)
    for position, condition in enumerate(conditions):
        y = top + _ROW * (position + 0.5)
        mine = [row for row in rows if str(row.get("condition")) == condition]
        canvas.text(0, y + 4, condition)
        ends = [row["accuracy"] for row in mine]
        canvas.line(scale(min(ends)), y, scale(max(ends)), y, "axis")
        numbered: list[float] = []
        for row in sorted(mine, key=lambda row: row.get("subset") == "full"):
            x = scale(row["accuracy"])
            # Numbers that would lie on each other are left to the table; those of easy and hard go first.
            if all(abs(x - other) >= _NUMBER_WIDTH for other in numbered):
                canvas.text(x, y - 11, points(row["accuracy"]), "small quiet", "middle")
                numbered.append(x)
            _dot(canvas, scale, y, row)
    canvas.text((left + width - 16) / 2, bottom + 36, "accuracy (points)", "quiet small", "middle")
    canvas.height = bottom + 42
    return canvas


def _dot(canvas: Canvas, scale: Scale, y: float, row: Mapping[str, Any]) -> None:
    shape, css = _SERIES[str(row["subset"])]
    low, high = number(row.get("low")), number(row.get("high"))
    if low is not None and high is not None:
        canvas.path(f"M{scale(low):.1f} {y - 5:.1f}v10m0 -5H{scale(high):.1f}m0 -5v10", "whisker")
    title = (
        f"{row.get('condition')}, {row['subset']}: {points(row['accuracy'])} {bounds(low, high)} points"
        f" on {count(row.get('n'))} examples"
    )
    canvas.path(marker(shape, scale(row["accuracy"]), y, 6), f"{css} halo", title)
