"""Which examples go right and wrong together, group by group."""

from __future__ import annotations

import base64
import binascii
import math
from typing import TYPE_CHECKING, Any

from goldassay.report.figures.png import png_address
from goldassay.report.figures.svg import Canvas, shortened
from goldassay.report.numbers import count, decimal, number
from goldassay.report.outline import mapping, records
from goldassay.report.palette import LIGHT
from goldassay.report.sections.instability import row_name

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE = "Examples that go together"
CAPTION = (
    "Rank correlation between examples that change (in brackets how many are drawn), over the checkpoints of a run or "
    "over runs. Blue go right and wrong together, red against each other. Examples lie group by group, those that go "
    "together side by side; blue blocks on the diagonal are groups that the model gets right or wrong as a whole."
)

_HEAD, _LINE, _SIDE = 26, 13, 430
UNDEFINED = -128


def draw(document: Mapping[str, Any], width: int) -> Canvas | None:
    """A square for each map, with the groups named at its left where there is room."""
    maps = [(each, size) for each in records(mapping(document, "instability").get("maps")) if (size := map_size(each))]
    if not maps:
        return None
    canvas = Canvas(width, 0, f"{TITLE}. {CAPTION}")
    y = 0.0
    for each, size in maps:
        y = _map(canvas, y, width, each, size) + 24
    canvas.height = y - 14
    return canvas


def map_size(each: Mapping[str, Any]) -> int:
    """How many examples a map has; 0 where it does not hold what it should."""
    try:
        size = math.isqrt(len(values := base64.b64decode(str(each.get("values")), validate=True)))
    except (binascii.Error, ValueError):
        return 0
    return size if size > 1 and size * size == len(values) else 0


def _map(canvas: Canvas, y: float, width: int, each: Mapping[str, Any], size: int) -> float:
    by = f", by {each['column']}" if each.get("column") else ""
    drawn = f" ({count(size)} of {count(each.get('n_varying'))})"
    canvas.text(0, y + 16, shortened(f"{row_name(each)}{by}{drawn}", width), "strong")
    groups = records(each.get("groups"))
    left = min(0.3 * width, 190.0) if groups else 0.0
    side = min(width - left - 2, float(_SIDE))
    top = y + _HEAD
    canvas.bar(left, top, side, side, "sheet")
    canvas.image(left, top, side, side, png_address(_rows(str(each["values"]), size)))
    start, written = 0.0, top - 5
    for group in groups:
        share = side * (number(group.get("n_examples")) or 0) / size
        within, others = decimal(group.get("within")), decimal(group.get("with_others"))
        title = (
            f"{group.get('group')}: {count(group.get('n_examples'))} examples, mean correlation {within} with each "
            f"other, {others} with the rest"
        )
        canvas.bar(left + start, top + start, share, share, "frame", title)
        middle = top + start + share / 2
        if middle - written >= _LINE:
            canvas.text(left - 8, middle + 4, shortened(str(group.get("group")), left - 10), "small", "end")
            written = middle
        start += share
    return top + side


def _rows(values: str, size: int) -> list[bytes]:
    """Pixels: blue or red, the more opaque the stronger."""
    colors = {code: _pixel(code) for code in range(-128, 128)}
    raw = base64.b64decode(values)
    signed = memoryview(raw).cast("b").tolist()
    return [b"".join(colors[code] for code in signed[row * size : (row + 1) * size]) for row in range(size)]


def _pixel(code: int) -> bytes:
    if code == UNDEFINED:
        return bytes(4)
    color = LIGHT["s0" if code >= 0 else "s2"]
    return bytes.fromhex(color[1:]) + bytes([min(255, round(2.45 * abs(code)))])
