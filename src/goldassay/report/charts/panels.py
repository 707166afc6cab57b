"""Panels side by side, each with a heading and two axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.report.charts.axes import horizontal_grid, scale_for
from goldassay.report.charts.svg import CODE_SIZE, Canvas, shortened, text_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goldassay.core.charts import Axis
    from goldassay.report.charts.axes import Scale

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
