"""Dots with intervals, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.report.charts.axes import times
from goldassay.report.paper.style import (
    MUTED,
    WIDTH,
    color_of,
    label_rules,
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

    from goldassay.core.charts import Dot, DotRow, Dots

# Names that would leave too little of the width are set on two lines.
_WIDEST_NAMES = 0.45


def draw(chart: Dots) -> Figure:
    """Draw a line a row; the rows of a group lie close to each other, next to its name."""
    names = [literal(group.name) for group in chart.groups]
    if " − " in "".join(names):
        # A difference of two names has room for both.
        names = [" − ".join(map(literal, group.name.split(" − ", 1))) for group in chart.groups]
    if broken := width_of(names, 6.5) > _WIDEST_NAMES * WIDTH:
        names = [name.replace(" − ", " −\n", 1) for name in names]
    most = max(len(group.rows) for group in chart.groups)
    slots = len(chart.groups) * most
    height = 0.55 + 0.13 * slots + 0.1 * len(chart.groups) if most > 1 else 0.55 + (0.26 if broken else 0.18) * slots
    figure, (axes,) = new_figure(max(1.0, height))
    quiet_grid(axes, "x")
    step = 0.8 / most
    for place, group in enumerate(chart.groups):
        for position, row in enumerate(group.rows):
            _row(axes, chart, row, place + (position - (len(group.rows) - 1) / 2) * step)
    factor = times(chart.axis)
    for rule in chart.rules:
        style = "-" if rule.solid else (0, (3, 2))
        axes.axvline(factor * rule.at, color=MUTED, linewidth=0.8, linestyle=style, zorder=0)
    label_rules(axes, chart.rules)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(chart.axis.title)
    legend_above(figure, chart.series)
    return figure


def _row(axes: Axes, chart: Dots, row: DotRow, y: float) -> None:
    factor = times(chart.axis)
    if row.span is not None and row.span_series is not None:
        color = color_of(chart.series[row.span_series])
        axes.plot([factor * end for end in row.span], [y, y], color=color, linewidth=0.7, alpha=0.6)
    for dot in row.dots:
        _dot(axes, chart, dot, y, factor)


def _dot(axes: Axes, chart: Dots, dot: Dot, y: float, factor: float) -> None:
    series = chart.series[dot.series]
    color = color_of(series)
    if dot.low is not None and dot.high is not None:
        axes.plot([factor * dot.low, factor * dot.high], [y, y], color=color, linewidth=1.0)
    axes.plot(
        factor * dot.value, y, linestyle="none", marker=marker_of(series), color=color,
        markersize=3.4 if chart.faint else 4, alpha=0.75 if chart.faint else None,
        markerfacecolor="white" if dot.hollow else color,
        markeredgecolor=color if dot.hollow else "white", markeredgewidth=0.9 if dot.hollow else 0.4,
    )  # fmt: skip
