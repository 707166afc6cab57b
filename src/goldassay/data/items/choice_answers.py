"""Which choices are right: answers written as labels, letters, positions or texts."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.data.row_values import normalized_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from goldassay.data.items.choice_shapes import Raw, Shape

_BY_LABEL, _BY_LETTER, _BY_TEXT = "its label", "its letter", "its text"
_POSITIONS = ("its position from 0", "its position from 1")
# So many rows tell whether answers may be texts, where they are something else, too.
_LOOKED_AT = 200
# A column names right choices that fits in this share of its rows.
_MOST = 0.95
_LETTERS = re.compile(r"^[A-Ja-j]$")

Decoder = tuple[str, "Callable[[Any, Raw, tuple[str, ...]], int | None]"]


@dataclass(frozen=True)
class Right:
    """Which choices of each row are right.

    Attributes:
        places: Positions of each row's; None without an answer, and () where none fits.
        said: What was decided, in sentences.
        doubtful: Why they may be others; "" where there is no doubt.
    """

    places: list[tuple[int, ...] | None]
    said: tuple[str, ...] = ()
    doubtful: str = ""


def right_places(
    raw: Sequence[Raw],
    texts: Sequence[tuple[str, ...]],
    shape: Shape,
    frame: pl.DataFrame,
    others: Sequence[str] = (),
) -> Right:
    """The right choices of each row, by whatever fits most rows: labels, letters, positions or texts.

    Args:
        raw: The rows.
        texts: Their choices without letters before them.
        shape: Where the answers are.
        frame: All columns.
        others: Columns that may name the right choices as well; where they name others, that is a doubt.
    """
    if shape.answer is None:
        return Right([None if each.answer is None else tuple(each.answer) for each in raw])
    answers, decoders, fits = _ways(raw, texts, shape.answer, shape, frame)
    is_text = frame.schema[shape.answer] == pl.String
    best = int(np.argmax(fits))
    name, decode = decoders[best]
    if not fits[best]:
        return Right([None if not values else () for values in answers])
    places = _placed(decode, answers, raw, texts)
    doubts = []
    if name != _BY_LABEL:
        rivals = [each for each, n in zip(decoders, fits, strict=True) if n == fits[best] and each[0] != name]
        # Options that are numbered from 1 are named by their numbers.
        is_named = shape.numbers_from == 1 and is_text
        for other, rival in rivals:
            if is_named and "position" in name and "position" in other:
                continue
            n_unlike = _n_unlike(places, _placed(rival, answers, raw, texts))
            if n_unlike and {name, other} == set(_POSITIONS):
                doubts.append(f"The answers in {shape.answer!r} may be positions from 0 or from 1: both fit all items.")
            elif n_unlike:
                doubts.append(
                    f"An answer in {shape.answer!r} may be the right choice by {name} or by {other}: both fit as many "
                    f"items, and name different choices in {n_unlike:,}."
                )
    doubts += [
        f"The columns {shape.answer!r} and {column!r} name different choices in {n_unlike:,} of {len(raw):,} items."
        for column in others
        if (n_unlike := _n_contradicted(places, column, raw, texts, frame))
    ]
    told = name in (_BY_LABEL, _BY_LETTER)
    said = () if told else (f"The column {shape.answer!r} names the right choice by {name}.",)
    return Right(places, said, " ".join(doubts))


def read_answer(
    value: Any, at: int, raw: Sequence[Raw], texts: Sequence[tuple[str, ...]], reader: Decoder
) -> tuple[int | None, ...]:
    """The places that a value would name as the answer of a row, by the reader of all rows.

    Args:
        value: As a cell of the column of answers has it.
        at: The row.
        raw: As for `right_places`, and so are the texts.
        texts: Likewise.
        reader: See `answer_reader`.
    """
    return tuple(reader[1](each, raw[at], texts[at]) for each in _answers(value))


def answer_reader(
    raw: Sequence[Raw], texts: Sequence[tuple[str, ...]], shape: Shape, frame: pl.DataFrame
) -> Decoder | None:
    """How `right_places` reads the answers of these rows; None where there is no column of them, or nothing fits."""
    if shape.answer is None:
        return None
    _, decoders, fits = _ways(raw, texts, shape.answer, shape, frame)
    return decoders[int(np.argmax(fits))] if max(fits) else None


def _ways(
    raw: Sequence[Raw], texts: Sequence[tuple[str, ...]], column: str, shape: Shape, frame: pl.DataFrame
) -> tuple[list[list[Any]], list[Decoder], list[int]]:
    """The answers of each row, the ways to read them, and how many rows each of these reads."""
    answers = [_answers(each.answer) for each in raw]
    decoders = _decoders(column, is_text=frame.schema[column] == pl.String, numbers_from=shape.numbers_from)
    return answers, decoders, _fits(decoders, answers, raw, texts)


def _decoders(column: str, *, is_text: bool, numbers_from: int | None) -> list[Decoder]:
    """Ways to read an answer, the likeliest first where several fit."""
    decoders: list[Decoder] = [
        (_BY_LABEL, lambda value, row, _: _index(row.names, str(value).strip())),
        (_BY_LETTER, lambda value, _, own: _letter(value, len(own))),
        (_POSITIONS[0], lambda value, _, own: _number(value, 0, len(own))),
        (_POSITIONS[1], lambda value, _, own: _number(value, 1, len(own))),
        (_BY_TEXT, lambda value, _, own: _text(value, own)),
    ]
    if numbers_from == 1 and is_text:
        # Options that are numbered from 1 are named so; a whole number is a position, as PIQA's.
        decoders[2], decoders[3] = decoders[3], decoders[2]
    if is_text and not re.search(r"key|index|idx|label|cop", column.lower()):
        decoders.insert(0, decoders.pop())
    return decoders


def _fits(
    decoders: Sequence[Decoder],
    answers: Sequence[list[Any]],
    raw: Sequence[Raw],
    texts: Sequence[tuple[str, ...]],
) -> list[int]:
    """How many rows each decoder reads."""
    rows = [each for each in zip(answers, raw, texts, strict=True) if each[0]]
    fits: list[int] = []
    for name, decode in decoders:
        # To compare texts takes longest, and matters only where they fit the first rows, too.
        some = rows[:_LOOKED_AT] if name == _BY_TEXT and len(rows) in fits else rows
        n = sum(all(decode(value, row, own) is not None for value in values) for values, row, own in some)
        if len(some) < len(rows) and n == len(some):
            n = sum(all(decode(value, row, own) is not None for value in values) for values, row, own in rows)
        fits.append(n if len(some) == len(rows) or n > len(some) else 0)
    return fits


def _placed(
    decode: Callable[[Any, Raw, tuple[str, ...]], int | None],
    answers: Sequence[list[Any]],
    raw: Sequence[Raw],
    texts: Sequence[tuple[str, ...]],
) -> list[tuple[int, ...] | None]:
    places: list[tuple[int, ...] | None] = []
    for values, row, own in zip(answers, raw, texts, strict=True):
        found = [decode(value, row, own) for value in values]
        known = {at for at in found if at is not None}
        places.append(None if not values else () if None in found else tuple(sorted(known)))
    return places


def _n_unlike(one: Sequence[tuple[int, ...] | None], other: Sequence[tuple[int, ...] | None]) -> int:
    """Rows for which both name choices, and not the same."""
    return sum(bool(a) and bool(b) and a != b for a, b in zip(one, other, strict=True))


def _n_contradicted(
    places: Sequence[tuple[int, ...] | None],
    column: str,
    raw: Sequence[Raw],
    texts: Sequence[tuple[str, ...]],
    frame: pl.DataFrame,
) -> int:
    """Rows for which another column of answers names other choices; 0 where it names none in most rows.

    Of the ways to read it that fit as many rows the one counts that agrees most.
    """
    answers = [_answers(value) for value in frame[column].to_list()]
    if 2 * sum(map(bool, answers)) < len(answers):
        return 0
    decoders = _decoders(column, is_text=frame.schema[column] == pl.String, numbers_from=None)
    fits = _fits(decoders, answers, raw, texts)
    if max(fits) < _MOST * sum(map(bool, answers)):
        return 0
    best = [decode for (_, decode), n in zip(decoders, fits, strict=True) if n == max(fits)]
    return min(_n_unlike(places, _placed(decode, answers, raw, texts)) for decode in best)


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
