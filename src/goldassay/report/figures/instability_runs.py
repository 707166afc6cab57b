"""Every run's score, so that the spread is seen before it is summed up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, vertical_grid
from goldassay.report.figures.svg import Canvas, marker, shortened, text_width
from goldassay.report.numbers import decimal, number, points
from goldassay.report.outline import mapping, records
from goldassay.report.sections.instability import row_name

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Score of each run"
CAPTION = (
    "Each dot is one run, placed by how far it lies from the mean of its row; so rows compare in spread, whatever "
    "their level. The bar is one standard deviation to either side."
)

_ROW = 48
# Of more dots than these none says which run it is: it could not be pointed at, and the page would grow too large.
_MOST_TITLES = 1500


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A strip of dots for each model, dataset and condition, centered on its mean."""
    rows = []
    for row in records(mapping(document, "instability").get("results")):
        accuracies = [a for a in map(number, row.get("accuracies") or ()) if a is not None]
        if accuracies:
            mean = sum(accuracies) / len(accuracies)
            rows.append((row_name(row), [100 * (a - mean) for a in accuracies], mean, number(row.get("sd"))))
    if not rows:
        return None
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    reach = 1.1 * max([0.05, *(abs(d) for _, off, _, _ in rows for d in off), *(100 * (sd or 0) for *_, sd in rows)])
    top, bottom = 6.0, 6.0 + _ROW * len(rows)
    scale = Scale(-reach, reach, 14, width - 14)
    digits = 0 if reach > 4 else 1 if reach > 0.4 else 2
    vertical_grid(canvas, scale, top, bottom, lambda value: decimal(value, digits), 6 if width > 500 else 4)
    canvas.line(scale(0), top, scale(0), bottom, "axis")
    titled = sum(len(deviations) for _, deviations, *_ in rows) <= _MOST_TITLES
    for position, (name, deviations, mean, sd) in enumerate(rows):
        _row(canvas, scale, top + _ROW * position, name, deviations, mean, sd, titled)
    canvas.text(width / 2, bottom + 36, "points from the mean of the row", "quiet small", "middle")
    canvas.height = bottom + 42
    return canvas


def _row(
    canvas: Canvas,
    scale: Scale,
    y: float,
    name: str,
    deviations: list[float],
    mean: float,
    sd: float | None,
    titled: bool,
) -> None:
    shown = f"{points(mean)}, SD {points(sd, 2)}"
    canvas.text(0, y + 14, shortened(name, canvas.width - text_width(shown) - 16), "strong lifted")
    canvas.text(canvas.width, y + 14, shown, "quiet small lifted", "end")
    if sd is not None:
        left, right = scale(-100 * sd), scale(100 * sd)
        canvas.bar(left, y + 24, right - left, 14, "band")
    for run, deviation in enumerate(deviations, 1):
        title = f"{name}, run {run}: {points(mean + deviation / 100, 2)} points" if titled else None
        canvas.path(marker(0, scale(deviation), y + 31, 4.5), "f0 cloud halo", title)
