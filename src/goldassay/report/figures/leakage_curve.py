"""How many examples lie in clusters that diverge by more than a threshold: what the outlier score sums up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, horizontal_grid, vertical_grid
from goldassay.report.figures.svg import Canvas, text_width
from goldassay.report.numbers import decimal, number, percent
from goldassay.report.outline import mapping, records
from goldassay.report.palette import N_SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Examples in diverging clusters"
CAPTION = (
    "The share of examples whose cluster diverges by more than the threshold on the horizontal axis. The area under a "
    "line, less what chance alone gives, is the outlier score; the dashed line is where a cluster counts as biased."
)
_LEFT, _BOTTOM = 52.0, 46.0


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A step line for each text."""
    rows = [(str(row.get("role")), curve) for row in _rows(document) if (curve := _curve(row))]
    if not rows:
        return None
    height = 260
    canvas = Canvas(width, height, f"{TITLE}. {CAPTION}")
    at = 0.0
    for series, (role, _) in enumerate(rows):
        canvas.line(at, 11.5, at + 20, 11.5, f"curve l{series % N_SERIES}")
        canvas.text(at + 26, 16, role)
        at += 26 + text_width(role) + 18
    reach = max(t for _, curve in rows for t, share in curve if share > 0)
    top, right, bottom = 32.0, width - 14.0, height - _BOTTOM
    x = Scale(0, max(0.3, min(1.0, reach * 1.1)), _LEFT, right)
    y = Scale(0, max(share for _, curve in rows for _, share in curve), bottom, top)
    horizontal_grid(canvas, y, _LEFT, right, lambda value: percent(value, 0), 4)
    vertical_grid(canvas, x, top, bottom, lambda value: decimal(value, 2), 5 if width > 500 else 3)
    threshold = number(_rows(document)[0].get("threshold"))
    if threshold is not None and threshold < x.high:
        canvas.line(x(threshold), top, x(threshold), bottom, "rule")
    for series, (_, curve) in enumerate(rows):
        steps = [(min(t, x.high), share) for t, share in curve if t <= x.high]
        path = f"M{x(steps[0][0]):.1f} {y(steps[0][1]):.1f}" + "".join(
            f"H{x(t):.1f}V{y(share):.1f}" for t, share in steps[1:]
        )
        canvas.path(path, f"curve l{series % N_SERIES}")
    canvas.text((_LEFT + right) / 2, height - 8, "divergence of the example's cluster", "quiet small", "middle")
    return canvas


def _rows(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return records(mapping(document, "leakage").get("peco"))


def _curve(row: Mapping[str, Any]) -> list[tuple[float, float]]:
    curve = mapping(row, "curve")
    pairs = zip(curve.get("thresholds") or (), curve.get("shares") or (), strict=False)
    found = [(t, s) for t, s in ((number(a), number(b)) for a, b in pairs) if t is not None and s is not None]
    return found if any(share > 0 for _, share in found) else []
