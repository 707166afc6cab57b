"""How long the texts of each label are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.figures.axes import Scale, legend, vertical_grid
from goldassay.report.figures.svg import Canvas, marker, text_width
from goldassay.report.numbers import count, decimal, number
from goldassay.report.outline import mapping, records
from goldassay.report.palette import N_SERIES

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Length by label"
CAPTION = "Mean length; the thin line reaches to the 95th percentile."

_ROW = 18


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A dot for the mean of each label, one block a split and text, on one scale."""
    rows = [row for row in records(mapping(document, "facts").get("lengths")) if number(row.get("mean")) is not None]
    if not rows:
        return None
    labels = list(dict.fromkeys(str(row.get("label")) for row in rows))
    blocks: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        blocks.setdefault(f"{row.get('split')}, {row.get('role')}", []).append(row)
    left = min(max(text_width(name) for name in blocks) + 14, 0.42 * width)
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    top = legend(canvas, labels, 0, 16, width)
    high = max(max(number(row.get("p95")) or 0.0, row["mean"]) for row in rows)
    scale = Scale(0, max(high, 1.0) * 1.03, left, width - 10)
    bottom = top + sum(len(block) * _ROW + 14 for block in blocks.values())
    vertical_grid(canvas, scale, top, bottom, lambda value: decimal(value, 0), 6)
    y = top + 7
    for name, block in blocks.items():
        canvas.text(0, y + len(block) * _ROW / 2 + 4, name)
        for row in block:
            series = labels.index(str(row.get("label")))
            _row(canvas, scale, y + _ROW / 2, row, series, name)
            y += _ROW
        y += 14
    unit = str(mapping(document, "facts").get("length_unit") or "words")
    canvas.text((left + width - 10) / 2, bottom + 36, unit, "quiet small", "middle")
    canvas.height = bottom + 42
    return canvas


def _row(canvas: Canvas, scale: Scale, y: float, row: Mapping[str, Any], series: int, name: str) -> None:
    p95 = number(row.get("p95"))
    if p95 is not None:
        canvas.line(scale(row["mean"]), y, scale(p95), y, f"curve l{series % N_SERIES}")
    shown = f"mean {decimal(row['mean'], 1)}, median {decimal(row.get('median'), 0)}, 95 % below {count(p95)}"
    canvas.path(
        marker(series, scale(row["mean"]), y, 5),
        f"f{series % N_SERIES} halo",
        f"{name}, {row.get('label')}: {shown}",
    )
