"""In how many runs each example is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale
from goldassay.report.figures.svg import Canvas, shortened, text_width
from goldassay.report.numbers import count, number, percent
from goldassay.report.outline import mapping, records
from goldassay.report.sections.instability import row_name

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Examples that depend on the run"
CAPTION = (
    "All examples of a dataset, from those that every run gets wrong (left) through those that some runs get right to "
    "those that every run gets right. What lies between the two ends is decided by the seed."
)

_ROW, _MOST = 46, 16
_ENDS = (("n_always_wrong", "wrong in every run", "hard"), ("n_always_right", "right in every run", "easy"))


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A bar from 0 to 100 % for each set of runs, cut by the number of runs that are right."""
    rows = []
    for row in records(mapping(document, "instability").get("examples")):
        n = number(row.get("n_examples"))
        if n:
            rows.append((row_name(row), n, row))
    if not rows:
        return None
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    canvas.draw_first(_MOST, len(rows), "bars")
    y = _legend(canvas, width)
    scale = Scale(0, 1, 0, width)
    for name, n, row in rows[:_MOST]:
        _bar(canvas, scale, y, name, n, row)
        y += _ROW
    canvas.height = y + 2
    return canvas


def _legend(canvas: Canvas, width: int) -> float:
    names = (("wrong in every run", "hard"), ("depends on the run", "conflicting"), ("right in every run", "easy"))
    x, y = 0.0, 12.0
    for name, css in names:
        wide = 18 + text_width(name)
        if x and x + wide > width:
            x, y = 0.0, y + 20
        canvas.bar(x, y - 9, 11, 11, css)
        canvas.text(x + 17, y, name)
        x += wide + 18
    return y + 12


def _bar(canvas: Canvas, scale: Scale, y: float, name: str, n: float, row: Mapping[str, Any]) -> None:
    wrong, right = (number(row.get(key)) or 0 for key, *_ in _ENDS)
    constant = number(row.get("n_constant")) or 0
    shown = f"{percent((n - constant) / n)} depend on the run"
    canvas.text(0, y + 15, shortened(name, canvas.width - text_width(shown) - 12), "strong")
    canvas.text(canvas.width, y + 15, shown, "quiet small", "end")
    histogram = [number(value) or 0 for value in row.get("histogram") or ()]
    runs = len(histogram) - 1
    parts = [(f"{r} of {runs} runs right", size, _tone(r, runs)) for r, size in enumerate(histogram)]
    if not parts:
        varying = n - wrong - right
        parts = [("wrong in every run", wrong, "hard"), ("others", varying, "conflicting")]
        parts.append(("right in every run", right, "easy"))
    x = 0.0
    for what, size, css in parts:
        if size:
            start, end = scale(x / n), scale((x + size) / n)
            title = f"{name}: {count(size)} examples ({percent(size / n)}) {what}"
            canvas.bar(start, y + 21, max(end - start, 0.6), 17, css, title)
            x += size


def _tone(right: int, runs: int) -> str:
    return "hard" if right == 0 else "easy" if right == runs else "conflicting"
