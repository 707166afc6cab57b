"""The scores of several models on the same datasets, run by run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, legend, vertical_grid
from goldassay.report.figures.svg import Canvas, marker, shortened
from goldassay.report.numbers import decimal, number, points
from goldassay.report.outline import mapping, records
from goldassay.report.palette import N_SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Scores by dataset and model"
CAPTION = (
    "Each mark is one run, the line under it reaches from the lowest to the highest run of its model. Where the lines "
    "of two models overlap, a single run of each can put either first."
)

_HEAD, _STRIP = 26, 20
_MOST_MODELS = 12


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A block for each dataset that more than one model was run on, and in it a strip of marks for each model."""
    blocks: dict[str, list[tuple[str, list[float]]]] = {}
    for row in records(mapping(document, "instability").get("results")):
        accuracies = [100 * a for a in map(number, row.get("accuracies") or ()) if a is not None]
        if accuracies:
            condition = row.get("condition")
            name = str(row.get("dataset")) + ("" if condition in (None, "paired", "text") else f", {condition}")
            blocks.setdefault(name, []).append((str(row.get("model")), accuracies))
    blocks = {name: rows for name, rows in blocks.items() if len(rows) > 1}
    models = list(dict.fromkeys(model for rows in blocks.values() for model, _ in rows))
    n, models = len(models), models[:_MOST_MODELS]
    blocks = {name: kept for name, rows in blocks.items() if (kept := [row for row in rows if row[0] in models])}
    if not blocks:
        return None
    every = [a for rows in blocks.values() for _, accuracies in rows for a in accuracies]
    pad = 0.04 * (max(every) - min(every)) or 0.5
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    canvas.draw_first(_MOST_MODELS, n, "models")
    y = legend(canvas, models, 0, 12, width)
    scale = Scale(min(every) - pad, max(every) + pad, 10, width - 14)
    top = y
    bottom = top + sum(_HEAD + _STRIP * len(rows) + 8 for rows in blocks.values())
    digits = 0 if scale.high - scale.low > 4 else 1
    vertical_grid(canvas, scale, top, bottom, lambda value: decimal(value, digits), 6 if width > 500 else 4)
    for name, rows in blocks.items():
        canvas.text(0, y + 17, shortened(name, width), "strong lifted")
        y += _HEAD
        for model, accuracies in rows:
            _strip(canvas, scale, y, name, model, accuracies, models.index(model))
            y += _STRIP
        y += 8
    canvas.text(width / 2, bottom + 36, "score of a run (points)", "quiet small", "middle")
    canvas.height = bottom + 42
    return canvas


def _strip(
    canvas: Canvas, scale: Scale, y: float, dataset: str, model: str, accuracies: list[float], series: int
) -> None:
    middle = y + _STRIP / 2
    canvas.line(scale(min(accuracies)), middle, scale(max(accuracies)), middle, f"l{series % N_SERIES} curve")
    for run, accuracy in enumerate(accuracies, 1):
        title = f"{model} on {dataset}, run {run}: {points(accuracy / 100, 2)} points"
        canvas.path(marker(series, scale(accuracy), middle, 4.5), f"f{series % N_SERIES} cloud halo", title)
