"""Where the variance over runs comes from: examples one by one, or examples that move together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, vertical_grid
from goldassay.report.figures.svg import Canvas, shortened, text_width
from goldassay.report.numbers import decimal, number
from goldassay.report.outline import mapping, records
from goldassay.report.sections.instability import row_name, square_points

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Where the variance comes from"
CAPTION = (
    "Each part as a standard deviation in points, with its sign: what the examples would add if they moved "
    "independently, and what comes of their moving together (below zero: they offset each other)."
)

_BAR, _HEAD, _VALUE = 18, 26, 44
_PARTS = (("independent", 3), ("covariance", 4))


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """Two bars a row of results, from zero, in signed roots of the variance."""
    rows = []
    for row in records(mapping(document, "instability").get("results")):
        parts = {name: value for name, _ in _PARTS if (value := number(row.get(name))) is not None}
        if len(parts) == len(_PARTS):
            rows.append((row_name(row), parts))
    if not rows:
        return None
    roots = [_root(value) for _, parts in rows for value in parts.values()]
    low, high = min(0.0, *roots), max(0.0, *roots)
    reach = (high - low) or 1.0
    left = text_width("independent") + 14
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    scale = Scale(low, low + reach, left + (_VALUE if low < 0 else 0), width - 10 - _VALUE)
    y, top = 2.0, 6.0
    bottom = top + len(rows) * (_HEAD + 2 * _BAR + 10)
    vertical_grid(canvas, scale, top, bottom, lambda value: decimal(value, 1 if reach > 1 else 2), 5)
    canvas.line(scale(0), top, scale(0), bottom, "axis")
    for name, parts in rows:
        canvas.text(0, y + 18, shortened(name, width), "strong lifted")
        y += _HEAD
        for part, series in _PARTS:
            _bar(canvas, scale, y, name, part, series, parts[part], left)
            y += _BAR
        y += 10
    canvas.text((left + width) / 2, bottom + 36, "signed standard deviation (points)", "quiet small", "middle")
    canvas.height = bottom + 42
    return canvas


def _root(variance: float) -> float:
    """The signed root of a variance, in points."""
    size = 100 * abs(variance) ** 0.5
    return size if variance >= 0 else -size


def _bar(
    canvas: Canvas, scale: Scale, y: float, name: str, part: str, series: int, variance: float, left: float
) -> None:
    root = _root(variance)
    start, end = sorted((scale(0), scale(root)))
    title = f"{name}, {part}: {decimal(root, 3)} points, variance {square_points(variance).text} squared points"
    canvas.text(left - 10, y + 13, part, "small", "end")
    canvas.bar(start, y + 2, max(end - start, 1), _BAR - 4, f"f{series}", title)
    side, anchor = (end + 6, "start") if root >= 0 else (start - 6, "end")
    canvas.text(side, y + 13, decimal(root, 2), "quiet small", anchor)
