"""Are examples in biased clusters those that models are sure of? Confidence in biased and other clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, horizontal_grid, vertical_grid
from goldassay.report.figures.svg import Canvas, text_width
from goldassay.report.numbers import count, decimal, number, percent
from goldassay.report.outline import mapping, records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TITLE = "Confidence in clusters that give their label away"
CAPTION = (
    "How sure models of the whole input are of the right label: the share of examples in each fiftieth of the range, "
    "for examples in biased clusters and for all others. If bias made examples easy, the first would lie further right."
)
_LEFT, _FOOT, _HIGH = 52.0, 46.0, 170.0


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """Two step lines for each text that has biased clusters."""
    rows = [
        (str(row.get("role")), inside, others)
        for row in records(mapping(document, "leakage").get("confidence"))
        if (inside := _counts(row.get("biased_histogram"))) and (others := _counts(row.get("other_histogram")))
    ]
    if not rows:
        return None
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    y = 0.0
    for role, inside, others in rows:
        y = _picture(canvas, y, role, inside, others, width)
    canvas.height = y
    return canvas


def _picture(
    canvas: Canvas, top: float, role: str, inside: Sequence[float], others: Sequence[float], width: int
) -> float:
    at = 0.0
    for series, name in enumerate((f"{role}: biased, {count(sum(inside))}", f"others, {count(sum(others))}")):
        canvas.line(at, top + 11.5, at + 20, top + 11.5, f"curve l{_SERIES[series]}")
        canvas.text(at + 26, top + 16, name)
        at += 26 + text_width(name) + 18
    upper, lower, right = top + 28, top + 28 + _HIGH, width - 14.0
    shares = [[value / sum(counts) for value in counts] for counts in (inside, others)]
    x = Scale(0, 1, _LEFT, right)
    y = Scale(0, max(max(each) for each in shares) * 1.05, lower, upper)
    horizontal_grid(canvas, y, _LEFT, right, lambda value: percent(value, 0), 4)
    vertical_grid(canvas, x, upper, lower, lambda value: decimal(value, 1), 5)
    for series, each in enumerate(shares):
        steps = "".join(f"V{y(share):.1f}H{x((i + 1) / len(each)):.1f}" for i, share in enumerate(each))
        canvas.path(f"M{x(0):.1f} {y(0):.1f}{steps}V{y(0):.1f}", f"thin l{_SERIES[series]}")
    middle = (_LEFT + right) / 2
    canvas.text(middle, lower + 36, "mean probability of the right label", "quiet small", "middle")
    return lower + _FOOT


_SERIES = (2, 5)


def _counts(values: Any) -> list[float]:
    found = [number(value) for value in values] if isinstance(values, (list, tuple)) else []
    counts = [value for value in found if value is not None and value >= 0]
    return counts if counts and len(counts) == len(found) and sum(counts) else []
