"""Accuracy against confidence, on a model's own distribution and on others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, legend
from goldassay.report.figures.panels import Panel, lay_out, under, value_axis
from goldassay.report.figures.svg import Canvas, marker
from goldassay.report.numbers import count, number, points
from goldassay.report.outline import mapping, records
from goldassay.report.palette import N_SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Does confidence mean what it says"
CAPTION = (
    "One panel a model, one line a set: accuracy of the examples of like confidence, in bins of equal mass, all runs "
    "together. Below the dashed line the model is surer than it is right."
)

_HEIGHT, _MOST = 170, 12


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A panel a model."""
    return draw_by_model(document, width, "calibration", f"{TITLE}. {CAPTION}", _panel)


def draw_by_model(document: Mapping[str, Any], width: int, key: str, label: str, draw_panel: Any) -> Canvas | None:
    """A panel a model, with a series a set."""
    rows = records(mapping(document, "shift").get(key))
    every = list(dict.fromkeys(str(row.get("model")) for row in rows))
    models = every[:_MOST]
    if not models:
        return None
    sets = list(dict.fromkeys(str(row.get("dataset")) for row in rows))
    canvas = Canvas(width, 0, label)
    canvas.draw_first(_MOST, len(every), "models")
    y = legend(canvas, sets, 0, 14, width) + 4
    for panel, model in zip(lay_out(canvas, models, _HEIGHT, y), models, strict=True):
        draw_panel(canvas, panel, [row for row in rows if str(row.get("model")) == model], sets)
    return canvas


def _panel(canvas: Canvas, panel: Panel, rows: list[Mapping[str, Any]], sets: list[str]) -> None:
    places = [
        (sets.index(str(row.get("dataset"))), [each for each in records(row.get("bins")) if _known(each)])
        for row in rows
    ]
    values = [float(each[key]) for _, bins in places for each in bins for key in ("confidence", "accuracy")]
    if not values:
        return
    low = max(0.0, min(values) - 0.04)
    scale = value_axis(canvas, panel, low, 1.0, lambda value: points(value, 0))
    across = Scale(
        min(float(each["confidence"]) for _, bins in places for each in bins) - 0.02, 1.0, panel.left, panel.right
    )
    start = max(low, across.low)
    canvas.line(across(start), scale(start), across(1), scale(1), "rule")
    for series, bins in places:
        css = series % N_SERIES
        line = "L".join(f"{across(float(e['confidence'])):.1f} {scale(float(e['accuracy'])):.1f}" for e in bins)
        canvas.path(f"M{line}", f"l{css} thin")
        for each in bins:
            title = (
                f"{sets[series]}: confidence {points(each['confidence'])}, accuracy {points(each['accuracy'])}, "
                f"{count(each.get('n'))} answers"
            )
            x, y = across(float(each["confidence"])), scale(float(each["accuracy"]))
            canvas.path(marker(series, x, y, 3.4), f"f{css} halo", title)
    ticks = [(across(value), points(value, 0)) for value in across.ticks(4)]
    under(canvas, panel, ticks, "confidence; accuracy (points)")


def _known(each: Mapping[str, Any]) -> bool:
    return number(each.get("confidence")) is not None and number(each.get("accuracy")) is not None
