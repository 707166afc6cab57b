"""Horizontal bars from zero, in groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.report.charts.axes import scale_for, vertical_grid
from goldassay.report.charts.marks import fill, whisker
from goldassay.report.charts.svg import Canvas, code_width, shortened, text_width

if TYPE_CHECKING:
    from goldassay.core.charts import Bar, Bars
    from goldassay.report.charts.axes import Scale

_ROW, _HEAD, _THICK = 22, 26, 16
_MOST_LEFT = 0.38
# The width of a strong text over that of a common one.
_BOLD = 1.14


def draw(chart: Bars, width: int) -> Canvas:
    """Draw a heading a group and a bar a line."""
    canvas = Canvas(width, 0, chart.label)
    wide = width > 500
    every = [bar for group in chart.groups for bar in group.bars]
    measure = code_width if chart.data_names else text_width
    left = min(max(measure(bar.name) for bar in every) + 12, _MOST_LEFT * width)
    text = max(_BOLD * text_width(bar.text) for bar in every) + 14
    values = [value for bar in every for value in (bar.value, bar.low, bar.high, 0.0) if value is not None]
    values += [group.reference for group in chart.groups if group.reference is not None]
    values += [rule.at for rule in chart.rules]
    start = left + (text if min(values) < 0 and not chart.aligned else 0)
    aside = max(text_width(bar.interval, 12) for bar in every) + 8 if chart.aligned and wide else 0
    scale = scale_for(chart.axis, values, start, width - text - aside, pad=0.0)
    y = top = 20.0 if any(rule.label for rule in chart.rules) else 2.0
    foot = {"all": 8, "each": 34, "none": 12}[chart.axis_of]
    bottom = top + sum(_HEAD + _ROW * len(group.bars) + foot for group in chart.groups)
    if chart.axis_of == "all":
        vertical_grid(canvas, chart.axis, scale, top, bottom, 5 if wide else 4)
    for group in chart.groups:
        canvas.text(0, y + 17, shortened(group.name, width), "strong lifted")
        y += _HEAD
        end = y + _ROW * len(group.bars)
        if chart.axis_of == "each":
            vertical_grid(canvas, chart.axis, scale, y, end, 5 if wide else 3)
        if chart.axis_of != "none":
            # In pieces, so that no heading is crossed out.
            canvas.line(scale(0), y, scale(0), end, "axis")
        reference_top = y - 4
        for bar in group.bars:
            _bar(canvas, chart, scale, y, bar, left)
            y += _ROW
        if group.reference is not None:
            canvas.line(scale(group.reference), reference_top, scale(group.reference), y + 3, "rule")
        y += foot
    for rule in chart.rules:
        canvas.line(scale(rule.at), top, scale(rule.at), bottom, "axis" if rule.solid else "rule")
        canvas.text(scale(rule.at), top - 6, rule.label, "small strong", "middle")
    if chart.axis_of == "all":
        canvas.text((scale.start + scale.end) / 2, bottom + 36, chart.axis.title, "quiet small", "middle")
        y = bottom + 42
    canvas.height = y - (8 if chart.axis_of == "each" else 0)
    return canvas


def _bar(canvas: Canvas, chart: Bars, scale: Scale, y: float, bar: Bar, left: float) -> None:
    measure = code_width if chart.data_names else text_width
    css = "code" if chart.data_names else ""
    canvas.text(left - 8, y + 15, shortened(bar.name, left - 10, measure), css, "end")
    start, end = sorted((scale(0), scale(bar.value)))
    canvas.bar(start, y + 3, max(end - start, 1), _THICK, fill(chart.series[bar.series]), bar.hover)
    if bar.low is not None and bar.high is not None:
        whisker(canvas, scale(bar.low), scale(bar.high), y + 3 + _THICK / 2)
    if chart.aligned:
        canvas.text(scale.end + 8, y + 15, bar.text, "quiet small" if not bar.interval else "strong")
        if bar.interval and canvas.width > 500:
            canvas.text(scale.end + 14 + _BOLD * text_width(bar.text), y + 15, bar.interval, "quiet small")
    else:
        side, anchor = (end + 7, "start") if bar.value >= 0 else (start - 7, "end")
        canvas.text(side, y + 15, bar.text, "quiet small", anchor)
