"""Two value axes: curves, steps, slopes and scattered points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.charts.axes import times
from goldassay.report.charts.labels import place_names
from goldassay.report.paper.style import (
    AREA,
    MUTED,
    WIDTH,
    color_of,
    legend_above,
    literal,
    marker_of,
    new_figure,
    quiet_grid,
    width_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from goldassay.core.charts import Axis, Panel, Plot, Trace

_LETTERS = 5.5
# Pixels of the page to an inch of the figure.
_PIXELS = 80
# What axes take of width and height, in inches; the layout is made too late to place names by it.
_TAKEN = (0.55, 0.75)
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))


def draw(chart: Plot) -> Figure:
    """Draw the first panel; charts for papers have one."""
    (panel,) = chart.panels
    height = chart.height / _PIXELS
    figure, (axes,) = new_figure(height)
    quiet_grid(axes, "y")
    scattered = all(trace.line == "none" for trace in panel.traces)
    if scattered:
        quiet_grid(axes, "x")
    across, up = times(panel.x), times(panel.y)
    for trace in panel.traces:
        _trace(axes, chart, trace, across, up)
    if scattered:
        axes.margins(0.12)
    elif panel.x.low is None:
        axes.margins(x=0.01)
    _limit(axes, panel)
    _rules(axes, panel)
    if panel.ticks and panel.x.unit == "number":
        axes.set_xticks([at for at, _ in panel.ticks], [literal(text) for _, text in panel.ticks])
    _names(axes, panel, (WIDTH - _TAKEN[0], height - _TAKEN[1]))
    axes.set_xlabel(panel.x.title)
    axes.set_ylabel(panel.y.title)
    if panel.title:
        axes.set_title(str(panel.title), fontsize=7, loc="left")
    used = sorted({trace.series for trace in panel.traces})
    shown = [series for i, series in enumerate(chart.series) if i in used]
    stepped: dict[int, Any] = {
        trace.series: "area" if trace.line == "area" else "-"
        for trace in panel.traces
        if trace.line in ("area", "steps")
    }
    lines = {i: _LINES[i % len(_LINES)] if chart.legend == "lines" else None for i in used}
    styles = [stepped.get(i, lines[i]) for i in used]
    legend_above(figure, shown, styles=styles)
    return figure


def _trace(axes: Axes, chart: Plot, trace: Trace, across: float, up: float) -> None:
    series = chart.series[trace.series]
    color = color_of(series)
    xs, ys = [across * point.x for point in trace.points], [up * point.y for point in trace.points]
    if trace.band:
        places = [across * x for x, _, _ in trace.band]
        lows, highs = [up * low for _, low, _ in trace.band], [up * high for _, _, high in trace.band]
        axes.fill_between(places, lows, highs, color=color, alpha=0.16, linewidth=0)
    if trace.line == "area":
        axes.fill_between(xs, ys, step="post", color=color, alpha=AREA, linewidth=0)
    elif trace.line == "steps":
        axes.step(xs, ys, where="post", color=color, linewidth=1.0)
    elif trace.line == "thin":
        axes.plot(xs, ys, color=color, linewidth=0.5, alpha=0.8)
    elif trace.line == "curve":
        style = _LINES[trace.series % len(_LINES)] if chart.legend == "lines" else "-"
        axes.plot(xs, ys, color=color, linewidth=1.1, linestyle=style)
    for point in trace.points:
        if point.low is not None and point.high is not None:
            x = across * point.x
            axes.plot([x, x], [up * point.low, up * point.high], color=color, linewidth=0.7)
    marked = [(across * point.x, up * point.y) for point in trace.points if point.hover]
    if marked:
        axes.plot(
            *zip(*marked, strict=True), linestyle="none", marker=marker_of(series), markersize=4, color=color,
            markeredgecolor="white", markeredgewidth=0.4,
        )  # fmt: skip


def _limit(axes: Axes, panel: Panel) -> None:
    def ends(axis: Axis) -> tuple[float | None, float | None]:
        factor = times(axis)
        low, high = (None if end is None else factor * end for end in (axis.low, axis.high))
        return low, high

    axes.set_xlim(*ends(panel.x))
    axes.set_ylim(*ends(panel.y))


def _rules(axes: Axes, panel: Panel) -> None:
    style: dict[str, Any] = {"color": MUTED, "linewidth": 0.7, "linestyle": (0, (3, 2)), "zorder": 0}
    for rule in panel.rules:
        if rule.across == "diagonal":
            limits = axes.get_xlim(), axes.get_ylim()
            low, high = max(limits[0][0], limits[1][0]), min(limits[0][1], limits[1][1])
            if low < high:
                axes.plot([low, high], [low, high], **style)
        elif rule.across == "y":
            axes.axhline(times(panel.y) * rule.at, **style)
        else:
            axes.axvline(times(panel.x) * rule.at, **style)


def _names(axes: Axes, panel: Panel, room: tuple[float, float]) -> None:
    """Names next to their marks, where there is room."""
    named = [point for trace in panel.traces for point in trace.points if point.name]
    if not named:
        return
    limits = axes.get_xlim(), axes.get_ylim()
    scales = [size / (high - low) for size, (low, high) in zip(room, limits, strict=True)]
    shown = [literal(point.name) for point in named]
    middles = [
        ((times(panel.x) * point.x - limits[0][0]) * scales[0], (times(panel.y) * point.y - limits[1][0]) * scales[1])
        for point in named
    ]
    widths = [width_of([name], _LETTERS) for name in shown]
    for name, place in zip(shown, place_names(middles, widths, _LETTERS / 72, 0.05, (0.0, 0.0, *room)), strict=True):
        if place is not None:
            at, level = (low + each / scale for each, scale, (low, _) in zip(place, scales, limits, strict=True))
            axes.text(at, level, name, fontsize=_LETTERS, color=MUTED, ha="center", va="center")
    axes.set_xlim(limits[0])
    axes.set_ylim(limits[1])
