"""Charts as figures for papers: each as the bytes of a file, one module a kind."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Bars, Chart, Dots, Matrix, PixelMatrix, Plot, PointMap
from goldassay.report.paper import bars, dots, matrix, pixel_matrix, plot, point_map
from goldassay.report.paper.style import rendered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from matplotlib.figure import Figure

_DRAWERS: dict[type[Chart], Callable[[Any], Figure]] = {
    Bars: bars.draw,
    Dots: dots.draw,
    Matrix: matrix.draw,
    PixelMatrix: pixel_matrix.draw,
    Plot: plot.draw,
    PointMap: point_map.draw,
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
