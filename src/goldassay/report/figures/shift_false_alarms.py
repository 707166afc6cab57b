"""How many of a model's own texts are flagged where most of the others are, against chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, vertical_grid
from goldassay.report.figures.svg import Canvas, shortened, text_width
from goldassay.report.numbers import bounds, number, percent, points
from goldassay.report.outline import mapping, records
from goldassay.report.palette import N_SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "False alarms"
CAPTION = (
    "The share of the model's own texts that are flagged when 95 % (or what was asked for) of the other set are, by "
    "its confidence, with its 95 % interval. The dashed line is chance; less is better, and beyond the line the model "
    "is surer of foreign texts than of its own."
)

_ROW, _HEAD, _MOST = 22, 28, 60


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A bar a model, in a block an other set; of several scores the first."""
    rows = records(mapping(document, "shift").get("detection"))
    rows = [row for row in rows if row.get("score") == rows[0].get("score")]
    rows = [row for row in rows if number(row.get("false_alarm_rate")) is not None]
    if not rows:
        return None
    n, rows = len(rows), rows[:_MOST]
    models = list(dict.fromkeys(str(row.get("model")) for row in rows))
    blocks = dict.fromkeys((str(row.get("in_distribution")), str(row.get("dataset"))) for row in rows)
    several = len({own for own, _ in blocks}) > 1
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    canvas.draw_first(_MOST, n, "bars")
    left = min(max(text_width(name) for name in models) + 14, 0.34 * width)
    scale = Scale(0.0, 1.0, left, width - (126 if width > 500 else 50))
    top = 20.0
    bottom = top + sum(_HEAD + _ROW * sum(_is_of(row, block) for row in rows) for block in blocks)
    vertical_grid(canvas, scale, top, bottom, lambda value: points(value, 0), 5)
    chance = number(rows[0].get("false_alarm_rate_chance"))
    y = top
    for block in blocks:
        canvas.text(0, y + 18, " against ".join(block) if several else block[1], "strong lifted")
        y += _HEAD
        for row in rows:
            if _is_of(row, block):
                _bar(canvas, scale, y, row, models)
                y += _ROW
    if chance is not None:
        canvas.line(scale(chance), top, scale(chance), bottom, "rule")
        canvas.text(scale(chance), top - 6, "chance", "small strong", "middle")
    canvas.text((scale.start + scale.end) / 2, bottom + 36, "own texts flagged (%)", "quiet small", "middle")
    canvas.height = bottom + 42
    return canvas


def _is_of(row: Mapping[str, Any], block: tuple[str, str]) -> bool:
    return (str(row.get("in_distribution")), str(row.get("dataset"))) == block


def _bar(canvas: Canvas, scale: Scale, y: float, row: Mapping[str, Any], models: list[str]) -> None:
    name, rate = str(row.get("model")), float(row["false_alarm_rate"])
    low, high = number(row.get("false_alarm_rate_low")), number(row.get("false_alarm_rate_high"))
    series = models.index(name) % N_SERIES
    canvas.text(0, y + 14, shortened(name, scale.start - 8))
    title = f"{name} on {row.get('dataset')}: {percent(rate)} {bounds(low, high)}"
    canvas.bar(scale.start, y + 3, scale(rate) - scale.start, _ROW - 7, f"f{series}", title)
    if low is not None and high is not None:
        middle = y + 3 + (_ROW - 7) / 2
        canvas.path(f"M{scale(low):.1f} {middle - 4:.1f}v8m0 -4H{scale(high):.1f}m0 -4v8", "whisker")
    canvas.text(scale.end + 8, y + 14, points(rate), "strong")
    if canvas.width > 500:
        canvas.text(scale.end + 56, y + 14, bounds(low, high, 0), "quiet small")
