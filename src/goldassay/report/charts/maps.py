"""Thousands of points, found by the pointer, with the strongest named.

Thousands of marks as elements with a title each would weigh more than the rest of the page. So the points of a series
are one path, and the page's script finds the point under the pointer in the chart's data; only the strongest points
are marks of their own, which answer to the pointer without a script too.

Points on a plane that is a map, with groups outlined.

Ten thousand points are a picture of pixels, by series. The page's script draws them anew by group or by the groups'
value, and shows the text of the point under the pointer; the outlines are shapes that answer without a script, too.

Square matrices of hundreds of rows, a pixel a value.

Matrices of a few cells, colored by sign and size.

Names beside marks, as far as there is room for them.

Scales, ticks and legends that several pictures share.
"""

from __future__ import annotations

import base64
import math
import re
from array import array
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from goldassay.core.charts import MAP_EXTENT, Cloud, Grid, Matrix, MatrixCell, PixelGrid, PixelMatrix, PointMap
from goldassay.core.numbers import count, decimal, percent, points, signed_points
from goldassay.report.charts.svg import (
    CODE_SIZE,
    LIGHT,
    N_SERIES,
    Canvas,
    as_page_data,
    code_width,
    data_id,
    draw_mark,
    fill,
    marker,
    png_address,
    shortened,
    stroke,
    text_width,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from goldassay.core.charts import Axis, Series

    Box = tuple[float, float, float, float]

# Points of the cloud that a name may cover.
_MOST_COVERED = 2
_KEY = re.compile(r"\{(name|series|x|y)\}")
_Box = tuple[float, float, float, float]


def draw_cloud(chart: Cloud, width: int) -> Canvas:
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


def cloud_as_json(chart: Cloud) -> str:
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


_PIXELS = 880
_DOT = 3
_MOST_NAMED = 6


def draw_point_map(chart: PointMap, width: int) -> Canvas:
    """Draw a square of points, one color a series, and the outlines."""
    canvas = Canvas(width, 0, chart.label)
    top = legend(canvas, chart.series[:_MOST_NAMED], 0, 16, width) + 4
    side = float(min(width, 620))
    canvas.bar(0, top, side, side, "paper-sheet")
    canvas.image(0, top, side, side, png_address(_pixels(chart)), "dots")
    scale = side / MAP_EXTENT
    for outline in chart.outlines:
        path = "M" + "L".join(f"{x * scale:.1f} {top + side - y * scale:.1f}" for x, y in outline.corners) + "z"
        canvas.path(path, "outline" if outline.strong else "outline faint", outline.hover)
    canvas.height = top + side + 4
    canvas.data = {"map": data_id(chart.name), "top": f"{top:g}", "side": f"{side:g}"}
    return canvas


def point_map_as_json(chart: PointMap) -> str:
    """The points for the page's script; places and numbers packed as unsigned numbers, the lesser byte first."""
    packed = {
        name: base64.b64encode(array(kind, values).tobytes()).decode("ascii")
        for name, kind, values in (
            ("x", "H", chart.x),
            ("y", "H", chart.y),
            ("labels", "B", chart.labels),
            ("groups", "H", chart.groups),
        )
    }
    return as_page_data(
        {
            **packed,
            "texts": chart.texts or None,
            "values": chart.group_values,
            "label_names": [series.name for series in chart.series],
            "outlined": [outline.group for outline in chart.outlines],
            "group_is": chart.group_is,
            "value_is": chart.value_is,
        }
    )


def _pixels(chart: PointMap) -> list[bytes]:
    """Rows of pixels: a small square a point, later ones over earlier ones."""
    colors = [bytes.fromhex(LIGHT[f"s{series}"][1:]) + b"\xc8" for series in range(N_SERIES)]
    rows = [bytearray(4 * _PIXELS) for _ in range(_PIXELS)]
    scale = (_PIXELS - _DOT) / MAP_EXTENT
    for x, y, label in zip(chart.x, chart.y, chart.labels, strict=True):
        left, top = int(x * scale), int((MAP_EXTENT - y) * scale)
        run = colors[label % N_SERIES] * _DOT
        for row in rows[top : top + _DOT]:
            row[4 * left : 4 * left + len(run)] = run
    return [bytes(row) for row in rows]


_PIXELS_HEAD, _LINE, _SIDE = 26, 13, 430
UNDEFINED = -128


def draw_pixel_matrix(chart: PixelMatrix, width: int) -> Canvas:
    """Draw a square a grid, with its blocks named at the left where there is room."""
    canvas = Canvas(width, 0, chart.label)
    y = 0.0
    for grid in chart.grids:
        y = _pixel_grid(canvas, grid, y) + 24
    canvas.height = y - 14
    return canvas


def _pixel_grid(canvas: Canvas, grid: PixelGrid, y: float) -> float:
    canvas.text(0, y + 16, shortened(grid.title, canvas.width), "strong")
    left = min(0.3 * canvas.width, 190.0) if grid.blocks else 0.0
    side = min(canvas.width - left - 2, float(_SIDE))
    top = y + _PIXELS_HEAD
    canvas.bar(left, top, side, side, "sheet")
    canvas.image(left, top, side, side, png_address(_rows(grid)))
    start, written = 0.0, top - 5
    for block in grid.blocks:
        share = side * block.size / grid.size
        canvas.bar(left + start, top + start, share, share, "frame", block.hover)
        middle = top + start + share / 2
        if middle - written >= _LINE:
            canvas.text(left - 8, middle + 4, shortened(block.name, left - 10), "small", "end")
            written = middle
        start += share
    return top + side


def _rows(grid: PixelGrid) -> list[bytes]:
    """Pixels: blue or red, the more opaque the stronger."""
    colors = {code: _pixel(code) for code in range(-128, 128)}
    signed = memoryview(base64.b64decode(grid.values)).cast("b").tolist()
    size = grid.size
    return [b"".join(colors[code] for code in signed[row * size : (row + 1) * size]) for row in range(size)]


def _pixel(code: int) -> bytes:
    if code == UNDEFINED:
        return bytes(4)
    color = LIGHT["s0" if code >= 0 else "s2"]
    return bytes.fromhex(color[1:]) + bytes([min(255, round(2.45 * abs(code)))])


_HEAD, _BETWEEN = 26, 22
_WIDEST, _HIGHEST = 72.0, 34.0
# In narrower columns a name is replaced by a number, and a value is left out.
_NAMED, _WRITTEN = 48, 32


def draw_matrix(chart: Matrix, width: int) -> Canvas:
    """Draw the grids below each other."""
    canvas = Canvas(width, 0, chart.label)
    y = 0.0
    for grid in chart.grids:
        y = _grid(canvas, grid, y) + _BETWEEN
    canvas.height = y - 12
    return canvas


def _grid(canvas: Canvas, grid: Grid, y: float) -> float:
    if grid.title:
        canvas.text(0, y + 16, shortened(grid.title, canvas.width), "strong")
        y += _HEAD
    left = min(max(text_width(name) for name in grid.rows) + 26, 0.36 * canvas.width)
    width = min(_WIDEST, (canvas.width - left - 2) / len(grid.columns))
    height = min(width, _HIGHEST)
    numbered = width < _NAMED or any(text_width(name, CODE_SIZE) > 2 * width for name in grid.columns)
    top = y + 24
    for j, name in enumerate(grid.columns):
        # Narrow columns are headed by the number in front of the row of that name.
        head = str(j + 1) if numbered else shortened(name, width - 4, lambda text: text_width(text, CODE_SIZE))
        canvas.text(left + (j + 0.5) * width, top - 8, head, "quiet small", "middle")
    for i, name in enumerate(grid.rows):
        shown = f"{i + 1} {name}" if numbered else name
        canvas.text(left - 8, top + (i + 0.5) * height + 4, shortened(shown, left - 10), "", "end")
    for cell in grid.cells:
        _cell(canvas, cell, left + cell.column * width, top + cell.row * height, width, height)
    return top + len(grid.rows) * height


def _cell(canvas: Canvas, cell: MatrixCell, x: float, y: float, width: float, height: float) -> None:
    if cell.strength is None:
        canvas.bar(x, y, width - 2, height - 2, "band", cell.hover)
        return
    canvas.bar(x, y, width - 2, height - 2, "band")
    opacity = max(0.04, 0.85 * min(1.0, abs(cell.strength)))
    canvas.bar(x, y, width - 2, height - 2, "f0" if cell.strength >= 0 else "f2", cell.hover, opacity)
    if cell.framed:
        inset, right, bottom = x + 1.5, x + width - 3.5, y + height - 3.5
        canvas.path(f"M{inset:.1f} {y + 1.5:.1f}H{right:.1f}V{bottom:.1f}H{inset:.1f}z", "whisker")
    if width >= _WRITTEN:
        style = "on-color small" if opacity > 0.55 else "on-pale small"
        canvas.text(x + width / 2 - 1, y + height / 2 + 3, cell.text, style, "middle")


def place_names(
    marks: Sequence[tuple[float, float]], widths: Sequence[float], height: float, gap: float, room: Box
) -> list[tuple[float, float] | None]:
    """Where each mark's name goes: right of it, left, above or below, whichever is free first; None where nothing is.

    Args:
        marks: Centers, the second number growing downwards or upwards alike.
        widths: Of the names.
        height: Of all names.
        gap: From a mark's center to its name, and half the side of the square that the mark takes.
        room: Left, lower, right and upper bound of where names may be.

    Returns:
        The middle of each name.
    """
    taken = [(x - 0.8 * gap, y - 0.8 * gap, x + 0.8 * gap, y + 0.8 * gap) for x, y in marks]
    places: list[tuple[float, float] | None] = []
    for (x, y), width in zip(marks, widths, strict=True):
        aside, over = gap + width / 2, gap + height / 2
        tried = ((x + aside, y), (x - aside, y), (x, y - over), (x, y + over))
        boxes = [(a - width / 2, b - height / 2, a + width / 2, b + height / 2) for a, b in tried]
        free = next((at for at, box in enumerate(boxes) if _inside(box, room) and not _meets(box, taken)), None)
        places.append(None if free is None else tried[free])
        if free is not None:
            taken.append(boxes[free])
    return places


def _inside(box: Box, room: Box) -> bool:
    return box[0] >= room[0] and box[1] >= room[1] and box[2] <= room[2] and box[3] <= room[3]


def _meets(box: Box, others: Sequence[Box]) -> bool:
    return any(box[0] < o[2] and o[0] < box[2] and box[1] < o[3] and o[1] < box[3] for o in others)


@dataclass(frozen=True)
class Scale:
    """A value's place on an axis: linear, or logarithmic, from `low`..`high` to `start`..`end` pixels."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """The place of a value, in pixels."""
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self, n: int = 5) -> list[float]:
        """About `n` round values inside the scale; whole powers of ten, or 1-2-5 of them, on a logarithmic one."""
        if self.log:
            decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            spread = math.log10(self.high / self.low)
            steps = (1,) if spread > n - 1 else (1, 3) if spread > n / 2 else (1, 2, 5)
            values = [step * 10.0**decade for decade in decades for step in steps]
            return [value for value in values if self.low <= value <= self.high]
        raw = (self.high - self.low) / max(n, 1)
        size = 10.0 ** math.floor(math.log10(raw))
        step = next(size * k for k in (1, 2, 2.5, 5, 10) if size * k >= raw * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [i * step for i in range(first, math.floor(self.high / step + 1e-9) + 1)]


def scale_for(axis: Axis, values: Sequence[float], start: float, end: float, pad: float = 0.05) -> Scale:
    """The scale of an axis: its own ends where it has any, else those of the values with a margin of `pad`."""
    least, most = min(values, default=0.0), max(values, default=1.0)
    if axis.log:
        # Wide enough for one of 1, 2 and 5 to lie between the ends, however alike the values are.
        low, high = (least / 1.6 if axis.low is None else axis.low), (most * 1.6 if axis.high is None else axis.high)
        return Scale(low, high, start, end, log=True)
    margin = pad * (most - least)
    low = least - margin if axis.low is None else axis.low
    high = most + margin if axis.high is None else axis.high
    if high <= low:
        half = _HALF_OF_NOTHING.get(axis.unit, 0.5)
        low, high = (low - half if axis.low is None else low), low + half
    return Scale(low, high, start, end)


# Half the span around values that are all the same.
_HALF_OF_NOTHING = {"points": 0.005, "signed points": 0.005, "percent": 0.05}


def printed_ticks(axis: Axis, scale: Scale, n: int) -> list[tuple[float, str]]:
    """About `n` round values inside a scale, each as it is printed: with as many decimals as tell all of them apart."""
    values = scale.ticks(n)
    if axis.unit == "count":
        # Between whole numbers there is nothing to count: two ranks would be named 1, 1, 2, 2.
        values = [value for value in values if abs(value - round(value)) < 1e-9] or values
    digits = max(axis.digits or 0, _decimals([times(axis) * value for value in values]))
    printers: dict[str, Callable[[float], str]] = {
        "points": lambda value: points(value, digits),
        "signed points": lambda value: signed_points(value, digits),
        "percent": lambda value: percent(value, digits),
        "number": lambda value: decimal(value, digits),
        "count": count,
        "size": short_size,
    }
    return [(value, printers[axis.unit](value)) for value in values]


def times(axis: Axis) -> float:
    """What a value is multiplied by to be printed in the unit of its axis."""
    return 100.0 if axis.unit in ("points", "signed points", "percent") else 1.0


def _decimals(values: Sequence[float], most: int = 4) -> int:
    """The fewest decimals that print values exactly."""
    for digits in range(most):
        if all(abs(value - round(value, digits)) <= 1e-9 * max(1.0, abs(value)) for value in values):
            return digits
    return most


def value_text(axis: Axis, value: float) -> str:
    """One value in the unit of its axis."""
    return (
        count(value) if axis.unit in ("count", "size") else percent(value) if axis.unit == "percent" else points(value)
    )


def short_size(size: float) -> str:
    """A size with a unit: 1k, 1M, 1B."""
    for scale, unit in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if size >= scale:
            return f"{decimal(size / scale, 0)}{unit}"
    return count(size)


def vertical_grid(canvas: Canvas, axis: Axis, scale: Scale, top: float, bottom: float, n: int) -> None:
    """Vertical grid lines with their values under them."""
    for value, text in printed_ticks(axis, scale, n):
        x = scale(value)
        canvas.line(x, top, x, bottom, "grid")
        canvas.text(x, bottom + 17, text, "quiet small", "middle")


def horizontal_grid(canvas: Canvas, axis: Axis, scale: Scale, left: float, right: float, n: int) -> None:
    """Horizontal grid lines with their values to the left."""
    for value, text in printed_ticks(axis, scale, n):
        y = scale(value)
        canvas.line(left, y, right, y, "grid")
        canvas.text(left - 8, y + 4, text, "quiet small", "end")


def legend(canvas: Canvas, series: Sequence[Series], x: float, y: float, right: float) -> float:
    """A line of markers with names, broken where it must be; returns the y below it."""

    def draw(at: float, y: float, each: Series) -> None:
        canvas.path(marker(each.marker, at + 5, y - 4.5, 4.5), fill(each))

    return _entries(canvas, series, (x, right), y, 15, draw)


def line_legend(canvas: Canvas, series: Sequence[Series], x: float, y: float, right: float) -> float:
    """A line of line samples with names, broken where it must be; returns the y below it."""

    def draw(at: float, y: float, each: Series) -> None:
        canvas.line(at, y - 4.5, at + 20, y - 4.5, f"curve {stroke(each)}")

    return _entries(canvas, series, (x, right), y, 26, draw)


def _entries(
    canvas: Canvas,
    series: Sequence[Series],
    ends: tuple[float, float],
    y: float,
    sample: float,
    draw: Callable[[float, float, Series], None],
) -> float:
    at, right = ends
    for each in series:
        shown = shortened(each.name, right - ends[0] - sample - 9)
        width = sample + text_width(shown) + 21
        if at > ends[0] and at + width - 18 > right:
            at, y = ends[0], y + 20
        draw(at, y, each)
        canvas.text(at + sample, y, shown)
        at += width
    return y + 12
