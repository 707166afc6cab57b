"""Our figures against the printed ones, a mark a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, horizontal_grid, legend, vertical_grid
from goldassay.report.figures.svg import Canvas, marker
from goldassay.report.numbers import decimal, number
from goldassay.report.outline import records

if TYPE_CHECKING:
    from collections.abc import Mapping

SUFFIX = ": ours against printed"
CAPTION = (
    "One mark a cell that is printed and that we have: the paper's figure across, ours up, with our interval, or one "
    "standard deviation over runs to either side. On the diagonal both are the same; hollow marks are cells that the "
    "paper itself contradicts."
)

_FEWEST, _MOST_NAMES = 4, 6
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 14, 40
_HEIGHT = 320


def draw_comparison(comparison: Mapping[str, Any], width: int) -> Canvas | None:
    """A scatter, where enough cells have both figures."""
    keys = ("printed", "ours")
    cells = [
        cell for cell in records(comparison.get("cells")) if all(number(cell.get(key)) is not None for key in keys)
    ]
    if len(cells) < _FEWEST:
        return None
    name = (comparison.get("rows") or ("",))[0]
    names = list(dict.fromkeys(str(cell.get(name)) for cell in cells))[:_MOST_NAMES]
    canvas = Canvas(width, 0, f"{comparison.get('title')}. {CAPTION}")
    top = legend(canvas, names, _LEFT, _TOP + 6, width - _RIGHT) + 4 if len(names) > 1 else _TOP
    bottom = top + _HEIGHT
    canvas.height = bottom + _BOTTOM
    values = [float(cell[key]) for cell in cells for key in keys] + [end for cell in cells for end in _ends(cell)]
    pad = 0.05 * (max(values) - min(values)) or 0.5
    low, high = min(values) - pad, max(values) + pad
    across, up = Scale(low, high, _LEFT, width - _RIGHT), Scale(low, high, bottom, top)
    digits = 0 if high - low > 5 else 2
    vertical_grid(canvas, across, top, bottom, lambda value: decimal(value, digits))
    horizontal_grid(canvas, up, _LEFT, width - _RIGHT, lambda value: decimal(value, digits))
    canvas.line(across(low), up(low), across(high), up(high), "rule")
    canvas.text(width - _RIGHT, bottom + 34, "printed", "quiet small", "end")
    canvas.text(4, top - 4, "ours", "quiet small")
    places = int(number(comparison.get("digits")) or 0)
    for cell in cells:
        series = names.index(str(cell.get(name))) if str(cell.get(name)) in names else len(names)
        x, y = across(float(cell["printed"])), up(float(cell["ours"]))
        for begin, end in [_ends(cell)] if _ends(cell) else []:
            canvas.line(x, up(begin), x, up(end), "whisker")
        label = " · ".join(
            str(cell[key]) for key in (*(comparison.get("rows") or ()), *(comparison.get("columns") or ()))
        )
        title = f"{label}: printed {decimal(cell['printed'], places)}, ours {decimal(cell['ours'], places)}"
        style = f"thin l{series % 6}" if cell.get("doubted") else f"f{series % 6} halo"
        canvas.path(marker(series, x, y, 4.5), style, title)
    return canvas


def _ends(cell: Mapping[str, Any]) -> tuple[float, ...]:
    if number(cell.get("low")) is not None and number(cell.get("high")) is not None:
        return float(cell["low"]), float(cell["high"])
    if number(cell.get("sd")) is not None:
        return float(cell["ours"]) - float(cell["sd"]), float(cell["ours"]) + float(cell["sd"])
    return ()
