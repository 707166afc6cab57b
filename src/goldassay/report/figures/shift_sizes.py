"""The gap against the size of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, legend
from goldassay.report.figures.panels import Panel, lay_out, under, value_axis
from goldassay.report.figures.shift_slopes import series_of
from goldassay.report.figures.svg import Canvas, marker
from goldassay.report.numbers import bounds, count, decimal, number, signed_points
from goldassay.report.outline import mapping, records
from goldassay.report.palette import N_SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Gap against size"
CAPTION = (
    "One panel a pair of sets, one mark a model of known size: its gap in points with its 95 % interval, over its "
    "parameters on a logarithmic axis. Above the dashed line a score is lower elsewhere."
)

_HEIGHT, _MOST = 150, 12


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A panel an other set, where two models or more have a size."""
    rows = records(mapping(document, "shift").get("generalization"))
    rows = [row for row in rows if row.get("metric") == rows[0].get("metric")]
    own = {row.get("model"): row.get("test") for row in rows if row.get("own") is True}
    panels: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        known = all(number(row.get(key)) is not None for key in ("size", "gap", "gap_low", "gap_high"))
        if row.get("own") is not True and known:
            panels.setdefault(f"{own.get(row.get('model'), 'own')} → {row.get('test')}", []).append(row)
    several = [(name, each) for name, each in panels.items() if len({row["size"] for row in each}) > 1]
    shown = dict(several[:_MOST])
    if not shown:
        return None
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    canvas.draw_first(_MOST, len(several), "pairs")
    models = list(dict.fromkeys(series_of(row) for each in shown.values() for row in each))
    y = legend(canvas, models, 0, 14, width) + 4
    for panel, each in zip(lay_out(canvas, list(shown), _HEIGHT, y), shown.values(), strict=True):
        _panel(canvas, panel, each, models)
    return canvas


def _panel(canvas: Canvas, panel: Panel, rows: list[Mapping[str, Any]], models: list[str]) -> None:
    values = [100 * float(row[key]) for row in rows for key in ("gap", "gap_low", "gap_high")]
    low, high = min(0.0, *values), max(0.0, *values)
    pad = 0.06 * (high - low) or 0.5
    scale = value_axis(canvas, panel, low - pad, high + pad, lambda value: decimal(value, 0))
    canvas.line(panel.left, scale(0), panel.right, scale(0), "rule")
    sizes = sorted({float(row["size"]) for row in rows})
    # Wide enough for one of 1, 2 and 5 to lie between the ends, however alike the sizes are.
    across = Scale(sizes[0] / 1.6, sizes[-1] * 1.6, panel.left, panel.right, log=True)
    for row in rows:
        series = models.index(series_of(row))
        x, y = across(float(row["size"])), scale(100 * float(row["gap"]))
        css = f"l{series % N_SERIES} thin"
        canvas.line(x, scale(100 * float(row["gap_low"])), x, scale(100 * float(row["gap_high"])), css)
        title = (
            f"{row.get('model')}, {count(row['size'])} parameters: gap {signed_points(row['gap'], 1)} "
            f"{bounds(row['gap_low'], row['gap_high'])}"
        )
        canvas.path(marker(series, x, y, 5), f"f{series % N_SERIES} halo", title)
    under(canvas, panel, [(across(size), _short(size)) for size in across.ticks(4)], "parameters")


def _short(size: float) -> str:
    for scale, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if size >= scale:
            return f"{decimal(size / scale, 0)}{unit}"
    return count(size)
