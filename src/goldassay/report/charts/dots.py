"""Dots with intervals, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.report.charts.axes import legend, scale_for, vertical_grid
from goldassay.report.charts.marks import draw_mark, fill, stroke, whisker
from goldassay.report.charts.svg import Canvas, shortened, text_width

if TYPE_CHECKING:
    from goldassay.core.charts import Dot, DotGroup, DotRow, Dots
    from goldassay.report.charts.axes import Scale

_HEAD, _GAP = 24, 10
_SINGLE, _TEXTED, _PITCH = 34, 40, 20
_MOST_LEFT = 0.42
_TEXT_ROOM = 30


def draw(chart: Dots, width: int) -> Canvas:
    """Draw a row of dots a line; names to the left where there is room, else above."""
    canvas = Canvas(width, 0, chart.label)
    wide = width > 500
    names = max(text_width(group.name) for group in chart.groups) + 14
    above = chart.headings == "above" or (not wide and names > _MOST_LEFT * width)
    left = 12.0 if above else min(names, _MOST_LEFT * width)
    right = width - (_column(chart, wide) if chart.headings == "left" else 14.0)
    top = legend(canvas, chart.series, 0, 16, width) + 2 if len(chart.series) > 1 else 6.0
    top += 18 if any(rule.label for rule in chart.rules) else 0
    pitch = _pitch(chart, above)
    heights = [(_HEAD if above else 0) + pitch * len(group.rows) + _gap(chart, above) for group in chart.groups]
    bottom = top + sum(heights)
    scale = scale_for(chart.axis, _values(chart), left, right)
    vertical_grid(canvas, chart.axis, scale, top, bottom, 6 if wide else 4)
    _label_rules(canvas, chart, scale, top)
    y = top
    for group, height in zip(chart.groups, heights, strict=True):
        rows_top = y + (_HEAD if above else 0)
        for rule in chart.rules:
            # In pieces, so that no heading is crossed out.
            css = "axis" if rule.solid else "rule"
            canvas.line(scale(rule.at), rows_top - (0 if above else 1), scale(rule.at), y + height, css)
        _head(canvas, chart, group, y, height, left, above)
        if len(group.rows) > 1 and not above and y > top:
            canvas.line(0, y, width, y, "grid")
        for position, row in enumerate(group.rows):
            middle = rows_top + pitch * (position + 0.5) + _gap(chart, above) / 2 * (not above)
            _row(canvas, chart, scale, row, middle)
        if chart.headings == "left":
            middle = rows_top + (height - (_HEAD if above else 0)) / 2
            canvas.text(right + 10, middle + 4, group.value, "strong") if group.value else None
            if wide and group.interval:
                canvas.text(right + 18 + text_width(group.value), middle + 4, group.interval, "quiet small")
        y += height
    canvas.text((left + right) / 2, bottom + 36, chart.axis.title, "quiet small", "middle")
    canvas.height = bottom + 42
    return canvas


def _pitch(chart: Dots, above: bool) -> float:
    if any(dot.text for group in chart.groups for row in group.rows for dot in row.dots):
        return _TEXTED
    return _PITCH if above or any(len(group.rows) > 1 for group in chart.groups) else _SINGLE


def _gap(chart: Dots, above: bool) -> float:
    if above:
        return _GAP if any(len(group.rows) > 1 for group in chart.groups) else _GAP / 3
    return _GAP if any(len(group.rows) > 1 for group in chart.groups) else 0


def _column(chart: Dots, wide: bool) -> float:
    """The width of the values at the right."""
    values = max(text_width(group.value) for group in chart.groups)
    intervals = max(text_width(group.interval, 12) for group in chart.groups) if wide else 0
    return 14.0 + (values + 4 if values else 0) + (intervals + 10 if intervals else 0)


def _values(chart: Dots) -> list[float]:
    dots = [dot for group in chart.groups for row in group.rows for dot in row.dots]
    found = [value for dot in dots for value in (dot.value, dot.low, dot.high) if value is not None]
    found += [end for group in chart.groups for row in group.rows for end in (*(row.span or ()), *(row.band or ()))]
    return found + [rule.at for rule in chart.rules]


def _label_rules(canvas: Canvas, chart: Dots, scale: Scale, top: float) -> None:
    for rule in chart.rules:
        if rule.label:
            half = text_width(rule.label) / 2
            canvas.line(scale(rule.at), top - 4, scale(rule.at), top, "rule")
            x = min(max(scale(rule.at), half), canvas.width - half)
            canvas.text(x, top - 9, rule.label, "small strong", "middle")


def _head(canvas: Canvas, chart: Dots, group: DotGroup, y: float, height: float, left: float, above: bool) -> None:
    if not above:
        canvas.text(0, y + height / 2 + 4, shortened(group.name, left - 12))
        return
    aside = f"{group.value} {group.interval}".strip() if chart.headings == "above" else ""
    room = canvas.width - (text_width(aside) + 16 if aside else 0)
    canvas.text(0, y + 16, shortened(group.name, room), "strong lifted")
    if aside:
        canvas.text(canvas.width, y + 16, aside, "quiet small lifted", "end")


def _row(canvas: Canvas, chart: Dots, scale: Scale, row: DotRow, y: float) -> None:
    if row.band is not None:
        start, end = scale(row.band[0]), scale(row.band[1])
        canvas.bar(start, y - 7, end - start, 14, "band")
    if row.span is not None:
        css = "axis" if row.span_series is None else f"{stroke(chart.series[row.span_series])} curve"
        canvas.line(scale(row.span[0]), y, scale(row.span[1]), y, css)
    written: list[float] = []
    for dot in row.dots:
        x = scale(dot.value)
        # Texts that would cover each other are left to the table.
        if dot.text and all(abs(x - other) >= _TEXT_ROOM for other in written):
            canvas.text(x, y - 11, dot.text, "small quiet", "middle")
            written.append(x)
    for dot in row.dots:
        _dot(canvas, chart, scale, dot, y, 5.5 if len(row.dots) <= len(chart.series) else 4.5)


def _dot(canvas: Canvas, chart: Dots, scale: Scale, dot: Dot, y: float, radius: float) -> None:
    series = chart.series[dot.series]
    if dot.low is not None and dot.high is not None:
        if chart.capped:
            whisker(canvas, scale(dot.low), scale(dot.high), y)
        else:
            canvas.line(scale(dot.low), y, scale(dot.high), y, f"{stroke(series)} curve")
    css = f"{fill(series)} cloud halo" if chart.faint else f"{fill(series)} halo"
    draw_mark(canvas, series, scale(dot.value), y, radius, css, dot.hover, hollow=dot.hollow)
