"""Matrices of a few cells, colored by sign and size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.report.charts.svg import CODE_SIZE, Canvas, shortened, text_width

if TYPE_CHECKING:
    from goldassay.core.charts import Grid, Matrix, MatrixCell

_HEAD, _BETWEEN = 26, 22
_WIDEST, _HIGHEST = 72.0, 34.0
# In narrower columns a name is replaced by a number, and a value is left out.
_NAMED, _WRITTEN = 48, 32


def draw(chart: Matrix, width: int) -> Canvas:
    """Draw the grids below each other."""
    canvas = Canvas(width, 0, chart.label)
    y = 0.0
    for grid in chart.grids:
        y = _grid(canvas, grid, y) + _BETWEEN
    canvas.height = y - 12
    return canvas


def _grid(canvas: Canvas, grid: Grid, y: float) -> float:
    if grid.title:
        canvas.text(0, y + 16, shortened(grid.title, canvas.width), "strong")
        y += _HEAD
    left = min(max(text_width(name) for name in grid.rows) + 26, 0.36 * canvas.width)
    width = min(_WIDEST, (canvas.width - left - 2) / len(grid.columns))
    height = min(width, _HIGHEST)
    numbered = width < _NAMED or any(text_width(name, CODE_SIZE) > 2 * width for name in grid.columns)
    top = y + 24
    for j, name in enumerate(grid.columns):
        # Narrow columns are headed by the number in front of the row of that name.
        head = str(j + 1) if numbered else shortened(name, width - 4, lambda text: text_width(text, CODE_SIZE))
        canvas.text(left + (j + 0.5) * width, top - 8, head, "quiet small", "middle")
    for i, name in enumerate(grid.rows):
        shown = f"{i + 1} {name}" if numbered else name
        canvas.text(left - 8, top + (i + 0.5) * height + 4, shortened(shown, left - 10), "", "end")
    for cell in grid.cells:
        _cell(canvas, cell, left + cell.column * width, top + cell.row * height, width, height)
    return top + len(grid.rows) * height


def _cell(canvas: Canvas, cell: MatrixCell, x: float, y: float, width: float, height: float) -> None:
    if cell.strength is None:
        canvas.bar(x, y, width - 2, height - 2, "band", cell.hover)
        return
    canvas.bar(x, y, width - 2, height - 2, "band")
    opacity = max(0.04, 0.85 * min(1.0, abs(cell.strength)))
    canvas.bar(x, y, width - 2, height - 2, "f0" if cell.strength >= 0 else "f2", cell.hover, opacity)
    if cell.framed:
        inset, right, bottom = x + 1.5, x + width - 3.5, y + height - 3.5
        canvas.path(f"M{inset:.1f} {y + 1.5:.1f}H{right:.1f}V{bottom:.1f}H{inset:.1f}z", "whisker")
    if width >= _WRITTEN:
        style = "on-color small" if opacity > 0.55 else "on-pale small"
        canvas.text(x + width / 2 - 1, y + height / 2 + 3, cell.text, style, "middle")
