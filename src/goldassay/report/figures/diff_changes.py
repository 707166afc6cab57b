"""What changed between two reports, measure by measure, around no change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, vertical_grid
from goldassay.report.figures.svg import Canvas, marker, shortened, text_width
from goldassay.report.numbers import bounds, number, signed_points
from goldassay.report.outline import records

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "What changed"
CAPTION = (
    "The second report's figure minus the first's, in points, with its 95 % interval. An interval that holds 0, the "
    "dashed line, shows no change."
)

SERIES = ("better", "worse", "changed", "not shown")
# The colors and markers of the palette that stand for these, by their number.
_LOOKS = {"better": 3, "worse": 2, "changed": 0, "not shown": 5}
_ROW, _NARROW_ROW = 30, 46
_MOST_ROWS = 40


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A dot with an interval for each measure whose change has one, in points."""
    rows = [
        row
        for row in records(document.get("measures"))
        if row.get("unit") in ("points", "share") and number(row.get("low")) is not None
    ]
    if not rows:
        return None
    n, rows = len(rows), rows[:_MOST_ROWS]
    wide = width > 500
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    canvas.draw_first(_MOST_ROWS, n, "changes")
    left = min(max(text_width(_name(row)) for row in rows) + 14, 0.46 * width) if wide else 14.0
    top, right, high = 40.0, width - (146.0 if wide else 14.0), _ROW if wide else _NARROW_ROW
    bottom = top + high * len(rows)
    ends = [number(row.get(key)) or 0.0 for row in rows for key in ("low", "high", "difference")]
    span = max(*ends, 0.0) - min(*ends, 0.0) or 0.01
    scale = Scale(min(*ends, 0.0) - 0.05 * span, max(*ends, 0.0) + 0.05 * span, left, right)
    _legend(canvas, rows)
    vertical_grid(canvas, scale, top, bottom, lambda value: signed_points(value, _digits(span)), 5 if wide else 3)
    canvas.line(scale(0), top - 4, scale(0), bottom, "rule")
    for position, row in enumerate(rows):
        _row(canvas, scale, top + high * (position + (0.5 if wide else 0.68)), row, left)
    canvas.text((left + right) / 2, bottom + 36, "change (points)", "quiet small", "middle")
    canvas.height = bottom + 42
    return canvas


def _legend(canvas: Canvas, rows: list[Mapping[str, Any]]) -> None:
    at = 0.0
    for word in SERIES:
        if any(row.get("change") == word for row in rows):
            canvas.path(marker(_LOOKS[word], at + 6, 11.5, 4.5), f"f{_LOOKS[word]}")
            canvas.text(at + 16, 16, word)
            at += 16 + text_width(word) + 18


def _row(canvas: Canvas, scale: Scale, y: float, row: Mapping[str, Any], left: float) -> None:
    low, high, value = row["low"], row["high"], row["difference"]
    look = _LOOKS.get(str(row.get("change")), 5)
    if canvas.width > 500:
        canvas.text(0, y + 4, shortened(_name(row), left - 12))
    else:
        canvas.text(0, y - 14, shortened(_name(row), canvas.width), "lifted")
    canvas.path(f"M{scale(low):.1f} {y - 5:.1f}v10m0 -5H{scale(high):.1f}m0 -5v10", "whisker")
    title = f"{_name(row)}: {signed_points(value)} {bounds(low, high, 2)} points, {row.get('change')}"
    canvas.path(marker(look, scale(value), y, 5.5), f"f{look} halo", title)
    if canvas.width > 500:
        canvas.text(scale.end + 10, y + 4, signed_points(value, 1), "strong")
        canvas.text(scale.end + 58, y + 4, bounds(low, high), "quiet small")


def _name(row: Mapping[str, Any]) -> str:
    of, measure = str(row.get("of") or "").replace("_only", ""), str(row.get("measure"))
    return f"{measure}, {of}" if of and of != "paired" else measure


def _digits(span: float) -> int:
    return 0 if span > 0.04 else 1 if span > 0.004 else 2
