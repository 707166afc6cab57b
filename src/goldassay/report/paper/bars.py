"""Horizontal bars from zero, in groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.report.charts.axes import times
from goldassay.report.paper.style import (
    INK,
    MUTED,
    color_of,
    legend_above,
    literal,
    new_figure,
    quiet_grid,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from goldassay.core.charts import Bars


def draw(chart: Bars) -> Figure:
    """Draw the bars of a group close to each other, next to its name."""
    most = max(len(group.bars) for group in chart.groups)
    bars = sum(len(group.bars) for group in chart.groups)
    figure, (axes,) = new_figure(max(1.3, 0.6 + 0.12 * bars + 0.08 * len(chart.groups)))
    quiet_grid(axes, "x")
    high, factor = 0.8 / most, times(chart.axis)
    for place, group in enumerate(chart.groups):
        for position, bar in enumerate(group.bars):
            y = place + high * (position - (len(group.bars) - 1) / 2)
            axes.barh(y, factor * bar.value, height=0.9 * high, color=color_of(chart.series[bar.series]))
            if bar.low is not None and bar.high is not None:
                ends = [factor * bar.low, factor * bar.high]
                axes.plot(ends, [y, y], color=INK, linewidth=0.7, solid_capstyle="butt")
    axes.axvline(0, color=MUTED, linewidth=0.6)
    for rule in chart.rules:
        axes.axvline(factor * rule.at, color=MUTED, linewidth=0.9, linestyle="-" if rule.solid else "--")
    axes.set_yticks(range(len(chart.groups)), [literal(group.name) for group in chart.groups])
    axes.set_ylim(len(chart.groups) - 0.5, -0.5)
    if chart.axis.low is not None and chart.axis.high is not None:
        axes.set_xlim(factor * chart.axis.low, factor * chart.axis.high)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(chart.axis.title)
    legend_above(figure, chart.series, bars=True)
    return figure
