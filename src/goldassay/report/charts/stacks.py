"""Stacked bars from 0 to 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.report.charts.marks import fill
from goldassay.report.charts.svg import Canvas, shortened, text_width

if TYPE_CHECKING:
    from goldassay.core.charts import Series, Stack, Stacks

_HEAD, _ROW, _THICK, _ALONE = 21, 46, 17, 40


def draw(chart: Stacks, width: int) -> Canvas:
    """Draw a bar a stack, under its name; a single one without a name is drawn thick, with its legend below."""
    canvas = Canvas(width, 0, chart.label)
    if len(chart.stacks) == 1 and not chart.stacks[0].name:
        _draw_stack(canvas, chart, chart.stacks[0], 4, _ALONE)
        canvas.height = _legend(canvas, chart, _ALONE + 32) + 10
        return canvas
    y = _legend(canvas, chart, 12) + 12
    for stack in chart.stacks:
        canvas.text(0, y + 15, shortened(stack.name, width - text_width(stack.text) - 12), "strong")
        canvas.text(width, y + 15, stack.text, "quiet small", "end")
        _draw_stack(canvas, chart, stack, y + _HEAD, _THICK)
        y += _ROW
    canvas.height = y + 2
    return canvas


def _draw_stack(canvas: Canvas, chart: Stacks, stack: Stack, y: float, height: float) -> None:
    x = 0.0
    for part in stack.parts:
        wide = part.share * canvas.width
        series = chart.series[part.series]
        # A gap between parts, unless it would hide a small one.
        gap = 1.5 if height == _ALONE and wide > 3 else 0
        canvas.bar(x, y, max(wide - gap, 0.6 if part.share else 0), height, fill(series), part.hover)
        if part.text and wide > text_width(part.text) + 12:
            css = "on-pale" if series.color == "uncovered" else "on-color"
            canvas.text(x + wide / 2, y + height / 2 + 5, part.text, css, "middle")
        x += wide


def _legend(canvas: Canvas, chart: Stacks, y: float) -> float:
    """Squares with names, broken where they must be; returns the last baseline."""
    x = 0.0
    for series in chart.series:
        wide = _entry_width(series)
        if x and x + wide > canvas.width:
            x, y = 0.0, y + 21
        canvas.bar(x, y - 10, 11, 11, fill(series))
        canvas.text(x + 17, y, series.name)
        x += wide + 19
    return y


def _entry_width(series: Series) -> float:
    return 17 + text_width(series.name)
