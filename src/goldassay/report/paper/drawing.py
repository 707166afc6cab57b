"""Horizontal bars from zero, in groups.

Dots with intervals, row by row.

A matrix of a few cells, colored by sign and size.

A square matrix of hundreds of rows, block by block.

Two value axes: curves, steps, slopes and scattered points.

Points on a plane that is a map, with groups outlined.

Charts as figures for papers: each as the bytes of a file, one module a kind.
"""

from __future__ import annotations

import base64
import io
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon, Rectangle
from matplotlib.textpath import TextPath

from goldassay.core.charts import (
    MAP_EXTENT,
    Axis,
    Bars,
    Chart,
    Dot,
    DotRow,
    Dots,
    Matrix,
    Panel,
    PixelMatrix,
    Plot,
    PointMap,
    Rule,
    Series,
    Trace,
)
from goldassay.report.charts.maps import UNDEFINED, place_names, times
from goldassay.report.charts.svg import LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage


# A column of the usual two-column layouts, in inches.
WIDTH = 3.3
# Around a square panel, and for the bar of colors below it.
_EDGE, _BAR = 0.07, 0.4
# Opacity of filled steps.
AREA = 0.3
# What a legend entry takes next to its name, in inches.
_SAMPLE = 0.33
MARKERS = ("o", "s", "^", "D", "P", "X")
BLUE, RED, INK, MUTED, GRID = LIGHT["s0"], LIGHT["s2"], LIGHT["ink"], LIGHT["muted"], LIGHT["grid"]
DIVERGING = LinearSegmentedColormap.from_list("goldassay", [RED, "#ffffff", BLUE])

_RC: dict[Any, Any] = {
    "font.family": "sans-serif",
    # It comes with matplotlib, so that every machine draws the same.
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 7.0,
    "axes.labelsize": 7.0,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "axes.linewidth": 0.6,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.handletextpad": 0.3,
    "legend.columnspacing": 1.0,
    "axes.unicode_minus": True,
    # TrueType: what journals ask for, and what remains text.
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
    "svg.hashsalt": "goldassay",
    "text.usetex": False,
}
_NO_DATE: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {"Software": None}}


def rendered(draw: Callable[[], Figure], kind: str) -> bytes:
    """Draw a figure in this style, whatever the user's own settings, and give its bytes."""
    stream = io.BytesIO()
    with rc_context():
        # The user's matplotlibrc would make figures differ from machine to machine.
        rcdefaults()
        rcParams.update(_RC)
        with warnings.catch_warnings():
            # Names in other scripts than the font has become boxes, as they would in the user's own figures.
            warnings.filterwarnings("ignore", message="Glyph")
            draw().savefig(stream, format=kind, dpi=300, metadata=_NO_DATE[kind])
    return stream.getvalue()


def new_figure(height: float, rows: int = 1, width: float = WIDTH) -> tuple[Figure, list[Axes]]:
    """A figure of so many panels below each other, in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    grid = figure.subplots(rows, 1, squeeze=False)
    return figure, [row[0] for row in grid]


def square_figure(side: float, left: float, below: float) -> tuple[Figure, Axes, Axes]:
    """A square panel with names beside it, and below all a bar for its colors; the layout engine knows no squares.

    Args:
        side: Of the panel, in inches; less where names and panel are wider than a column.
        left: What the names at its left take.
        below: What the names below it take.
    """
    side = min(side, WIDTH - left - _EDGE)
    wide, high = left + side + _EDGE, _EDGE + side + below + _BAR
    figure = Figure(figsize=(wide, high))
    axes = figure.add_axes((left / wide, (below + _BAR) / high, side / wide, side / high))
    bar = figure.add_axes((left / wide, 0.27 / high, side / wide, 0.07 / high))
    return figure, axes, bar


def width_of(texts: Sequence[str], size: float) -> float:
    """The width of the widest of some texts, in inches."""
    font = FontProperties(family="DejaVu Sans")
    widths = [TextPath((0, 0), text, size=size, prop=font).get_extents().width for text in texts if text.strip()]
    return max(widths, default=0.0) / 72


def color_bar(figure: Figure, image: AxesImage, place: Axes, measured: str) -> None:
    """A bar of the colors from -1 to 1, with what they mean."""
    bar = figure.colorbar(image, cax=place, orientation="horizontal", ticks=[-1, 0, 1])
    bar.set_label(measured, labelpad=1)
    bar.outline.set_visible(False)
    place.tick_params(length=0, pad=1)


def color_of(series: Series) -> str:
    """The color of a series."""
    return LIGHT[series.color]


def marker_of(series: Series) -> str:
    """The marker of a series."""
    return MARKERS[series.marker % len(MARKERS)]


def label_rules(axes: Axes, rules: Sequence[Rule]) -> None:
    """Name the dashed lines above the axes."""
    labels = [rule.label for rule in rules if rule.label]
    if labels:
        axes.set_title(f"dashed: {', '.join(labels)}", fontsize=6.5, color=MUTED, loc="right")


def legend_above(
    figure: Figure,
    series: Sequence[Series],
    *,
    bars: bool = False,
    styles: Sequence[Any] = (),
) -> None:
    """A legend above all, in as many columns as there is room for, where there are several series.

    `bars` shows patches; `styles` shows a line in each style, a patch for "area", a marker for None.
    """
    if len(series) < 2:
        return
    handles: list[Any] = []
    names = [literal(each.name) for each in series]
    for each, name, style in zip(series, names, styles or [None] * len(series), strict=True):
        if bars:
            handles.append(Patch(color=color_of(each), label=name))
        elif style == "area":
            handles.append(Patch(color=color_of(each), alpha=AREA, linewidth=0, label=name))
        elif style is not None:
            handles.append(Line2D([], [], color=color_of(each), linewidth=1.2, linestyle=style, label=name))
        else:
            handles.append(
                Line2D(
                    [],
                    [],
                    linestyle="none",
                    marker=marker_of(each),
                    markersize=4,
                    color=color_of(each),
                    label=name,
                    markeredgecolor="white",
                    markeredgewidth=0.4,
                )
            )
    room = int(WIDTH / (width_of(names, 6.5) + _SAMPLE))
    figure.legend(handles=handles, loc="outside upper center", ncols=max(1, min(room, len(names))))


def quiet_grid(axes: Axes, axis: str) -> None:
    """Fine lines behind the marks along one axis."""
    axes.set_axisbelow(True)
    axes.grid(True, axis="x" if axis == "x" else "y", color=GRID, linewidth=0.6)


def literal(text: object) -> str:
    """A text out of the data, with what matplotlib would take for mathematics made harmless, and not too long."""
    clean = " ".join(str(text).split()).replace("$", r"\$")
    return clean if len(clean) <= 28 else f"{clean[:27]}…"


def draw_bars(chart: Bars) -> Figure:
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


# Names that would leave too little of the width are set on two lines.
_WIDEST_NAMES = 0.45


def draw_dots(chart: Dots) -> Figure:
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


# In more columns than these a value is wider than its cell.
_MOST_WRITTEN = 9


def draw_matrix(chart: Matrix) -> Figure:
    """Draw the first grid; charts for papers have one."""
    (grid,) = chart.grids
    rows, columns = [literal(name) for name in grid.rows], [literal(name) for name in grid.columns]
    values = [[float("nan")] * len(columns) for _ in rows]
    for cell in grid.cells:
        values[cell.row][cell.column] = float("nan") if cell.strength is None else cell.strength
    below = width_of(columns, 6.5) + 0.1
    # Names below are set at 45 degrees.
    figure, axes, place = square_figure(0.42 * len(columns), width_of(rows, 6.5) + 0.1, 0.75 * below + 0.05)
    image = axes.imshow(values, cmap=DIVERGING, vmin=-1, vmax=1)
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for cell in grid.cells if len(columns) <= _MOST_WRITTEN else ():
        if cell.strength is not None:
            color = "white" if abs(cell.strength) > 0.6 else "black"
            axes.text(cell.column, cell.row, cell.text, ha="center", va="center", fontsize=6, color=color)
    color_bar(figure, image, place, chart.measured)
    return figure


# Names closer than this share of the matrix would run into each other.
_APART = 0.048
_LETTERS = 5.5


def draw_pixel_matrix(chart: PixelMatrix) -> Figure:
    """Draw the first matrix; charts for papers have one."""
    (grid,) = chart.grids
    size = grid.size
    raw = np.frombuffer(base64.b64decode(grid.values), np.int8).reshape(size, size)
    values = np.where(raw == UNDEFINED, np.nan, raw / 100.0)
    shown = [literal(block.name) for block in grid.blocks]
    left = width_of(shown, _LETTERS) + 0.1 if shown else 0.2
    figure, axes, place = square_figure(WIDTH, left, 0.05)
    image = axes.imshow(values, cmap=DIVERGING, vmin=-1, vmax=1, interpolation="nearest", aspect="equal")
    start, written = 0.0, -float(size)
    ticks, names = [], []
    for block, name in zip(grid.blocks, shown, strict=True):
        middle = start + block.size / 2
        corner = (start - 0.5, start - 0.5)
        axes.add_patch(Rectangle(corner, block.size, block.size, fill=False, edgecolor=MUTED, linewidth=0.4))
        if middle - written >= _APART * size:
            ticks.append(middle - 0.5)
            names.append(name)
            written = middle
        start += block.size
    axes.set_yticks(ticks, names, fontsize=_LETTERS)
    axes.set_xticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set(visible=True, linewidth=0.4)
    if not names:
        axes.set_ylabel("examples", labelpad=2)
    color_bar(figure, image, place, chart.measured)
    return figure


# Pixels of the page to an inch of the figure.
_PIXELS = 80
# What axes take of width and height, in inches; the layout is made too late to place names by it.
_TAKEN = (0.55, 0.75)
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))


def draw_plot(chart: Plot) -> Figure:
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


_HEIGHT = 3.3
_MARGIN = 40


def draw_point_map(chart: PointMap) -> Figure:
    """Draw one color a series; groups with a large value are outlined in full, others dotted."""
    figure, (axes,) = new_figure(_HEIGHT)
    x, y, labels = (np.array(values) for values in (chart.x, chart.y, chart.labels))
    for number, series in enumerate(chart.series):
        inside = labels == number
        if inside.any():
            # Thousands of marks as shapes would make the file as large as a dataset.
            axes.scatter(
                x[inside], y[inside], s=1.4, color=color_of(series), alpha=0.6, linewidths=0, rasterized=True,
                label=literal(series.name) or None,
            )  # fmt: skip
    for outline in chart.outlines:
        style = "-" if outline.strong else (0, (1, 1.5))
        width = 0.8 if outline.strong else 0.5
        corners = np.array(outline.corners)
        axes.add_patch(Polygon(corners, fill=False, edgecolor=INK, linewidth=width, linestyle=style))
    axes.set_xlim(-_MARGIN, MAP_EXTENT + _MARGIN)
    axes.set_ylim(-_MARGIN, MAP_EXTENT + _MARGIN)
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set(visible=True, linewidth=0.4)
    figure.legend(loc="outside upper center", ncols=3, markerscale=4)
    return figure


_DRAWERS: dict[type[Chart], Callable[[Any], Figure]] = {
    Bars: draw_bars,
    Dots: draw_dots,
    Matrix: draw_matrix,
    PixelMatrix: draw_pixel_matrix,
    Plot: draw_plot,
    PointMap: draw_point_map,
}


def draw_figures(charts: Mapping[str, Chart], kind: str) -> dict[str, bytes]:
    """Draw charts, by name.

    Args:
        charts: Charts by name.
        kind: "pdf", "svg" or "png".
    """
    return {name: rendered(partial(draw_figure, chart), kind) for name, chart in charts.items()}


def draw_figure(chart: Chart) -> Figure:
    """Draw a chart one column wide."""
    return _DRAWERS[type(chart)](chart)
