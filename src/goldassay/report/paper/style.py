"""How figures for papers look: one column wide, legible at that width, the same bytes each time."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import TextPath

from goldassay.report.palette import LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

    from goldassay.core.charts import Rule, Series

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
