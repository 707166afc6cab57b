"""The strongest patterns of each label, with how sure one can be of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.artifacts_scatter import points_of
from goldassay.report.figures.axes import Scale, vertical_grid
from goldassay.report.figures.svg import Canvas, code_width, shortened
from goldassay.report.numbers import bounds, count, number, percent, points
from goldassay.report.outline import mapping, records
from goldassay.report.palette import N_SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Strongest patterns"
CAPTION = (
    "Share of the training examples with the pattern that carry the label; whiskers are 95 % Wilson intervals, the "
    "dashed line is the label's share in all examples. # stands for any one token."
)

_ROW, _HEAD, _MOST = 22, 28, 8


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """Horizontal bars with whiskers, one block a label."""
    found = mapping(document, "artifacts")
    strongest = mapping(found, "strongest")
    blocks = {
        label: [row for row in records(strongest[label]) if number(row.get("probability")) is not None][:_MOST]
        for label in strongest
    }
    if not any(blocks.values()):
        return None
    names = [str(row.get("pattern")) for rows in blocks.values() for row in rows]
    left = min(max(code_width(name) for name in names) + 12, 0.38 * width)
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    scale = Scale(0, 1, left, width - 60)
    order = points_of(document)[1]
    y = 2.0
    for position, (label, rows) in enumerate(blocks.items()):
        if not rows:
            continue
        series = order.index(label) if label in order else position
        canvas.text(0, y + 16, shortened(label, width), "strong")
        y += _HEAD
        top = y
        vertical_grid(
            canvas, scale, top, top + len(rows) * _ROW, lambda value: percent(value, 0), 4 if width > 500 else 2
        )
        for row in rows:
            _row(canvas, scale, y, row, series, label, left)
            y += _ROW
        prior = number(mapping(found, "prior").get(label))
        if prior is not None:
            canvas.line(scale(prior), top - 4, scale(prior), y + 3, "rule")
        y += 36
    canvas.height = y - 10
    return canvas


def _row(canvas: Canvas, scale: Scale, y: float, row: Mapping[str, Any], series: int, label: str, left: float) -> None:
    p, low, high = (number(row.get(key)) for key in ("probability", "wilson_low", "wilson_high"))
    pattern = str(row.get("pattern"))
    title = f"{pattern} → {label}: {percent(p)} {bounds(low, high)} of {count(row.get('support'))} examples"
    canvas.text(left - 8, y + 15, shortened(pattern, left - 10, code_width), "code", "end")
    canvas.bar(left, y + 3, scale(p or 0.0) - left, _ROW - 6, f"f{series % N_SERIES}", title)
    if low is not None and high is not None:
        middle = y + _ROW / 2
        canvas.path(f"M{scale(low):.1f} {middle - 4:.1f}v8m0 -4H{scale(high):.1f}m0 -4v8", "whisker")
    canvas.text(scale(1) + 10, y + 15, points(p), "quiet small")
