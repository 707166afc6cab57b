"""Thousands of points, found by the pointer, with the strongest named.

Thousands of marks as elements with a title each would weigh more than the rest of the page. So the points of a series
are one path, and the page's script finds the point under the pointer in the chart's data; only the strongest points
are marks of their own, which answer to the pointer without a script too.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from goldassay.report.charts.axes import horizontal_grid, legend, scale_for, value_text, vertical_grid
from goldassay.report.charts.marks import draw_mark, fill
from goldassay.report.charts.page_data import as_page_data, data_id
from goldassay.report.charts.svg import Canvas, code_width, marker, shortened, text_width

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.core.charts import Cloud
    from goldassay.report.charts.axes import Scale

# Points of the cloud that a name may cover.
_MOST_COVERED = 2
_KEY = re.compile(r"\{(name|series|x|y)\}")
_Box = tuple[float, float, float, float]


def draw(chart: Cloud, width: int) -> Canvas:
    """Draw the cloud, the curves and lines over it, and the strongest points with the names that find room."""
    wide = width > 500
    height = 420 if wide else 340
    canvas = Canvas(width, height, chart.label)
    top = legend(canvas, chart.series[: chart.n_named], 0, 16, width) + 8
    unnamed = len(chart.series) - chart.n_named
    if unnamed > 0:
        canvas.text(0, top + 6, f"and {unnamed} {chart.series_are} more, by the same marks in turn", "quiet small")
        top += 20
    left, right, bottom = 46.0, width - 14.0, height - 46.0
    x = scale_for(chart.x, [point[0] for point in chart.points], left, right)
    y = scale_for(chart.y, [point[1] for point in chart.points], bottom, top)
    horizontal_grid(canvas, chart.y, y, left, right, 5)
    vertical_grid(canvas, chart.x, x, top, bottom, 6 if wide else 4)
    for number, series in enumerate(chart.series):
        points = [marker(series.marker, x(a), y(b), 2.4) for a, b, of, _ in chart.points if of == number]
        if points:
            canvas.path("".join(points), f"{fill(series)} cloud")
    for curve in chart.bounds:
        inside = [f"{x(a):.1f} {y(b):.1f}" for a, b in curve if y.low <= b <= y.high and x.low <= a <= x.high]
        if len(inside) > 1:
            canvas.path("M" + "L".join(inside), "bound")
    taken: list[_Box] = []
    for rule in chart.rules:
        if y.low < rule.at < y.high:
            at = y(rule.at)
            canvas.line(left, at, right, at, "rule")
            canvas.text(right, at - 6, rule.label, "small strong", "end")
            taken += [(left, at - 1, right, at + 1), (right - 1.1 * text_width(rule.label), at - 20, right, at)]
    _strongest(canvas, chart, x, y, taken)
    canvas.text((left + right) / 2, height - 8, chart.x.title, "quiet small", "middle")
    canvas.data = {
        "cloud": data_id(chart.name),
        "x": f"{x.low:.6g} {x.high:.6g} {x.start:g} {x.end:g}",
        "y": f"{y.low:.6g} {y.high:.6g} {y.start:g} {y.end:g}",
    }
    return canvas


def points_as_json(chart: Cloud) -> str:
    """The points for the page's script."""
    points = [[x, round(y, 4), series, name] for x, y, series, name in chart.points]
    return as_page_data(
        {
            "labels": [series.name for series in chart.series],
            "points": points,
            "hover": chart.hover,
            "x_unit": chart.x.unit,
            "y_unit": chart.y.unit,
        }
    )


def _strongest(canvas: Canvas, chart: Cloud, x: Scale, y: Scale, taken: list[_Box]) -> None:
    """Large marks for the strongest, with the names that find room: one that would cover much stays away."""
    names: list[tuple[float, float, str]] = []
    marks: list[_Box] = []
    for point in chart.strongest:
        if not (x.low <= point.x <= x.high and y.low <= point.y <= y.high):
            continue
        series = chart.series[point.series]
        values = {
            "name": point.name,
            "series": series.name,
            "x": value_text(chart.x, point.x),
            "y": value_text(chart.y, point.y),
        }
        # In one pass, so that nothing inside a name is taken for a key.
        hover = _KEY.sub(partial(_value, values), chart.hover)
        at, level = x(point.x), y(point.y)
        draw_mark(canvas, series, at, level, 4.5, f"{fill(series)} halo", hover)
        marks.append((at - 6, level - 6, at + 6, level + 6))
        names.append((at, level, shortened(point.name, 0.34 * canvas.width, code_width)))
    cloud = [(x(a), y(b)) for a, b, _, _ in chart.points]
    for (at, level, name), own in zip(names, marks, strict=True):
        # A name right beside another mark would be read as that one's.
        others = [(a - 4, b - 4, c + 4, d + 4) for a, b, c, d in marks if (a, b, c, d) != own]
        free = [
            (sum(_holds(box, point) for point in cloud), place, box)
            for place, box in enumerate(_places(at, level, code_width(name)))
            if x.start <= box[0] and box[2] <= x.end + 12 and y.end - 6 <= box[1] and box[3] <= y.start
            if not any(_overlap(box, other) for other in (*taken, *others))
        ]
        if free and min(free)[0] <= _MOST_COVERED:
            box = min(free)[2]
            canvas.text(box[0], box[1] + 12, name, "code lifted")
            taken.append(box)


def _value(values: Mapping[str, str], key: re.Match[str]) -> str:
    return values[key[1]]


def _places(x: float, y: float, width: float) -> list[_Box]:
    """Where a mark's name may lie, the best place first: next to it, above or below it, or at one of its corners."""
    right, middle, left = x + 9, x - width / 2, x - 9 - width
    corners = (
        (right, y - 8), (left, y - 8), (middle, y - 22), (middle, y + 8),
        (right - 4, y - 19), (right - 4, y + 4), (left + 4, y - 19), (left + 4, y + 4),
    )  # fmt: skip
    return [(begin, top, begin + width, top + 14) for begin, top in corners]


def _holds(box: _Box, point: tuple[float, float]) -> bool:
    return box[0] - 2 < point[0] < box[2] + 2 and box[1] - 1 < point[1] < box[3] + 1


def _overlap(a: _Box, b: _Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
