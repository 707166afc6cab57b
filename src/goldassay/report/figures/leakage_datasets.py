"""Over datasets: each measure against another, a point a part of a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, horizontal_grid, legend, vertical_grid
from goldassay.report.figures.labels import place_names
from goldassay.report.figures.svg import Canvas, marker, text_width
from goldassay.report.numbers import bounds, decimal, number, points
from goldassay.report.outline import mapping, records
from goldassay.report.palette import N_SERIES
from goldassay.report.sections.leakage_datasets import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "What goes together over datasets"
CAPTION = (
    "Each mark is a part of a dataset; its shape and color tell which text was shown. The correlation stands above "
    "each picture, with its 95 % interval. On the dashed line both are equal."
)
# Two accuracies, of which one can be read off against the other.
EQUAL = ("paired", "accuracy")
_SIDE, _HEAD, _FOOT = 190.0, 26.0, 44.0
_RADIUS, _LETTERS = 5.0, 11.0


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A small picture for each pair of measures."""
    found = mapping(document, "leakage")
    rows, pairs = records(found.get("datasets")), records(found.get("correlations"))
    if not rows or not pairs:
        return None
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    parts = list(dict.fromkeys(str(row.get("part")) for row in rows))
    top = legend(canvas, parts, 0, 16, width) + 8
    across = 2 if width > 500 else 1
    wide = width / across
    for at, pair in enumerate(pairs):
        left = (at % across) * wide
        upper = top + (at // across) * (_HEAD + _SIDE + _FOOT)
        _picture(canvas, pair, rows, parts, (left + 52, left + wide - 16), upper)
    canvas.height = top + -(-len(pairs) // across) * (_HEAD + _SIDE + _FOOT)
    return canvas


def _picture(
    canvas: Canvas,
    pair: Mapping[str, Any],
    rows: list[Mapping[str, Any]],
    parts: list[str],
    across: tuple[float, float],
    top: float,
) -> None:
    names = str(pair.get("x")), str(pair.get("y"))
    known = [
        (row, value, up)
        for row in rows
        if (value := number(row.get(names[0]))) is not None and (up := number(row.get(names[1]))) is not None
    ]
    left, right = across
    upper, lower = top + _HEAD, top + _HEAD + _SIDE
    x, y = _scale([each[1] for each in known], left, right), _scale([each[2] for each in known], lower, upper)
    canvas.text(left, top + 14, told(pair), "strong")
    horizontal_grid(canvas, y, left, right, _show(names[1]), 4)
    vertical_grid(canvas, x, upper, lower, _show(names[0]), 4)
    if names == EQUAL:
        low, high = max(x.low, y.low), min(x.high, y.high)
        if low < high:
            canvas.line(x(low), y(low), x(high), y(high), "rule")
    for row, at, level in known:
        series = parts.index(str(row.get("part")))
        title = (
            f"{row.get('dataset')}, {row.get('part')}: {NAMES.get(names[0])} {_show(names[0])(at)}, "
            f"{NAMES.get(names[1])} {_show(names[1])(level)}"
        )
        canvas.path(marker(series, x(at), y(level), _RADIUS), f"f{series % N_SERIES} halo", title)
    shown = [str(row.get("dataset")) for row, _, _ in known]
    places = place_names(
        [(x(at), y(level)) for _, at, level in known],
        [text_width(name, _LETTERS) for name in shown],
        _LETTERS,
        _RADIUS + 2,
        (left, upper, right + 12, lower),
    )
    for name, place in zip(shown, places, strict=True):
        if place is not None:
            canvas.text(place[0], place[1] + 4, name, "quiet small", "middle")
    canvas.text(
        (left + right) / 2, lower + 34, f"{NAMES.get(names[0])} → {NAMES.get(names[1])} ↑", "quiet small", "middle"
    )


def told(pair: Mapping[str, Any]) -> str:
    """A correlation with its interval."""
    interval = bounds(pair.get("low"), pair.get("high"), 2, 1.0)
    return f"r = {decimal(pair.get('r'))} {interval}".rstrip()


def _scale(values: list[float], start: float, end: float) -> Scale:
    low, high = min(values), max(values)
    pad = 0.08 * (high - low) or 0.05
    return Scale(low - pad, high + pad, start, end)


def _show(name: str) -> Any:
    return (lambda value: decimal(value, 2)) if name == "peco" else (lambda value: points(value, 0))
