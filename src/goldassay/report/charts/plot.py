"""Panels with two value axes: curves, steps, slopes and scattered points."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from goldassay.report.charts.axes import Scale, legend, line_legend, printed_ticks, scale_for
from goldassay.report.charts.labels import place_names
from goldassay.report.charts.marks import draw_mark, fill, stroke
from goldassay.report.charts.panels import lay_out, under, value_axis
from goldassay.report.charts.svg import Canvas, shortened, text_width

if TYPE_CHECKING:
    from goldassay.core.charts import Panel as Content
    from goldassay.core.charts import Plot, Trace
    from goldassay.report.charts.panels import Panel

_LETTERS = 11.0
# Lines of more points than these have smaller marks.
_MANY = 10
_PAD_SCATTER, _PAD_LINE = 0.08, 0.0
_PAD_UP = 0.06


def draw(chart: Plot, width: int) -> Canvas:
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
