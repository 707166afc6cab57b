"""Which datasets' scores rise and fall together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.svg import Canvas, shortened, text_width
from goldassay.report.numbers import decimal, number
from goldassay.report.outline import mapping, records

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Datasets that move together"
CAPTION = (
    "Rank correlation between the scores on two datasets, over the checkpoints of a run and averaged over runs, or "
    "over the final scores of the runs. Blue rise and fall together, red against each other, pale hardly at all."
)

_HEAD, _MOST = 26, 6


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A grid of values for each model, below its name."""
    grids = [each for each in records(mapping(document, "instability").get("correlations")) if has_values(each)]
    if not grids:
        return None
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    canvas.draw_first(_MOST, len(grids), "grids")
    y = 0.0
    for each in grids[:_MOST]:
        y = _grid(canvas, y, width, each) + 22
    canvas.height = y - 12
    return canvas


def has_values(each: Mapping[str, Any]) -> bool:
    """Whether there are two names or more, and a value for each pair of them."""
    names, values = each.get("names"), each.get("values")
    if not isinstance(names, (list, tuple)) or not isinstance(values, (list, tuple)) or len(names) < 2:
        return False
    rows = [row for row in values if isinstance(row, (list, tuple)) and len(row) == len(names)]
    return len(rows) == len(values) == len(names)


def _grid(canvas: Canvas, y: float, width: int, each: Mapping[str, Any]) -> float:
    names = [str(name) for name in each["names"]]
    size = len(names)
    over = f"{each.get('n_points')} checkpoints, {each.get('n_runs')} runs"
    if each.get("over") == "runs":
        over = f"final scores of {each.get('n_runs')} runs"
    # A model that no file names is called "model".
    of = "" if each.get("model") in (None, "model") else f"{each['model']}, "
    canvas.text(0, y + 16, shortened(f"{of}over {over}", width), "strong")
    left = min(max(text_width(name) for name in names) + 12, 0.34 * width)
    cell = min(64.0, (width - left - 2) / size)
    row_height = min(cell, 34.0)
    numbered = size * 2 > 26 or cell < 40
    top = y + _HEAD + 22
    for j, name in enumerate(names):
        # Narrow columns are headed by the number that stands before the row of that dataset.
        head = str(j + 1) if numbered else shortened(name, cell - 4)
        canvas.text(left + (j + 0.5) * cell, top - 7, head, "quiet small", "middle")
    for i, name in enumerate(names):
        middle = top + (i + 0.5) * row_height + 4
        shown = f"{i + 1} {name}" if numbered else name
        canvas.text(left - 8, middle, shortened(shown, left - 10), "", "end")
        for j, other in enumerate(names):
            _cell(
                canvas,
                left + j * cell,
                top + i * row_height,
                cell,
                row_height,
                each["values"][i][j],
                f"{name}, {other}",
            )
    return top + size * row_height


def _cell(canvas: Canvas, x: float, y: float, width: float, height: float, value: Any, names: str) -> None:
    correlation = number(value)
    if correlation is None:
        canvas.bar(x, y, width - 2, height - 2, "band", f"{names}: not defined")
        return
    css = "f0" if correlation >= 0 else "f2"
    canvas.bar(x, y, width - 2, height - 2, "band")
    opacity = max(0.04, 0.85 * abs(correlation))
    canvas.bar(x, y, width - 2, height - 2, css, f"{names}: {decimal(correlation, 3)}", opacity)
    if width >= 34:
        style = "on-color" if opacity > 0.55 else "on-pale"
        canvas.text(x + width / 2 - 1, y + height / 2 + 4, decimal(correlation, 2), f"{style} small", "middle")
