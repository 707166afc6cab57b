"""Charts as SVG: each kind has one function that draws it at a width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.core.charts import Bars, Chart, Cloud, Dots, Matrix, PixelMatrix, Plot, PointMap, Stacks
from goldassay.report.charts import maps, plots

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goldassay.report.charts.svg import Canvas

WIDE, NARROW = 720, 344

_DRAWERS: dict[type[Chart], Callable[[Any, int], Canvas]] = {
    Bars: plots.draw_bars,
    Cloud: maps.draw_cloud,
    Dots: plots.draw_dots,
    Matrix: maps.draw_matrix,
    PixelMatrix: maps.draw_pixel_matrix,
    Plot: plots.draw_plot,
    PointMap: maps.draw_point_map,
    Stacks: plots.draw_stacks,
}
_DATA: dict[type[Chart], Callable[[Any], str]] = {Cloud: maps.cloud_as_json, PointMap: maps.point_map_as_json}


@dataclass(frozen=True)
class Picture:
    """A chart drawn for a screen, for a phone, and as a file.

    Attributes:
        name: Name of the chart.
        title: Its title.
        caption: Its caption.
        wide: SVG element for a wide screen.
        narrow: SVG element for a phone.
        standalone: SVG file.
        data: JSON that the page's script needs to answer to the pointer; empty where the SVG holds everything.
    """

    name: str
    title: str
    caption: str
    wide: str
    narrow: str
    standalone: str
    data: str = ""


def draw_chart(chart: Chart, width: int) -> Canvas:
    """Draw a chart at a width in pixels."""
    canvas = _DRAWERS[type(chart)](chart, width)
    canvas.label = chart.label
    return canvas


def draw_picture(chart: Chart) -> Picture:
    """Draw a chart at both widths and as a file."""
    wide, narrow = draw_chart(chart, WIDE), draw_chart(chart, NARROW)
    data = _DATA[type(chart)](chart) if type(chart) in _DATA else ""
    return Picture(chart.name, chart.title, chart.legend_text, wide.inline(), narrow.inline(), wide.standalone(), data)


def draw_pictures(charts: Mapping[str, Chart]) -> dict[str, Picture]:
    """Draw every chart of a report."""
    return {name: draw_picture(chart) for name, chart in charts.items()}
