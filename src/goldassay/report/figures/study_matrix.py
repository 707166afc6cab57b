"""Which classes of examples fall together: a matrix of ratios."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goldassay.report.figures.svg import CODE_SIZE, Canvas, shortened, text_width
from goldassay.report.numbers import bounds, decimal, number
from goldassay.report.outline import records

if TYPE_CHECKING:
    from collections.abc import Mapping

SUFFIX = ""
CAPTION = (
    "Blue: more often on the same example than chance would have it; red: less often; the deeper the further from "
    "once. Framed cells are those whose 95 % interval leaves once out. Empty ones were not compared."
)

_HEIGHT = 34.0
# A ratio this far from one, or its inverse, has the full color.
_FULL = 3.0


def draw_comparison(comparison: Mapping[str, Any], width: int) -> Canvas | None:
    """A square of cells, a row and a column a class."""
    down, across = (str((comparison.get(key) or ("",))[0]) for key in ("rows", "columns"))
    cells = {
        (str(cell.get(down)), str(cell.get(across))): cell
        for cell in records(comparison.get("cells"))
        if number(cell.get("ours")) is not None
    }
    rows, columns = (list(dict.fromkeys(key[i] for key in cells)) for i in (0, 1))
    columns = [name for name in rows if name in columns] + [name for name in columns if name not in rows]
    if len(rows) < 2:
        return None
    canvas = Canvas(width, 0, f"{comparison.get('title')}. {CAPTION}")
    left = min(max(text_width(name) for name in rows) + 26, 0.36 * width)
    cell_width = min(76.0, (width - left - 2) / len(columns))
    numbered = cell_width < 70
    top = 26.0
    for j, name in enumerate(columns):
        head = str(j + 1) if numbered else shortened(name, cell_width, lambda text: text_width(text, CODE_SIZE))
        canvas.text(left + (j + 0.5) * cell_width, top - 8, head, "quiet small", "middle")
    for i, name in enumerate(rows):
        y = top + i * _HEIGHT
        shown = f"{i + 1} {name}" if numbered else name
        canvas.text(left - 8, y + _HEIGHT / 2 + 4, shortened(shown, left - 10), "", "end")
        for j, other in enumerate(columns):
            _cell(canvas, left + j * cell_width, y, cell_width, cells.get((name, other)), f"{name}, {other}")
    canvas.height = top + len(rows) * _HEIGHT + 2
    return canvas


def _cell(canvas: Canvas, x: float, y: float, width: float, cell: Mapping[str, Any] | None, names: str) -> None:
    if cell is None:
        return
    ratio, low, high = (number(cell.get(key)) for key in ("ours", "low", "high"))
    assert ratio is not None
    size = 1.0 if ratio <= 0 else min(1.0, abs(math.log(ratio)) / math.log(_FULL))
    opacity = max(0.04, 0.85 * size)
    canvas.bar(x, y, width - 2, _HEIGHT - 2, "band")
    title = f"{names}: {decimal(ratio)} {bounds(low, high, 2, 1.0)}".rstrip()
    canvas.bar(x, y, width - 2, _HEIGHT - 2, "f0" if ratio >= 1 else "f2", title, opacity)
    if low is not None and high is not None and not low <= 1 <= high:
        inset, right, bottom = x + 1.5, x + width - 3.5, y + _HEIGHT - 3.5
        canvas.path(f"M{inset:.1f} {y + 1.5:.1f}H{right:.1f}V{bottom:.1f}H{inset:.1f}z", "whisker")
    if width >= 32:
        style = "on-color small" if opacity > 0.55 else "on-pale small"
        canvas.text(x + width / 2 - 1, y + _HEIGHT / 2 + 3, decimal(ratio, 1), style, "middle")
