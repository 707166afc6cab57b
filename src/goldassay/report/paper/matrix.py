"""A matrix of a few cells, colored by sign and size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.report.paper.style import DIVERGING, color_bar, literal, square_figure, width_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from goldassay.core.charts import Matrix

# In more columns than these a value is wider than its cell.
_MOST_WRITTEN = 9


def draw(chart: Matrix) -> Figure:
    """Draw the first grid; charts for papers have one."""
    (grid,) = chart.grids
    rows, columns = [literal(name) for name in grid.rows], [literal(name) for name in grid.columns]
    values = [[float("nan")] * len(columns) for _ in rows]
    for cell in grid.cells:
        values[cell.row][cell.column] = float("nan") if cell.strength is None else cell.strength
    below = width_of(columns, 6.5) + 0.1
    # Names below are set at 45 degrees.
    figure, axes, place = square_figure(0.42 * len(columns), width_of(rows, 6.5) + 0.1, 0.75 * below + 0.05)
    image = axes.imshow(values, cmap=DIVERGING, vmin=-1, vmax=1)
    axes.set_xticks(range(len(columns)), columns, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for cell in grid.cells if len(columns) <= _MOST_WRITTEN else ():
        if cell.strength is not None:
            color = "white" if abs(cell.strength) > 0.6 else "black"
            axes.text(cell.column, cell.row, cell.text, ha="center", va="center", fontsize=6, color=color)
    color_bar(figure, image, place, chart.measured)
    return figure
