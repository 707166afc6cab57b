"""Which choices are right: answers written as labels, letters, positions or texts."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.data.row_values import normalized_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goldassay.data.items.choice_shapes import Raw, Shape

_BY_TEXT = "its text"
_LETTERS = re.compile(r"^[A-Ja-j]$")

Decoder = tuple[str, "Callable[[Any, Raw, tuple[str, ...]], int | None]"]


def right_places(
    raw: Sequence[Raw], texts: Sequence[tuple[str, ...]], shape: Shape, frame: pl.DataFrame
) -> tuple[list[tuple[int, ...] | None], list[str], str]:
    """Positions of the right choices of each row, what was decided, and why it may be otherwise.

    Positions are None without an answer, and () where none fits.
    """
    if shape.answer is None:
        return [None if each.answer is None else tuple(each.answer) for each in raw], [], ""
    answers = [_answers(each.answer) for each in raw]
    decoders: list[Decoder] = [
        ("its label", lambda value, row, _: _index(row.names, str(value).strip())),
        ("its letter", lambda value, _, own: _letter(value, len(own))),
        ("its position from 0", lambda value, _, own: _number(value, 0, len(own))),
        ("its position from 1", lambda value, _, own: _number(value, 1, len(own))),
        (_BY_TEXT, lambda value, _, own: _text(value, own)),
    ]
    if shape.numbers_from == 1 and frame.schema[shape.answer] == pl.String:
        # Options that are numbered from 1 are named so; a whole number is a position, as PIQA's.
        decoders[2], decoders[3] = decoders[3], decoders[2]
    if frame.schema[shape.answer] == pl.String and not re.search(r"key|index|idx|label|cop", shape.answer.lower()):
        decoders.insert(0, decoders.pop())
    n_answered = sum(map(bool, answers))
    fits: list[int] = []
    for name, decode in decoders:
        # To compare texts takes longest, and cannot win where all answers are something else.
        fits.append(
            0
            if name == _BY_TEXT and n_answered in fits
            else sum(
                all(decode(value, row, own) is not None for value in values)
                for values, row, own in zip(answers, raw, texts, strict=True)
                if values
            )
        )
    best = int(np.argmax(fits))
    name, decode = decoders[best]
    if not fits[best]:
        return [None if not values else () for values in answers], [], ""
    places: list[tuple[int, ...] | None] = []
    for values, row, own in zip(answers, raw, texts, strict=True):
        found = [decode(value, row, own) for value in values]
        known = {at for at in found if at is not None}
        places.append(None if not values else () if None in found else tuple(sorted(known)))
    if name in ("its label", "its letter"):
        return places, [], ""
    others = [other for (other, _), n in zip(decoders, fits, strict=True) if n == fits[best] and other != name]
    # Options that are numbered from 1 are named by their numbers.
    is_named = shape.numbers_from == 1 and frame.schema[shape.answer] == pl.String
    doubtful = ""
    if "position" in name and any("position" in other for other in others) and not is_named:
        doubtful = f"The answers in {shape.answer!r} may be positions from 0 or from 1: both fit all items."
    return places, [f"The column {shape.answer!r} names the right choice by {name}."], doubtful


def _answers(value: Any) -> list[Any]:
    """The answers of a row: one, several in a list, or none."""
    if isinstance(value, pl.Series):
        value = value.to_list()
    if isinstance(value, str) and value[:1] == "[":
        inner = re.findall(r"[^\[\],\"'\s]+", value)
        return list(inner)
    if isinstance(value, list):
        return [each for each in value if each is not None]
    if value is None or isinstance(value, bool) or (isinstance(value, str) and not value.strip()):
        return []
    # PIQA's test part and others mark rows without an answer by -1.
    return [] if value in (-1, "-1") else [value]


def _index(values: Sequence[str], wanted: str) -> int | None:
    return values.index(wanted) if wanted in values else None


def _letter(value: Any, size: int) -> int | None:
    text = str(value).strip().strip("().").upper()
    at = string.ascii_uppercase.find(text) if _LETTERS.match(text) else -1
    return at if 0 <= at < size else None


def _number(value: Any, first: int, size: int) -> int | None:
    text = str(value).strip()
    if isinstance(value, float) and value.is_integer():
        text = str(int(value))
    return int(text) - first if text.isdigit() and len(text) < 4 and first <= int(text) < size + first else None


def _text(value: Any, own: Sequence[str]) -> int | None:
    text = str(value).strip()
    if (at := _index(own, text)) is not None:
        return at
    return _index([normalized_text(each) for each in own], normalized_text(text))
