"""Panels side by side, each with a heading and two axes.

Panels with two value axes: curves, steps, slopes and scattered points.

Horizontal bars from zero, in groups.

Dots with intervals, row by row.

Stacked bars from 0 to 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from goldassay.report.charts.maps import (
    Scale,
    horizontal_grid,
    legend,
    line_legend,
    place_names,
    printed_ticks,
    scale_for,
    vertical_grid,
)
from goldassay.report.charts.svg import (
    CODE_SIZE,
    Canvas,
    code_width,
    draw_mark,
    fill,
    shortened,
    stroke,
    text_width,
    whisker,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goldassay.core.charts import Axis, Bar, Bars, Dot, DotGroup, DotRow, Dots, Plot, Series, Stack, Stacks, Trace
    from goldassay.core.charts import Panel as Content

_GAP = 28
# Of a heading's width over that of the same text in the common weight.
_BOLD = 1.14
HEAD, FOOT, LEFT = 26, 40, 46
_NO_HEAD = 8
# Higher panels have one line more.
_HIGH = 180


@dataclass(frozen=True)
class Panel:
    """Where a panel's axes lie, in pixels."""

    left: float
    right: float
    top: float
    bottom: float


def lay_out(canvas: Canvas, names: Sequence[str | tuple[str, str]], height: float, y: float = 0.0) -> Iterator[Panel]:
    """One panel a name, two in a row where there is room, each below its name; sets the canvas's height.

    A name of two parts is shortened in both, so that neither is lost.
    """
    per_row = 2 if canvas.width > 500 and len(names) > 1 else 1
    width = (canvas.width - _GAP * (per_row - 1)) / per_row
    head = HEAD if any(names) else _NO_HEAD
    high = head + height + FOOT
    canvas.height = y + -(-len(names) // per_row) * high
    for position, name in enumerate(names):
        x, top = (position % per_row) * (width + _GAP), y + position // per_row * high
        if name:
            canvas.text(x, top + 16, _heading(name, width), "strong")
        yield Panel(x + LEFT, x + width - 6, top + head, top + head + height)


def _heading(name: str | tuple[str, str], width: float) -> str:
    """What fits above a panel."""

    def measure(text: str) -> float:
        return _BOLD * text_width(text)

    if isinstance(name, str):
        return shortened(name, width, measure)
    first, second = name
    whole = f"{first}: {second}"
    if measure(whole) <= width:
        return whole
    # What one part leaves of its half goes to the other.
    half = width / 2
    first = shortened(first, max(half, width - measure(f": {second}")), measure)
    return shortened(f"{first}: {second}", width, measure)


def value_axis(canvas: Canvas, panel: Panel, axis: Axis, values: Sequence[float], pad: float) -> Scale:
    """The vertical axis of a panel, with its grid."""
    scale = scale_for(axis, values, panel.bottom, panel.top, pad)
    n = 5 if panel.bottom - panel.top >= _HIGH else 4
    horizontal_grid(canvas, axis, scale, panel.left, panel.right, n)
    return scale


def under(canvas: Canvas, panel: Panel, ticks: Sequence[tuple[float, str]], title: str) -> None:
    """Values under a panel, and what they are of."""
    for x, text in ticks:
        anchor = "start" if x <= panel.left + 4 else "end" if x >= panel.right - 4 else "middle"
        canvas.text(x, panel.bottom + 16, text, "quiet small", anchor)
    shown = shortened(title, panel.right - panel.left + LEFT, lambda text: text_width(text, CODE_SIZE))
    canvas.text((panel.left + panel.right) / 2, panel.bottom + 32, shown, "quiet small", "middle")


_LETTERS = 11.0
# Lines of more points than these have smaller marks.
_MANY = 10
_PAD_SCATTER, _PAD_LINE = 0.08, 0.0
_PAD_UP = 0.06


def draw_plot(chart: Plot, width: int) -> Canvas:
    """Draw the legend once, and the panels two in a row where there is room."""
    canvas = Canvas(width, 0, chart.label)
    y = 0.0
    if chart.legend is not None and any(series.name for series in chart.series):
        draw_legend = line_legend if chart.legend == "lines" else legend
        y = draw_legend(canvas, chart.series, 0, 14, width) + 4
    places = lay_out(canvas, [panel.title for panel in chart.panels], chart.height, y)
    for place, panel in zip(places, chart.panels, strict=True):
        _panel(canvas, chart, panel, place)
    return canvas


def _panel(canvas: Canvas, chart: Plot, panel: Content, place: Panel) -> None:
    wide = place.right - place.left > 400
    points = [point for trace in panel.traces for point in trace.points]
    bands = [row for trace in panel.traces for row in trace.band]
    ups = [value for point in points for value in (point.y, point.low, point.high) if value is not None]
    ups += [value for _, low, high in bands for value in (low, high)]
    ups += [rule.at for rule in panel.rules if rule.across == "y"]
    up = value_axis(canvas, place, panel.y, ups, _PAD_UP)
    scattered = all(trace.line == "none" for trace in panel.traces)
    pad = _PAD_SCATTER if scattered else _PAD_LINE
    xs = [point.x for point in points] + [x for x, _, _ in bands]
    across = scale_for(panel.x, xs, place.left, place.right, pad=pad)
    if panel.ticks:
        half = (place.right - place.left) / 2
        ticks = [(across(at), shortened(text, half)) for at, text in panel.ticks]
    else:
        ticks = [(across(at), text) for at, text in printed_ticks(panel.x, across, 6 if wide else 4)]
        for x, _ in ticks:
            canvas.line(x, place.top, x, place.bottom, "grid")
    _rules(canvas, panel, place, across, up)
    for trace in panel.traces:
        _lines(canvas, chart, trace, across, up)
    for trace in panel.traces:
        _marks(canvas, chart, trace, across, up)
    _names(canvas, panel, place, across, up)
    for column in panel.columns:
        x = across(column.low)
        canvas.bar(x, place.top, across(column.high) - x, place.bottom - place.top, "", column.hover, opacity=0.0)
    title = f"{panel.x.title} → {panel.y.title} ↑" if panel.x.title and panel.y.title else panel.x.title
    under(canvas, place, ticks, title or (f"{panel.y.title} ↑" if panel.y.title else ""))


def _rules(canvas: Canvas, panel: Content, place: Panel, across: Scale, up: Scale) -> None:
    for rule in panel.rules:
        css = "axis" if rule.solid else "rule"
        if rule.across == "diagonal":
            low, high = max(across.low, up.low), min(across.high, up.high)
            if low < high:
                canvas.line(across(low), up(low), across(high), up(high), css)
        elif rule.across == "y":
            canvas.line(place.left, up(rule.at), place.right, up(rule.at), css)
        elif across.low <= rule.at <= across.high:
            canvas.line(across(rule.at), place.top, across(rule.at), place.bottom, css)
            if rule.label:
                canvas.text(across(rule.at) + 6, place.bottom - 8, rule.label, "quiet small")


def _lines(canvas: Canvas, chart: Plot, trace: Trace, across: Scale, up: Scale) -> None:
    series = chart.series[trace.series]
    if trace.band:
        upper = [f"{across(x):.1f} {up(high):.1f}" for x, _, high in trace.band]
        lower = [f"{across(x):.1f} {up(low):.1f}" for x, low, _ in reversed(trace.band)]
        canvas.path(f"M{'L'.join(chain(upper, lower))}z", "wash")
    if trace.line == "none" or not trace.points:
        return
    places = [(across(point.x), up(point.y)) for point in trace.points]
    if trace.line in ("steps", "area"):
        (x, y), rest = places[0], places[1:]
        path = f"M{x:.1f} {y:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in rest)
        if trace.line == "area":
            canvas.path(f"{path}z", "wash")
    else:
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    weight = "thin" if trace.line in ("thin", "area") else "curve"
    canvas.path(path, f"{stroke(series)} {weight}")


def _marks(canvas: Canvas, chart: Plot, trace: Trace, across: Scale, up: Scale) -> None:
    series = chart.series[trace.series]
    radius = 3.4 if len(trace.points) > _MANY and trace.line != "none" else 4.6
    for point in trace.points:
        x = across(point.x)
        if point.low is not None and point.high is not None:
            css = "whisker" if trace.whisker else f"{stroke(series)} thin"
            canvas.line(x, up(point.low), x, up(point.high), css)
    for point in trace.points:
        if point.hover:
            css = f"{fill(series)} halo"
            draw_mark(canvas, series, across(point.x), up(point.y), radius, css, point.hover, hollow=point.hollow)


def _names(canvas: Canvas, panel: Content, place: Panel, across: Scale, up: Scale) -> None:
    named = [point for trace in panel.traces for point in trace.points if point.name]
    if not named:
        return
    places = place_names(
        [(across(point.x), up(point.y)) for point in named],
        [text_width(point.name, _LETTERS) for point in named],
        _LETTERS,
        7.0,
        (place.left, place.top, place.right + 6, place.bottom),
    )
    for point, at in zip(named, places, strict=True):
        if at is not None:
            canvas.text(at[0], at[1] + 4, point.name, "quiet small", "middle")


_BAR_ROW, _BARS_HEAD, _BAR_THICK = 22, 26, 16
_BARS_MOST_LEFT = 0.38


def draw_bars(chart: Bars, width: int) -> Canvas:
    """Draw a heading a group and a bar a line."""
    canvas = Canvas(width, 0, chart.label)
    wide = width > 500
    every = [bar for group in chart.groups for bar in group.bars]
    measure = code_width if chart.data_names else text_width
    left = min(max(measure(bar.name) for bar in every) + 12, _BARS_MOST_LEFT * width)
    text = max(_BOLD * text_width(bar.text) for bar in every) + 14
    values = [value for bar in every for value in (bar.value, bar.low, bar.high, 0.0) if value is not None]
    values += [group.reference for group in chart.groups if group.reference is not None]
    values += [rule.at for rule in chart.rules]
    start = left + (text if min(values) < 0 and not chart.aligned else 0)
    aside = max(text_width(bar.interval, 12) for bar in every) + 8 if chart.aligned and wide else 0
    scale = scale_for(chart.axis, values, start, width - text - aside, pad=0.0)
    y = top = 20.0 if any(rule.label for rule in chart.rules) else 2.0
    foot = {"all": 8, "each": 34, "none": 12}[chart.axis_of]
    bottom = top + sum(_BARS_HEAD + _BAR_ROW * len(group.bars) + foot for group in chart.groups)
    if chart.axis_of == "all":
        vertical_grid(canvas, chart.axis, scale, top, bottom, 5 if wide else 4)
    for group in chart.groups:
        canvas.text(0, y + 17, shortened(group.name, width), "strong lifted")
        y += _BARS_HEAD
        end = y + _BAR_ROW * len(group.bars)
        if chart.axis_of == "each":
            vertical_grid(canvas, chart.axis, scale, y, end, 5 if wide else 3)
        if chart.axis_of != "none":
            # In pieces, so that no heading is crossed out.
            canvas.line(scale(0), y, scale(0), end, "axis")
        reference_top = y - 4
        for bar in group.bars:
            _bar(canvas, chart, scale, y, bar, left)
            y += _BAR_ROW
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
    canvas.bar(start, y + 3, max(end - start, 1), _BAR_THICK, fill(chart.series[bar.series]), bar.hover)
    if bar.low is not None and bar.high is not None:
        whisker(canvas, scale(bar.low), scale(bar.high), y + 3 + _BAR_THICK / 2)
    if chart.aligned:
        canvas.text(scale.end + 8, y + 15, bar.text, "quiet small" if not bar.interval else "strong")
        if bar.interval and canvas.width > 500:
            canvas.text(scale.end + 14 + _BOLD * text_width(bar.text), y + 15, bar.interval, "quiet small")
    else:
        side, anchor = (end + 7, "start") if bar.value >= 0 else (start - 7, "end")
        canvas.text(side, y + 15, bar.text, "quiet small", anchor)


_DOTS_HEAD, _DOTS_GAP = 24, 10
_SINGLE, _TEXTED, _PITCH = 34, 40, 20
_DOTS_MOST_LEFT = 0.42
_TEXT_ROOM = 30


def draw_dots(chart: Dots, width: int) -> Canvas:
    """Draw a row of dots a line; names to the left where there is room, else above."""
    canvas = Canvas(width, 0, chart.label)
    wide = width > 500
    names = max(text_width(group.name) for group in chart.groups) + 14
    above = chart.headings == "above" or (not wide and names > _DOTS_MOST_LEFT * width)
    left = 12.0 if above else min(names, _DOTS_MOST_LEFT * width)
    right = width - (_column(chart, wide) if chart.headings == "left" else 14.0)
    top = legend(canvas, chart.series, 0, 16, width) + 2 if len(chart.series) > 1 else 6.0
    top += 18 if any(rule.label for rule in chart.rules) else 0
    pitch = _pitch(chart, above)
    heights = [(_DOTS_HEAD if above else 0) + pitch * len(group.rows) + _gap(chart, above) for group in chart.groups]
    bottom = top + sum(heights)
    scale = scale_for(chart.axis, _values(chart), left, right)
    vertical_grid(canvas, chart.axis, scale, top, bottom, 6 if wide else 4)
    _label_rules(canvas, chart, scale, top)
    y = top
    for group, height in zip(chart.groups, heights, strict=True):
        rows_top = y + (_DOTS_HEAD if above else 0)
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
            middle = rows_top + (height - (_DOTS_HEAD if above else 0)) / 2
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
        return _DOTS_GAP if any(len(group.rows) > 1 for group in chart.groups) else _DOTS_GAP / 3
    return _DOTS_GAP if any(len(group.rows) > 1 for group in chart.groups) else 0


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


_STACKS_HEAD, _STACK_ROW, _STACK_THICK, _ALONE = 21, 46, 17, 40


def draw_stacks(chart: Stacks, width: int) -> Canvas:
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
        _draw_stack(canvas, chart, stack, y + _STACKS_HEAD, _STACK_THICK)
        y += _STACK_ROW
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
