"""From a model's own distribution to another: one line a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import legend
from goldassay.report.figures.panels import Panel, lay_out, value_axis
from goldassay.report.figures.svg import Canvas, marker, shortened
from goldassay.report.numbers import bounds, decimal, number, points, signed_points
from goldassay.report.outline import mapping, records
from goldassay.report.palette import N_SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TITLE = "From the own distribution to another"
CAPTION = (
    "One panel a pair of sets, one line a model: its metric on its own distribution, left, and on the other, right, in "
    "points, with 95 % intervals. A line that falls is a score that does not hold."
)

_HEIGHT, _MOST = 150, 12
_Pair = tuple[str, str, str]


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A panel a training set and other set; of several metrics the first."""
    rows = records(mapping(document, "shift").get("generalization"))
    rows = [row for row in rows if row.get("metric") == rows[0].get("metric") and number(row.get("value")) is not None]
    own = {str(row.get("model")): row for row in rows if row.get("own") is True}
    pairs: dict[_Pair, list[tuple[Mapping[str, Any], Mapping[str, Any]]]] = {}
    for row in rows:
        start = own.get(str(row.get("model")))
        if row.get("own") is not True and start is not None:
            key = (str(start.get("train")), str(start.get("test")), str(row.get("test")))
            pairs.setdefault(key, []).append((start, row))
    shown = dict(list(pairs.items())[:_MOST])
    if not shown:
        return None
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    canvas.draw_first(_MOST, len(pairs), "pairs")
    models = list(dict.fromkeys(series_of(row) for lines in shown.values() for _, row in lines))
    y = legend(canvas, models, 0, 14, width) + 4 if len(models) > 1 else 0.0
    names = [f"{start} → {end}" for _, start, end in shown]
    ends = _ends([row for lines in shown.values() for pair in lines for row in pair])
    for panel, lines in zip(lay_out(canvas, names, _HEIGHT, y), shown.values(), strict=True):
        _panel(canvas, panel, lines, models, ends)
    return canvas


def series_of(row: Mapping[str, Any]) -> str:
    """A model's name without what it was trained on: each panel has one training set, and its color says the model."""
    return str(row.get("model")).replace(f"@{row.get('train')}", "", 1)


def _ends(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Of the axis that all panels have, so that a slope means the same in each."""
    values = [100 * v for row in rows for key in ("value", "low", "high") if (v := number(row.get(key))) is not None]
    pad = 0.06 * (max(values) - min(values)) or 0.5
    return min(values) - pad, max(values) + pad


def _panel(
    canvas: Canvas,
    panel: Panel,
    lines: list[tuple[Mapping[str, Any], Mapping[str, Any]]],
    models: list[str],
    ends: tuple[float, float],
) -> None:
    scale = value_axis(canvas, panel, *ends, lambda value: decimal(value, 0))
    spread = 6.0
    inset = 0.2 * (panel.right - panel.left)
    for start, end in lines:
        series = models.index(series_of(end))
        shift = spread * (series - (len(models) - 1) / 2)
        xs = (panel.left + inset + shift, panel.right - inset + shift)
        ys = [scale(100 * (number(row.get("value")) or 0)) for row in (start, end)]
        css = f"l{series % N_SERIES}"
        canvas.line(xs[0], ys[0], xs[1], ys[1], f"{css} curve")
        for x, y, row in zip(xs, ys, (start, end), strict=True):
            low, high = number(row.get("low")), number(row.get("high"))
            if low is not None and high is not None:
                canvas.line(x, scale(100 * low), x, scale(100 * high), f"{css} thin")
            title = f"{row.get('model')} on {row.get('test')}: {points(row.get('value'))} {bounds(low, high)}"
            if row is end:
                title += f", gap {signed_points(row.get('gap'), 1)} {bounds(row.get('gap_low'), row.get('gap_high'))}"
            canvas.path(marker(series, x, y, 4.5), f"f{series % N_SERIES} halo", title)
    half = (panel.right - panel.left) / 2
    for x, row in ((panel.left + inset, lines[0][0]), (panel.right - inset, lines[0][1])):
        canvas.text(x, panel.bottom + 17, shortened(str(row.get("test")), half), "quiet small", "middle")
