"""The differences between models with their intervals, against zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, vertical_grid
from goldassay.report.figures.svg import Canvas, marker, shortened, text_width
from goldassay.report.numbers import bounds, decimal, number, signed_points
from goldassay.report.outline import mapping, records

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Differences between models"
CAPTION = (
    "Each mark is the difference of two mean scores, the line its 95 % interval. Where the line crosses zero, luck "
    "alone can explain it. Filled marks are told apart (of several models after Holm's correction)."
)

_ROW, _MOST = 40, 40


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A row a pair of models: their names, the difference, and its interval below them."""
    rows = []
    for pair in records(mapping(document, "comparison").get("pairs")):
        values = [number(pair.get(key)) for key in ("difference", "low", "high")]
        known = [100 * value for value in values if value is not None]
        if len(known) == len(values):
            rows.append((pair, known))
    if not rows:
        return None
    n, rows = len(rows), rows[:_MOST]
    low = min(0.0, *(values[1] for _, values in rows))
    high = max(0.0, *(values[2] for _, values in rows))
    pad = 0.05 * (high - low) or 0.5
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    canvas.draw_first(_MOST, n, "pairs")
    scale = Scale(low - pad, high + pad, 10, width - 10)
    top, bottom = 4.0, 4.0 + _ROW * len(rows)
    reach = scale.high - scale.low
    digits = 0 if reach > 4 else 1 if reach > 0.4 else 2
    vertical_grid(canvas, scale, top, bottom, lambda value: decimal(value, digits), 6 if width > 500 else 4)
    for position, (pair, known) in enumerate(rows):
        _row(canvas, scale, top + _ROW * position, pair, known)
    canvas.text(width / 2, bottom + 36, "difference of mean scores (points)", "quiet small", "middle")
    canvas.height = bottom + 42
    return canvas


def _row(canvas: Canvas, scale: Scale, y: float, pair: Mapping[str, Any], values: list[float]) -> None:
    name = f"{pair.get('a')} − {pair.get('b')}"
    shown = f"{signed_points(pair.get('difference'))} {bounds(pair.get('low'), pair.get('high'), 2)}"
    canvas.text(0, y + 14, shortened(name, canvas.width - text_width(shown) - 16), "strong lifted")
    canvas.text(canvas.width, y + 14, shown, "quiet small lifted", "end")
    # Zero is drawn row by row, so that no name is crossed out.
    canvas.line(scale(0), y + 19, scale(0), y + 36, "axis")
    difference, low, high = (scale(value) for value in values)
    canvas.line(low, y + 27, high, y + 27, "l0 curve")
    told = bool(pair.get("told_apart"))
    title = f"{name}: {shown} points, {'told apart' if told else 'not told apart'}"
    canvas.path(marker(0, difference, y + 27, 5.5), "f0 halo" if told else "sheet l0 curve", title)
