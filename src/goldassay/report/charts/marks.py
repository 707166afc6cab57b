"""Marks of series, and the CSS classes of their colors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.report.charts.svg import marker

if TYPE_CHECKING:
    from goldassay.core.charts import Series
    from goldassay.report.charts.svg import Canvas


def fill(series: Series) -> str:
    """The class that fills with the color of a series."""
    return f"f{series.color[1:]}" if series.color[1:].isdigit() else series.color


def stroke(series: Series) -> str:
    """The class that draws lines in the color of a series; other than numbered colors have none."""
    return f"l{series.color[1:]}" if series.color[1:].isdigit() else "axis"


def draw_mark(
    canvas: Canvas, series: Series, x: float, y: float, radius: float, css: str, hover: str, *, hollow: bool = False
) -> None:
    """The marker of a series around a point; it answers to the pointer where it has a hover text."""
    shown = f"sheet {stroke(series)} curve" if hollow else css
    canvas.path(marker(series.marker, x, y, radius), shown, hover or None)


def whisker(canvas: Canvas, low: float, high: float, y: float, half: float = 4.0) -> None:
    """An interval as a horizontal line with caps, in pixels."""
    canvas.path(f"M{low:.1f} {y - half:.1f}v{2 * half:g}m0 {-half:g}H{high:.1f}m0 {-half:g}v{2 * half:g}", "whisker")
