"""Risk against coverage: what is gained by leaving unsure answers out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale
from goldassay.report.figures.panels import Panel, under, value_axis
from goldassay.report.figures.shift_reliability import draw_by_model
from goldassay.report.figures.svg import Canvas, marker
from goldassay.report.numbers import number, points
from goldassay.report.palette import N_SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Risk against coverage"
CAPTION = (
    "One panel a model, one line a set: the share of errors among the answers given, when only the surest are, mean "
    "over runs. A line that falls to the left is a confidence that can be used; a level one is none."
)

_MARKS = 6


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A panel a model."""
    return draw_by_model(document, width, "risk_coverage", f"{TITLE}. {CAPTION}", _panel)


def _panel(canvas: Canvas, panel: Panel, rows: list[Mapping[str, Any]], sets: list[str]) -> None:
    curves = [(sets.index(str(row.get("dataset"))), _curve(row)) for row in rows]
    risks = [risk for _, curve in curves for _, risk in curve]
    if not risks:
        return
    scale = value_axis(canvas, panel, 0.0, 1.08 * max(risks) or 1.0, lambda value: points(value, 0))
    across = Scale(0.0, 1.0, panel.left, panel.right)
    for series, curve in curves:
        css = series % N_SERIES
        canvas.path("M" + "L".join(f"{across(share):.1f} {scale(risk):.1f}" for share, risk in curve), f"l{css} curve")
        for share, risk in curve[:: -max(1, len(curve) // _MARKS)]:
            title = f"{sets[series]}: {points(risk)} % wrong when {points(share, 0)} % are answered"
            canvas.path(marker(series, across(share), scale(risk), 3.4), f"f{css} halo", title)
    under(canvas, panel, [(across(value), points(value, 0)) for value in across.ticks(4)], "answered (%); wrong (%)")


def _curve(row: Mapping[str, Any]) -> list[tuple[float, float]]:
    shares, risks = row.get("coverages"), row.get("risks")
    if not isinstance(shares, (list, tuple)) or not isinstance(risks, (list, tuple)):
        return []
    pairs = [(number(a), number(b)) for a, b in zip(shares, risks, strict=False)]
    return [(a, b) for a, b in pairs if a is not None and b is not None]
