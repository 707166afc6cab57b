"""Scales, ticks and legends that several pictures share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.report.figures.svg import Canvas, marker, shortened, text_width
from goldassay.report.palette import N_SERIES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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


def vertical_grid(
    canvas: Canvas, scale: Scale, top: float, bottom: float, show: Callable[[float], str], n: int = 5
) -> None:
    """Vertical grid lines with their values under them."""
    for value in scale.ticks(n):
        x = scale(value)
        canvas.line(x, top, x, bottom, "grid")
        canvas.text(x, bottom + 17, show(value), "quiet small", "middle")


def horizontal_grid(
    canvas: Canvas, scale: Scale, left: float, right: float, show: Callable[[float], str], n: int = 5
) -> None:
    """Horizontal grid lines with their values to the left."""
    for value in scale.ticks(n):
        y = scale(value)
        canvas.line(left, y, right, y, "grid")
        canvas.text(left - 8, y + 4, show(value), "quiet small", "end")


def legend(canvas: Canvas, names: Sequence[str], x: float, y: float, right: float) -> float:
    """A line of markers with names, broken where it must be; returns the y below it."""
    at = x
    for series, name in enumerate(names):
        shown = shortened(name, right - x - 24)
        width = 18 + text_width(shown) + 18
        if at > x and at + width - 18 > right:
            at, y = x, y + 20
        canvas.path(marker(series, at + 5, y - 4.5, 4.5), f"f{series % N_SERIES}")
        canvas.text(at + 15, y, shown)
        at += width
    return y + 12
