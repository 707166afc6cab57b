"""Points on a plane that is a map, with groups outlined.

Ten thousand points are a picture of pixels, by series. The page's script draws them anew by group or by the groups'
value, and shows the text of the point under the pointer; the outlines are shapes that answer without a script, too.
"""

from __future__ import annotations

import base64
from array import array
from typing import TYPE_CHECKING

from goldassay.core.charts import MAP_EXTENT
from goldassay.report.charts.axes import legend
from goldassay.report.charts.page_data import as_page_data, data_id
from goldassay.report.charts.png import png_address
from goldassay.report.charts.svg import Canvas
from goldassay.report.palette import LIGHT, N_SERIES

if TYPE_CHECKING:
    from goldassay.core.charts import PointMap

_PIXELS = 880
_DOT = 3
_MOST_NAMED = 6


def draw(chart: PointMap, width: int) -> Canvas:
    """Draw a square of points, one color a series, and the outlines."""
    canvas = Canvas(width, 0, chart.label)
    top = legend(canvas, chart.series[:_MOST_NAMED], 0, 16, width) + 4
    side = float(min(width, 620))
    canvas.bar(0, top, side, side, "paper-sheet")
    canvas.image(0, top, side, side, png_address(_pixels(chart)), "dots")
    scale = side / MAP_EXTENT
    for outline in chart.outlines:
        path = "M" + "L".join(f"{x * scale:.1f} {top + side - y * scale:.1f}" for x, y in outline.corners) + "z"
        canvas.path(path, "outline" if outline.strong else "outline faint", outline.hover)
    canvas.height = top + side + 4
    canvas.data = {"map": data_id(chart.name), "top": f"{top:g}", "side": f"{side:g}"}
    return canvas


def points_as_json(chart: PointMap) -> str:
    """The points for the page's script; places and numbers packed as unsigned numbers, the lesser byte first."""
    packed = {
        name: base64.b64encode(array(kind, values).tobytes()).decode("ascii")
        for name, kind, values in (
            ("x", "H", chart.x),
            ("y", "H", chart.y),
            ("labels", "B", chart.labels),
            ("groups", "H", chart.groups),
        )
    }
    return as_page_data(
        {
            **packed,
            "texts": chart.texts or None,
            "values": chart.group_values,
            "label_names": [series.name for series in chart.series],
            "outlined": [outline.group for outline in chart.outlines],
            "group_is": chart.group_is,
            "value_is": chart.value_is,
        }
    )


def _pixels(chart: PointMap) -> list[bytes]:
    """Rows of pixels: a small square a point, later ones over earlier ones."""
    colors = [bytes.fromhex(LIGHT[f"s{series}"][1:]) + b"\xc8" for series in range(N_SERIES)]
    rows = [bytearray(4 * _PIXELS) for _ in range(_PIXELS)]
    scale = (_PIXELS - _DOT) / MAP_EXTENT
    for x, y, label in zip(chart.x, chart.y, chart.labels, strict=True):
        left, top = int(x * scale), int((MAP_EXTENT - y) * scale)
        run = colors[label % N_SERIES] * _DOT
        for row in rows[top : top + _DOT]:
            row[4 * left : 4 * left + len(run)] = run
    return [bytes(row) for row in rows]
