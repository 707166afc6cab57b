"""Names beside marks, as far as there is room for them.

Scales, ticks and legends that several pictures share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.core.numbers import count, decimal, percent, points, signed_points
from goldassay.report.charts.svg import Canvas, fill, marker, shortened, stroke, text_width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goldassay.core.charts import Axis, Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    Box = tuple[float, float, float, float]


def place_names(
    marks: Sequence[tuple[float, float]], widths: Sequence[float], height: float, gap: float, room: Box
) -> list[tuple[float, float] | None]:
    """Where each mark's name goes: right of it, left, above or below, whichever is free first; None where nothing is.

    Args:
        marks: Centers, the second number growing downwards or upwards alike.
        widths: Of the names.
        height: Of all names.
        gap: From a mark's center to its name, and half the side of the square that the mark takes.
        room: Left, lower, right and upper bound of where names may be.

    Returns:
        The middle of each name.
    """
    taken = [(x - 0.8 * gap, y - 0.8 * gap, x + 0.8 * gap, y + 0.8 * gap) for x, y in marks]
    places: list[tuple[float, float] | None] = []
    for (x, y), width in zip(marks, widths, strict=True):
        aside, over = gap + width / 2, gap + height / 2
        tried = ((x + aside, y), (x - aside, y), (x, y - over), (x, y + over))
        boxes = [(a - width / 2, b - height / 2, a + width / 2, b + height / 2) for a, b in tried]
        free = next((at for at, box in enumerate(boxes) if _inside(box, room) and not _meets(box, taken)), None)
        places.append(None if free is None else tried[free])
        if free is not None:
            taken.append(boxes[free])
    return places


def _inside(box: Box, room: Box) -> bool:
    return box[0] >= room[0] and box[1] >= room[1] and box[2] <= room[2] and box[3] <= room[3]


def _meets(box: Box, others: Sequence[Box]) -> bool:
    return any(box[0] < o[2] and o[0] < box[2] and box[1] < o[3] and o[1] < box[3] for o in others)


@dataclass(frozen=True)
class Scale:
    """A value's place on an axis: linear, or logarithmic, from `low`..`high` to `start`..`end` pixels."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value, in pixels."""
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, n: int = 5) -> list[float]:
        """About `n` round values inside the scale; whole powers of ten, or 1-2-5 of them, on a logarithmic one."""
        if self.log:
            decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            spread = math.log10(self.high / self.low)
            steps = (1,) if spread > n - 1 else (1, 3) if spread > n / 2 else (1, 2, 5)
            values = [step * 10.0**decade for decade in decades for step in steps]
            return [value for value in values if self.low <= value <= self.high]
        raw = (self.high - self.low) / max(n, 1)
        size = 10.0 ** math.floor(math.log10(raw))
        step = next(size * k for k in (1, 2, 2.5, 5, 10) if size * k >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [i * step for i in range(first, math.floor(self.high / step + 1e-9) + 1)]


def scale_for(axis: Axis, values: Sequence[float], start: float, end: float, pad: float = 0.05) -> Scale:
    """The scale of an axis: its own ends where it has any, else those of the values with a margin of `pad`."""
    least, most = min(values, default=0.0), max(values, default=1.0)
    if axis.log:
        # Wide enough for one of 1, 2 and 5 to lie between the ends, however alike the values are.
        low, high = (least / 1.6 if axis.low is None else axis.low), (most * 1.6 if axis.high is None else axis.high)
        return Scale(low, high, start, end, log=True)
    margin = pad * (most - least)
    low = least - margin if axis.low is None else axis.low
    high = most + margin if axis.high is None else axis.high
    if high <= low:
        half = _HALF_OF_NOTHING.get(axis.unit, 0.5)
        low, high = (low - half if axis.low is None else low), low + half
    return Scale(low, high, start, end)


# Half the span around values that are all the same.
_HALF_OF_NOTHING = {"points": 0.005, "signed points": 0.005, "percent": 0.05}


def printed_ticks(axis: Axis, scale: Scale, n: int) -> list[tuple[float, str]]:
    """About `n` round values inside a scale, each as it is printed: with as many decimals as tell all of them apart."""
    values = scale.ticks(n)
    if axis.unit == "count":
        # Between whole numbers there is nothing to count: two ranks would be named 1, 1, 2, 2.
        values = [value for value in values if abs(value - round(value)) < 1e-9] or values
    digits = max(axis.digits or 0, _decimals([times(axis) * value for value in values]))
    printers: dict[str, Callable[[float], str]] = {
        "points": lambda value: points(value, digits),
        "signed points": lambda value: signed_points(value, digits),
        "percent": lambda value: percent(value, digits),
        "number": lambda value: decimal(value, digits),
        "count": count,
        "size": short_size,
    }
    return [(value, printers[axis.unit](value)) for value in values]


def times(axis: Axis) -> float:
    """What a value is multiplied by to be printed in the unit of its axis."""
    return 100.0 if axis.unit in ("points", "signed points", "percent") else 1.0


def _decimals(values: Sequence[float], most: int = 4) -> int:
    """The fewest decimals that print values exactly."""
    for digits in range(most):
        if all(abs(value - round(value, digits)) <= 1e-9 * max(1.0, abs(value)) for value in values):
            return digits
    return most


def value_text(axis: Axis, value: float) -> str:
    """One value in the unit of its axis."""
    return (
        count(value) if axis.unit in ("count", "size") else percent(value) if axis.unit == "percent" else points(value)
    )


def short_size(size: float) -> str:
    """A size with a unit: 1k, 1M, 1B."""
    for scale, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if size >= scale:
            return f"{decimal(size / scale, 0)}{unit}"
    return count(size)


def vertical_grid(canvas: Canvas, axis: Axis, scale: Scale, top: float, bottom: float, n: int) -> None:
    """Vertical grid lines with their values under them."""
    for value, text in printed_ticks(axis, scale, n):
        x = scale(value)
        canvas.line(x, top, x, bottom, "grid")
        canvas.text(x, bottom + 17, text, "quiet small", "middle")


def horizontal_grid(canvas: Canvas, axis: Axis, scale: Scale, left: float, right: float, n: int) -> None:
    """Horizontal grid lines with their values to the left."""
    for value, text in printed_ticks(axis, scale, n):
        y = scale(value)
        canvas.line(left, y, right, y, "grid")
        canvas.text(left - 8, y + 4, text, "quiet small", "end")


def legend(canvas: Canvas, series: Sequence[Series], x: float, y: float, right: float) -> float:
    """A line of markers with names, broken where it must be; returns the y below it."""

    def draw(at: float, y: float, each: Series) -> None:
        canvas.path(marker(each.marker, at + 5, y - 4.5, 4.5), fill(each))

    return _entries(canvas, series, (x, right), y, 15, draw)


def line_legend(canvas: Canvas, series: Sequence[Series], x: float, y: float, right: float) -> float:
    """A line of line samples with names, broken where it must be; returns the y below it."""

    def draw(at: float, y: float, each: Series) -> None:
        canvas.line(at, y - 4.5, at + 20, y - 4.5, f"curve {stroke(each)}")

    return _entries(canvas, series, (x, right), y, 26, draw)


def _entries(
    canvas: Canvas,
    series: Sequence[Series],
    ends: tuple[float, float],
    y: float,
    sample: float,
    draw: Callable[[float, float, Series], None],
) -> float:
    at, right = ends
    for each in series:
        shown = shortened(each.name, right - ends[0] - sample - 9)
        width = sample + text_width(shown) + 21
        if at > ends[0] and at + width - 18 > right:
            at, y = ends[0], y + 20
        draw(at, y, each)
        canvas.text(at + sample, y, shown)
        at += width
    return y + 12
