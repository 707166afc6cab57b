"""How sure a model is of its own texts and of others, over each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale
from goldassay.report.figures.panels import Panel, lay_out, under, value_axis
from goldassay.report.figures.svg import Canvas, marker
from goldassay.report.numbers import number, percent, points
from goldassay.report.outline import mapping, records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TITLE = "Confidence in own and foreign texts"
CAPTION = (
    "One panel a model and other set: the share of texts by the probability of the predicted class, all runs together. "
    "Filled: the model's own distribution; the line: the other. Where they lie over each other, confidence cannot tell "
    "them apart."
)

_HEIGHT, _MOST = 120, 30


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A panel a model and other set."""
    rows = records(mapping(document, "shift").get("histograms"))
    if not rows:
        return None
    n, rows = len(rows), rows[:_MOST]
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    canvas.draw_first(_MOST, n, "panels")
    canvas.bar(0, 5, 12, 10, "wash")
    canvas.text(18, 14, "own distribution")
    canvas.path(marker(0, 150, 9.5, 0.1), "l1 curve")
    canvas.line(142, 10, 158, 10, "l1 curve")
    canvas.text(164, 14, "other set")
    several = len({row.get("model") for row in rows}) > 1
    names = [(str(row.get("model")), str(row.get("dataset"))) if several else str(row.get("dataset")) for row in rows]
    for panel, row in zip(lay_out(canvas, names, _HEIGHT, 24), rows, strict=True):
        _panel(canvas, panel, row)
    return canvas


def _numbers(values: Any) -> list[float]:
    return [number(value) or 0.0 for value in values] if isinstance(values, (list, tuple)) else []


def _panel(canvas: Canvas, panel: Panel, row: Mapping[str, Any]) -> None:
    edges, inside, outside = (_numbers(row.get(key)) for key in ("edges", "share_in", "share_out"))
    if len(edges) < 2 or len(inside) != len(edges) - 1 or len(outside) != len(inside):
        return
    high = 1.08 * max(*inside, *outside) or 1.0
    scale = value_axis(canvas, panel, 0.0, high, _share, 3)
    across = Scale(edges[0], edges[-1], panel.left, panel.right)
    canvas.path(_steps(across, scale, edges, inside, closed=True), "wash")
    canvas.path(_steps(across, scale, edges, inside, closed=False), "l0 thin")
    canvas.path(_steps(across, scale, edges, outside, closed=False), "l1 curve")
    for i, (a, b) in enumerate(zip(inside, outside, strict=True)):
        title = f"confidence {points(edges[i], 0)} to {points(edges[i + 1], 0)}: own {percent(a)}, other {percent(b)}"
        x = across(edges[i])
        canvas.bar(x, panel.top, across(edges[i + 1]) - x, panel.bottom - panel.top, "", title, opacity=0.0)
    middle = (edges[0] + edges[-1]) / 2
    ticks = [(across(value), points(value, 0)) for value in (edges[0], middle, edges[-1])]
    under(canvas, panel, ticks, "confidence (%); texts (%)")


def _share(value: float) -> str:
    """A tick in percent, with a decimal where it is not whole."""
    return points(value, 0 if abs(100 * value - round(100 * value)) < 1e-6 else 1)


def _steps(across: Scale, scale: Scale, edges: Sequence[float], shares: Sequence[float], *, closed: bool) -> str:
    path = f"M{across(edges[0]):.1f} {scale(0):.1f}"
    for i, share in enumerate(shares):
        path += f"V{scale(share):.1f}H{across(edges[i + 1]):.1f}"
    return f"{path}V{scale(0):.1f}" + ("z" if closed else "")
