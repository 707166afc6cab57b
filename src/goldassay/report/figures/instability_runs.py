"""Every run's accuracy, so that the spread is seen before it is summed up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, span, vertical_grid
from goldassay.report.figures.svg import Canvas, marker, shortened
from goldassay.report.numbers import number, points
from goldassay.report.outline import mapping, records
from goldassay.report.sections.instability import row_name

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Accuracy of each run"
CAPTION = "Each dot is one run; the upright stroke is their mean. Rows share one scale."

_ROW = 46


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A strip of dots for each model, dataset and condition."""
    rows = []
    for row in records(mapping(document, "instability").get("results")):
        accuracies = [a for a in map(number, row.get("accuracies") or ()) if a is not None]
        if accuracies:
            rows.append((row_name(row), accuracies, number(row.get("mean")), number(row.get("sd"))))
    if not rows:
        return None
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    low, high = span([a for _, accuracies, _, _ in rows for a in accuracies])
    top, bottom = 6.0, 6.0 + _ROW * len(rows)
    scale = Scale(max(0.0, low), min(1.0, high), 8, width - 16)
    show = (lambda value: points(value, 0)) if high - low > 0.05 else points
    vertical_grid(canvas, scale, top, bottom, show, 6 if width > 500 else 4)
    for position, (name, accuracies, mean, sd) in enumerate(rows):
        y = top + _ROW * position
        shown = f"{points(mean)}, SD {points(sd, 2)}"
        canvas.text(0, y + 14, shortened(name, 0.62 * width), "strong")
        canvas.text(width, y + 14, shown, "quiet small", "end")
        for run, accuracy in enumerate(accuracies, 1):
            title = f"{name}, run {run}: {points(accuracy, 2)} points"
            canvas.path(marker(0, scale(accuracy), y + 30, 4.5), "f0 cloud halo", title)
        if mean is not None:
            canvas.line(scale(mean), y + 21, scale(mean), y + 39, "whisker")
    canvas.text(width / 2, bottom + 36, "accuracy (points)", "quiet small", "middle")
    canvas.height = bottom + 42
    return canvas
