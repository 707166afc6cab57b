"""Square matrices of hundreds of rows, a pixel a value."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from goldassay.report.charts.png import png_address
from goldassay.report.charts.svg import Canvas, shortened
from goldassay.report.palette import LIGHT

if TYPE_CHECKING:
    from goldassay.core.charts import PixelGrid, PixelMatrix

_HEAD, _LINE, _SIDE = 26, 13, 430
UNDEFINED = -128


def draw(chart: PixelMatrix, width: int) -> Canvas:
    """Draw a square a grid, with its blocks named at the left where there is room."""
    canvas = Canvas(width, 0, chart.label)
    y = 0.0
    for grid in chart.grids:
        y = _grid(canvas, grid, y) + 24
    canvas.height = y - 14
    return canvas


def _grid(canvas: Canvas, grid: PixelGrid, y: float) -> float:
    canvas.text(0, y + 16, shortened(grid.title, canvas.width), "strong")
    left = min(0.3 * canvas.width, 190.0) if grid.blocks else 0.0
    side = min(canvas.width - left - 2, float(_SIDE))
    top = y + _HEAD
    canvas.bar(left, top, side, side, "sheet")
    canvas.image(left, top, side, side, png_address(_rows(grid)))
    start, written = 0.0, top - 5
    for block in grid.blocks:
        share = side * block.size / grid.size
        canvas.bar(left + start, top + start, share, share, "frame", block.hover)
        middle = top + start + share / 2
        if middle - written >= _LINE:
            canvas.text(left - 8, middle + 4, shortened(block.name, left - 10), "small", "end")
            written = middle
        start += share
    return top + side


def _rows(grid: PixelGrid) -> list[bytes]:
    """Pixels: blue or red, the more opaque the stronger."""
    colors = {code: _pixel(code) for code in range(-128, 128)}
    signed = memoryview(base64.b64decode(grid.values)).cast("b").tolist()
    size = grid.size
    return [b"".join(colors[code] for code in signed[row * size : (row + 1) * size]) for row in range(size)]


def _pixel(code: int) -> bytes:
    if code == UNDEFINED:
        return bytes(4)
    color = LIGHT["s0" if code >= 0 else "s2"]
    return bytes.fromhex(color[1:]) + bytes([min(255, round(2.45 * abs(code)))])
