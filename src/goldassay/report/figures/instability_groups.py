"""Which groups of examples the variance over runs comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, vertical_grid
from goldassay.report.figures.svg import Canvas, shortened, text_width
from goldassay.report.numbers import count, number, percent, points
from goldassay.report.outline import mapping, records
from goldassay.report.sections.instability import row_name

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Variance by group"
CAPTION = (
    "Share of the variance over runs that each group accounts for; below zero, a group offsets the others. The twelve "
    "largest are drawn."
)

_ROW, _HEAD, _MOST, _VALUE = 24, 28, 12, 56


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """Horizontal bars from zero, the largest first, one block a grouping."""
    blocks = []
    for grouping in records(mapping(document, "instability").get("groups")):
        rows = [row for row in records(grouping.get("rows")) if number(row.get("share_of_variance")) is not None]
        rows.sort(key=lambda row: -abs(row["share_of_variance"]))
        if rows:
            blocks.append((f"{row_name(grouping)}, by {grouping.get('column')}", rows[:_MOST]))
    if not blocks:
        return None
    shares = [row["share_of_variance"] for _, rows in blocks for row in rows]
    low, high = min(0.0, *shares), max(0.0, *shares)
    reach = (high - low) or 1.0
    longest = max(text_width(str(row.get("group"))) for _, rows in blocks for row in rows)
    left = min(longest + 12, 0.36 * width)
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    scale = Scale(low, low + reach, left + (_VALUE if low < 0 else 0), width - _VALUE)
    y = 2.0
    for name, rows in blocks:
        canvas.text(0, y + 16, shortened(name, width), "strong")
        y += _HEAD
        top, bottom = y, y + _ROW * len(rows)
        vertical_grid(canvas, scale, top, bottom, lambda value: percent(value, 0), 5 if width > 500 else 3)
        for row in rows:
            _bar(canvas, scale, y, row, left)
            y += _ROW
        canvas.line(scale(0), top, scale(0), bottom, "axis")
        y += 32
    canvas.height = y - 4
    return canvas


def _bar(canvas: Canvas, scale: Scale, y: float, row: Mapping[str, Any], left: float) -> None:
    share = row["share_of_variance"]
    start, end = sorted((scale(0), scale(share)))
    title = (
        f"{row.get('group')}: {percent(share)} of the variance, mean score {points(row.get('mean'))},"
        f" SD {points(row.get('sd'), 2)} points, {count(row.get('n_examples'))} examples"
    )
    canvas.text(left - 8, y + 16, shortened(str(row.get("group")), left - 10), "", "end")
    canvas.bar(start, y + 3, max(end - start, 1), _ROW - 6, "f4", title)
    side, anchor = (end + 6, "start") if share >= 0 else (start - 6, "end")
    canvas.text(side, y + 16, percent(share), "quiet small", anchor)
