"""How the score moves from checkpoint to checkpoint: mean, band and a single run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, horizontal_grid
from goldassay.report.figures.svg import Canvas, marker, shortened
from goldassay.report.numbers import decimal, number
from goldassay.report.outline import mapping, records
from goldassay.report.sections.instability import row_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TITLE = "Scores over training"
CAPTION = (
    "The thick line is the mean over runs at each checkpoint, the band one standard deviation to either side, the thin "
    "line one run. Each panel has its own scale."
)

_PANEL, _HEAD, _FOOT, _MOST, _MARKS, _LEFT = 150, 26, 40, 12, 40, 44


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """One panel a model, dataset and condition, two in a row where there is room."""
    panels = []
    for each in records(mapping(document, "instability").get("trajectories")):
        steps = [step for step in records(each.get("points")) if number(step.get("mean")) is not None]
        if len(steps) > 1:
            panels.append((row_name(each), str(each.get("seed")), steps))
    if not panels:
        return None
    n, panels = len(panels), panels[:_MOST]
    per_row = 2 if width > 500 and len(panels) > 1 else 1
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    canvas.draw_first(_MOST, n, "panels")
    gap = 28
    panel_width = (width - gap * (per_row - 1)) / per_row
    high = _HEAD + _PANEL + _FOOT
    for position, (name, seed, steps) in enumerate(panels):
        x, y = (position % per_row) * (panel_width + gap), position // per_row * high
        _panel(canvas, x, y, panel_width, name, seed, steps)
    canvas.height = -(-len(panels) // per_row) * high
    return canvas


def _places(steps: Sequence[Mapping[str, Any]], left: float, right: float) -> list[float]:
    """Where checkpoints stand: by their step where they are numbers, else evenly."""
    values = [number(step.get("t")) for step in steps]
    known = [value for value in values if value is not None]
    if len(known) < len(values) or len(set(known)) < len(known):
        known = [float(i) for i in range(len(steps))]
    scale = Scale(min(known), max(known), left, right)
    return [scale(value) for value in known]


def _panel(
    canvas: Canvas, x: float, y: float, width: float, name: str, seed: str, steps: Sequence[Mapping[str, Any]]
) -> None:
    canvas.text(x, y + 16, shortened(name, width), "strong")
    left, right, top, bottom = x + _LEFT, x + width - 6, y + _HEAD, y + _HEAD + _PANEL
    values = [
        100 * v for step in steps for key in ("mean", "low", "high", "run") if (v := number(step.get(key))) is not None
    ]
    pad = 0.06 * (max(values) - min(values)) or 0.5
    scale = Scale(min(values) - pad, max(values) + pad, bottom, top)
    digits = 0 if scale.high - scale.low > 4 else 1 if scale.high - scale.low > 0.4 else 2
    horizontal_grid(canvas, scale, left, right, lambda value: decimal(value, digits), 4)
    places = _places(steps, left + 4, right - 4)
    banded = [
        (px, low, high)
        for px, step in zip(places, steps, strict=True)
        if (low := number(step.get("low"))) is not None and (high := number(step.get("high"))) is not None
    ]
    if banded:
        upper = [f"{px:.1f} {scale(100 * high):.1f}" for px, _, high in banded]
        lower = [f"{px:.1f} {scale(100 * low):.1f}" for px, low, _ in reversed(banded)]
        canvas.path(f"M{'L'.join(upper + lower)}z", "wash")
    for key, css in (("run", "l1 thin"), ("mean", "l0 curve")):
        line = [(px, v) for px, step in zip(places, steps, strict=True) if (v := number(step.get(key))) is not None]
        canvas.path("M" + "L".join(f"{px:.1f} {scale(100 * v):.1f}" for px, v in line), css)
    every = -(-len(steps) // _MARKS)
    for at, (px, step) in enumerate(zip(places, steps, strict=True)):
        if at % every and at + 1 < len(steps):
            continue
        band = "" if number(step.get("low")) is None else f", band {_p(step['low'])} to {_p(step.get('high'))}"
        title = f"{name}, checkpoint {step.get('t')}: mean {_p(step['mean'])}{band}, seed {seed} {_p(step.get('run'))}"
        canvas.path(marker(0, px, scale(100 * step["mean"]), 3.2), "f0 halo", title)
    canvas.text(left, bottom + 17, str(steps[0].get("t")), "quiet small")
    canvas.text((left + right) / 2, bottom + 17, "checkpoint", "quiet small", "middle")
    canvas.text(right, bottom + 17, str(steps[-1].get("t")), "quiet small", "end")


def _p(value: Any) -> str:
    x = number(value)
    return decimal(None if x is None else 100 * x, 2)
