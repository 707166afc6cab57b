"""How figures for papers look: one column wide, legible at that width, the same bytes each time."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from goldassay.report.outline import records
from goldassay.report.palette import LIGHT, N_SERIES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

# A column of the usual two-column layouts, in inches.
WIDTH = 3.3
# Around a square panel, and for the bar of colors below it.
_EDGE, _BAR = 0.07, 0.4
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


def color_bar(figure: Figure, image: AxesImage, place: Axes) -> None:
    """The colors of rank correlations."""
    bar = figure.colorbar(image, cax=place, orientation="horizontal", ticks=[-1, 0, 1])
    bar.set_label("rank correlation", labelpad=1)
    bar.outline.set_visible(False)
    place.tick_params(length=0, pad=1)


def series(position: int) -> tuple[str, str]:
    """Color and marker of the i-th series; each combination is met once before any recurs."""
    color = LIGHT[f"s{position % N_SERIES}"]
    return color, MARKERS[(position + position // N_SERIES) % len(MARKERS)]


def quiet_grid(axes: Axes, axis: str) -> None:
    """Fine lines behind the marks along one axis."""
    axes.set_axisbelow(True)
    axes.grid(True, axis="x" if axis == "x" else "y", color=GRID, linewidth=0.6)


def literal(text: object) -> str:
    """A text out of the data, with what matplotlib would take for mathematics made harmless, and not too long."""
    clean = " ".join(str(text).split()).replace("$", r"\$")
    return clean if len(clean) <= 28 else f"{clean[:27]}…"


def slug(text: object) -> str:
    """A text as part of a file's name."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", str(text)).strip("-.") or "unnamed"


def ordered_results(found: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows of results, those on the reference first."""
    reference = found.get("reference")
    return sorted(records(found.get("results")), key=lambda row: row.get("dataset") != reference)
