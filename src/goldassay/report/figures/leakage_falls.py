"""What leakage falls to without the first rows, against as many at random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, horizontal_grid, legend, vertical_grid
from goldassay.report.figures.svg import Canvas, marker
from goldassay.report.numbers import bounds, count, number, percent, signed_points
from goldassay.report.outline import mapping, records

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Leakage without the first rows"
CAPTION = (
    "How much better than the commonest label a probe of the part alone is among the rows that are left, in accuracy "
    "points with 95 % intervals over refits: without the rows suggested, and without as many drawn at random."
)
_KINDS = ("suggested", "random")


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """Two lines over the share of rows dropped, both starting from all rows."""
    found = mapping(document, "leakage", "suggestion")
    falls = [row for row in records(found.get("falls")) if number(row.get("improvement")) is not None]
    before = mapping(found, "before")
    if not falls or number(before.get("improvement")) is None:
        return None
    height = 280
    canvas = Canvas(width, height, f"{TITLE}. {CAPTION}")
    top = legend(canvas, _KINDS, 0, 16, width) + 8
    left, right, bottom = 52.0, width - 14.0, height - 46.0
    values = [value for row in (before, *falls) for value in map(number, _ends(row)) if value is not None]
    span = max(values) - min(values, default=0) or 0.1
    x = Scale(0, max(float(row["share"]) for row in falls) * 1.05, left, right)
    y = Scale(min(0.0, *values) - 0.05 * span, max(values) + 0.05 * span, bottom, top)
    horizontal_grid(canvas, y, left, right, lambda value: signed_points(value, 0), 5)
    vertical_grid(canvas, x, top, bottom, lambda value: percent(value, 0), 6 if width > 500 else 4)
    if y.low < 0:
        canvas.line(left, y(0), right, y(0), "axis")
    for series, kind in enumerate(_KINDS):
        rows = [{"share": 0.0, "n_dropped": 0, **before}, *(row for row in falls if row.get("rows") == kind)]
        line = "L".join(f"{x(row['share']):.1f} {y(row['improvement']):.1f}" for row in rows)
        canvas.path(f"M{line}", f"curve l{series}")
        for row in rows:
            _, low, high = map(number, _ends(row))
            at = x(row["share"])
            if low is not None and high is not None:
                canvas.line(at, y(low), at, y(high), "whisker")
            title = (
                f"{kind}, {count(row['n_dropped'])} rows dropped: {signed_points(row['improvement'], 1)} "
                f"{bounds(low, high)} points"
            )
            canvas.path(marker(series, at, y(row["improvement"]), 5), f"f{series} halo", title)
    canvas.text((left + right) / 2, height - 8, "rows dropped", "quiet small", "middle")
    return canvas


def _ends(row: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return row.get("improvement"), row.get("improvement_low"), row.get("improvement_high")
