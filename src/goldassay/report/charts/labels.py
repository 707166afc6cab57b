"""Names beside marks, as far as there is room for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    Box = tuple[float, float, float, float]


def place_names(
    marks: Sequence[tuple[float, float]], widths: Sequence[float], height: float, gap: float, room: Box
) -> list[tuple[float, float] | None]:
    """Where each mark's name goes: right of it, left, above or below, whichever is free first; None where nothing is.

    Args:
        marks: Centers, the second number growing downwards or upwards alike.
        widths: Of the names.
        height: Of all names.
        gap: From a mark's center to its name, and half the side of the square that the mark takes.
        room: Left, lower, right and upper bound of where names may be.

    Returns:
        The middle of each name.
    """
    taken = [(x - 0.8 * gap, y - 0.8 * gap, x + 0.8 * gap, y + 0.8 * gap) for x, y in marks]
    places: list[tuple[float, float] | None] = []
    for (x, y), width in zip(marks, widths, strict=True):
        aside, over = gap + width / 2, gap + height / 2
        tried = ((x + aside, y), (x - aside, y), (x, y - over), (x, y + over))
        boxes = [(a - width / 2, b - height / 2, a + width / 2, b + height / 2) for a, b in tried]
        free = next((at for at, box in enumerate(boxes) if _inside(box, room) and not _meets(box, taken)), None)
        places.append(None if free is None else tried[free])
        if free is not None:
            taken.append(boxes[free])
    return places


def _inside(box: Box, room: Box) -> bool:
    return box[0] >= room[0] and box[1] >= room[1] and box[2] <= room[2] and box[3] <= room[3]


def _meets(box: Box, others: Sequence[Box]) -> bool:
    return any(box[0] < o[2] and o[0] < box[2] and box[1] < o[3] and o[1] < box[3] for o in others)
