"""How many test examples the patterns solve, mislead, confuse, or do not reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale
from goldassay.report.figures.svg import Canvas, text_width
from goldassay.report.numbers import count, number, percent
from goldassay.report.outline import mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Easy and hard test examples"
CAPTION = (
    "Easy: every pattern in the example points to its label. Hard: every one points to another label. "
    "Conflicting: both kinds. Uncovered: no pattern in it."
)

_NAMES = ("easy", "hard", "conflicting", "uncovered")


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """One stacked bar over the whole test set, each part named under it."""
    difficulty = mapping(document, "artifacts", "difficulty")
    shares = {name: number(mapping(difficulty, name).get("share")) for name in _NAMES}
    if not any(shares.values()):
        return None
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    scale = Scale(0, 1, 0, width)
    at = 0.0
    legend_at, y = 0.0, 72.0
    for name in _NAMES:
        share = shares[name] or 0.0
        shown = f"{percent(share)} ({count(mapping(difficulty, name).get('n'))})"
        canvas.bar(scale(at), 4, scale(share) - (1.5 if share else 0), 40, name, f"{name}: {shown}")
        if scale(share) > text_width(percent(share)) + 12:
            css = "on-pale" if name == "uncovered" else "on-color"
            canvas.text(scale(at) + scale(share) / 2, 29, percent(share), css, "middle")
        at += share
        entry = 18 + text_width(f"{name} {shown}") + 20
        if legend_at and legend_at + entry - 20 > width:
            legend_at, y = 0.0, y + 22
        canvas.bar(legend_at, y - 10, 11, 11, name)
        canvas.text(legend_at + 17, y, f"{name} {shown}")
        legend_at += entry
    canvas.height = y + 10
    return canvas
