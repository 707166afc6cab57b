"""What a stricter threshold costs in coverage and gains in precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, horizontal_grid, legend, vertical_grid
from goldassay.report.figures.svg import Canvas, marker
from goldassay.report.numbers import decimal, number, percent
from goldassay.report.outline import mapping, records

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Coverage and precision by threshold"
CAPTION = (
    "How many examples the significant patterns reach, and how often they are right where they name one label, as the "
    "threshold on p rises. Measured on the test set or, without one, on the training set, which flatters the patterns."
)

_NAMES = ("coverage", "precision")


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """Two curves over the threshold."""
    found = mapping(document, "artifacts")
    rows = [row for row in records(found.get("coverage_curve")) if number(row.get("threshold")) is not None]
    if len(rows) < 2 or not any(number(row.get("coverage")) for row in rows):
        return None
    canvas = Canvas(width, 300, f"{TITLE}. {CAPTION}")
    top = legend(canvas, _NAMES, 0, 16, width) + 6
    left, right, bottom = 46.0, width - 14.0, 250.0
    x = Scale(rows[0]["threshold"], rows[-1]["threshold"], left, right)
    y = Scale(0, 1, bottom, top)
    horizontal_grid(canvas, y, left, right, lambda value: percent(value, 0))
    vertical_grid(canvas, x, top, bottom, decimal, 5 if width > 500 else 4)
    chosen = number(mapping(found, "settings").get("threshold"))
    if chosen is not None and x.low <= chosen <= x.high:
        canvas.line(x(chosen), top, x(chosen), bottom, "rule")
        canvas.text(x(chosen) + 6, bottom - 8, "used here", "quiet small")
    for series, name in enumerate(_NAMES):
        points = [(x(row["threshold"]), y(row[name]), row) for row in rows if number(row.get(name)) is not None]
        if not points:
            continue
        canvas.path("M" + "L".join(f"{a:.1f} {b:.1f}" for a, b, _ in points), f"curve l{series}")
        for a, b, row in points:
            title = f"threshold {decimal(row['threshold'])}: {name} {percent(row[name])}"
            canvas.path(marker(series, a, b, 4.5), f"f{series} halo", title)
    canvas.text((left + right) / 2, 290, "threshold on p(label | pattern)", "quiet small", "middle")
    return canvas
