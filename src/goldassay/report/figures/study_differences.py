"""What each way of training changes against a baseline, measure by measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, legend, vertical_grid
from goldassay.report.figures.svg import Canvas, marker, shortened, text_width
from goldassay.report.numbers import bounds, decimal, number
from goldassay.report.outline import records
from goldassay.report.palette import N_SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping

SUFFIX = ""
CAPTION = (
    "The difference from plain training in points, with its 95 % interval: a block a measure, a mark a way of "
    "training. An interval that holds 0, the dashed line, shows no change."
)

_ROW, _HEAD = 20, 26


def draw_comparison(comparison: Mapping[str, Any], width: int) -> Canvas | None:
    """A block a measure, in it a dot with an interval for each way of training."""
    down, across = (str((comparison.get(key) or ("",))[0]) for key in ("rows", "columns"))
    blocks: dict[str, list[Mapping[str, Any]]] = {}
    for cell in records(comparison.get("cells")):
        if all(number(cell.get(key)) is not None for key in ("ours", "low", "high")):
            blocks.setdefault(str(cell.get(down)), []).append(cell)
    if not blocks:
        return None
    names = list(dict.fromkeys(str(cell.get(across)) for block in blocks.values() for cell in block))
    canvas = Canvas(width, 0, f"{comparison.get('title')}. {CAPTION}")
    left = min(max(text_width(name) for name in blocks) + 14, 0.42 * width) if width > 500 else 14.0
    top = legend(canvas, names, 0, 16, width) + 6
    ends = [float(cell[key]) for block in blocks.values() for cell in block for key in ("low", "high")]
    low, high = min(*ends, 0.0), max(*ends, 0.0)
    pad = 0.04 * (high - low) or 0.5
    scale = Scale(low - pad, high + pad, left, width - 14)
    head = 0 if width > 500 else _HEAD
    heights = [head + _ROW * len(block) + 12 for block in blocks.values()]
    bottom = top + sum(heights)
    vertical_grid(canvas, scale, top, bottom, lambda value: decimal(value, 0), 6 if width > 500 else 4)
    canvas.line(scale(0), top, scale(0), bottom, "rule")
    y = top
    for (name, block), height in zip(blocks.items(), heights, strict=True):
        middle = y + (height - 8) / 2 + 4 if width > 500 else y + 16
        canvas.text(0, middle, shortened(name, left - 12 if width > 500 else width), "lifted")
        for i, cell in enumerate(block):
            _mark(canvas, scale, y + head + _ROW * (i + 0.5) + 2, cell, names.index(str(cell.get(across))), name)
        canvas.line(0, y + height - 4, width, y + height - 4, "grid")
        y += height
    canvas.text((left + scale.end) / 2, bottom + 36, "difference (points)", "quiet small", "middle")
    canvas.height = bottom + 42
    return canvas


def _mark(canvas: Canvas, scale: Scale, y: float, cell: Mapping[str, Any], series: int, name: str) -> None:
    low, high, value = (float(cell[key]) for key in ("low", "high", "ours"))
    canvas.path(f"M{scale(low):.1f} {y - 3:.1f}v6m0 -3H{scale(high):.1f}m0 -3v6", "whisker")
    title = f"{name}: {decimal(value, 1)} {bounds(low, high, 1, 1.0)}"
    canvas.path(marker(series, scale(value), y, 5), f"f{series % N_SERIES} halo", title)
