"""Panels side by side, each with a heading and two axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.report.figures.axes import Scale, horizontal_grid
from goldassay.report.figures.svg import Canvas, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_GAP = 28
HEAD, FOOT, LEFT = 26, 40, 44


@dataclass(frozen=True)
class Panel:
    """Where a panel's axes lie, in pixels."""

    left: float
    right: float
    top: float
    bottom: float


def lay_out(canvas: Canvas, names: Sequence[str], height: float, y: float = 0.0) -> Iterator[Panel]:
    """One panel a name, two in a row where there is room, each below its name; sets the canvas's height."""
    per_row = 2 if canvas.width > 500 and len(names) > 1 else 1
    width = (canvas.width - _GAP * (per_row - 1)) / per_row
    high = HEAD + height + FOOT
    canvas.height = y + -(-len(names) // per_row) * high
    for position, name in enumerate(names):
        x, top = (position % per_row) * (width + _GAP), y + position // per_row * high
        canvas.text(x, top + 16, shortened(name, width), "strong")
        yield Panel(x + LEFT, x + width - 6, top + HEAD, top + HEAD + height)


def value_axis(
    canvas: Canvas, panel: Panel, low: float, high: float, show: Callable[[float], str], n: int = 4
) -> Scale:
    """The vertical axis of a panel, with its grid."""
    scale = Scale(low, high, panel.bottom, panel.top)
    horizontal_grid(canvas, scale, panel.left, panel.right, show, n)
    return scale


def under(canvas: Canvas, panel: Panel, ticks: Sequence[tuple[float, str]], title: str) -> None:
    """Values under a panel, and what they are of."""
    for x, text in ticks:
        anchor = "start" if x <= panel.left + 4 else "end" if x >= panel.right - 4 else "middle"
        canvas.text(x, panel.bottom + 16, text, "quiet small", anchor)
    canvas.text((panel.left + panel.right) / 2, panel.bottom + 32, title, "quiet small", "middle")
