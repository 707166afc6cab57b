"""A square matrix of hundreds of rows, block by block."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Rectangle

from goldassay.report.charts.pixel_matrix import UNDEFINED
from goldassay.report.paper.style import DIVERGING, MUTED, WIDTH, color_bar, literal, square_figure, width_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from goldassay.core.charts import PixelMatrix

# Names closer than this share of the matrix would run into each other.
_APART = 0.048
_LETTERS = 5.5


def draw(chart: PixelMatrix) -> Figure:
    """Draw the first matrix; charts for papers have one."""
    (grid,) = chart.grids
    size = grid.size
    raw = np.frombuffer(base64.b64decode(grid.values), np.int8).reshape(size, size)
    values = np.where(raw == UNDEFINED, np.nan, raw / 100.0)
    shown = [literal(block.name) for block in grid.blocks]
    left = width_of(shown, _LETTERS) + 0.1 if shown else 0.2
    figure, axes, place = square_figure(WIDTH, left, 0.05)
    image = axes.imshow(values, cmap=DIVERGING, vmin=-1, vmax=1, interpolation="nearest", aspect="equal")
    start, written = 0.0, -float(size)
    ticks, names = [], []
    for block, name in zip(grid.blocks, shown, strict=True):
        middle = start + block.size / 2
        corner = (start - 0.5, start - 0.5)
        axes.add_patch(Rectangle(corner, block.size, block.size, fill=False, edgecolor=MUTED, linewidth=0.4))
        if middle - written >= _APART * size:
            ticks.append(middle - 0.5)
            names.append(name)
            written = middle
        start += block.size
    axes.set_yticks(ticks, names, fontsize=_LETTERS)
    axes.set_xticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set(visible=True, linewidth=0.4)
    if not names:
        axes.set_ylabel("examples", labelpad=2)
    color_bar(figure, image, place, chart.measured)
    return figure
