"""Which choices are right: answers written as labels, letters, positions or texts."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import option
from goldassay.data.column_names import normalized
from goldassay.data.fields import cell_texts, normalized_text
from goldassay.data.kinds.choice_shapes import Raw, Shape, marks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


SEVERAL = "the answer names several choices in one text"
UNLIKE_MARKS = "some answers mark each choice by 0 or 1, and this one is not written as most are"

_BY_LABEL, _BY_LETTER, _BY_TEXT = "its label", "its letter", "its text"
_POSITIONS = ("its position from 0", "its position from 1")
# So many rows tell whether answers may be texts, where they are something else, too.
_LOOKED_AT = 200
# A column names right choices that fits in this share of its rows.
_MOST = 0.95
_LETTERED = "ABCDEFGHIJ"
_LETTERS = re.compile(r"^[A-Ja-j]$")
# Before a letter: "Option A", "choice_b".
_CALLED = re.compile(r"^(?:option|choice|answer)[\s_:.]+", re.IGNORECASE)
# pandas writes whole numbers so where a cell of their column is empty.
_WHOLE = re.compile(r"(\d{1,3})(?:\.0*)?")
_AND = re.compile(r"\s*(?:[,;/&|]|\band\b)\s*|\s+")
# Columns that are filled where the answer was corrected, by whoever did so in their own way.
_CORRECTED = re.compile(r"(?:correct|right|best|gold)[ _]?answers?")

Decoder = tuple[str, "Callable[[Any, Raw, tuple[str, ...]], int | None]"]


@dataclass(frozen=True)
class Right:
    """Which choices of each row are right.

    Attributes:
        places: Positions of each row's; None without an answer, and () where none fits.
        decisions: What was decided, in sentences.
        doubtful: Why they may be others; "" where there is no doubt.
        reasons: Why an answer does not fit, for the rows where a reason is known; else it is none of the choices.
        first: The number of the first choice, where answers are positions and the data say from where they count.
        mend: What to do where nothing says so, and other choices are right from 0 and from 1; "" elsewhere.
    """

    places: list[tuple[int, ...] | None]
    decisions: tuple[str, ...] = ()
    doubtful: str = ""
    reasons: Mapping[int, str] = field(default_factory=dict)
    first: int | None = None
    mend: str = ""


def right_places(
    raw: Sequence[Raw],
    texts: Sequence[tuple[str, ...]],
    shape: Shape,
    frame: pl.DataFrame,
    others: Sequence[str] = (),
    first: int | None = None,
) -> Right:
    """The right choices of each row, by whatever fits most rows: labels, letters, positions or texts.

    Answers that mark each choice by 0 or 1 are read so where half of the rows or more have such a list. Positions count
    from 0 where a 0 occurs, and from 1 where one is the number of its row's choices. Where neither occurs and the
    choices have no numbers, another column of answers may decide.

    Args:
        raw: The rows.
        texts: Their choices without letters before them.
        shape: Where the answers are.
        frame: All columns.
        others: Columns that may name the right choices as well; where they name others, that is a doubt.
        first: From where positions count, where another part of the data says so.
    """
    if shape.answer is None:
        return Right([_within(each.answer, len(each.choices)) for each in raw])
    answers = [_answers(each.answer) for each in raw]
    marked = [_marked(values, row) for values, row in zip(answers, raw, strict=True)]
    if _are_marks(marked, answers):
        places = [each if values else None for each, values in zip(marked, answers, strict=True)]
        reasons = {at: UNLIKE_MARKS for at, each in enumerate(marked) if each is None and answers[at]}
        places = [() if at in reasons else each or None for at, each in enumerate(places)]
        places = [_within(each, len(row.choices)) for each, row in zip(places, raw, strict=True)]
        said = [f"The column {shape.answer!r} marks each choice, by 1 or true where it is right."]
        doubts = _contradictions(places, shape.answer, others, raw, texts, frame)
        return Right(places, (*said, *doubts), " ".join(doubts), reasons)
    decoders = _decoders(shape.answer, is_text=frame.schema[shape.answer] == pl.String, numbers_from=shape.numbers_from)
    fits = _fits(decoders, answers, raw, texts)
    is_text = frame.schema[shape.answer] == pl.String
    best = int(np.argmax(fits))
    name, decode = decoders[best]
    places = _placed(decode, answers, raw, texts) if fits[best] else [() if each else None for each in answers]
    # No set of positions has one of them twice.
    odd = {
        at for at, each in enumerate(marked) if each is not None and len({*map(str, answers[at])}) < len(answers[at])
    }
    places = [() if at in odd else each for at, each in enumerate(places)]
    reasons = {at: SEVERAL for at, each in enumerate(places) if each == () and _is_several(answers[at], raw[at])}
    reasons |= dict.fromkeys(odd, UNLIKE_MARKS)
    if not fits[best]:
        return Right(places, reasons=reasons)
    doubts = []
    mend = ""
    is_sure = name in _POSITIONS
    if name != _BY_LABEL:
        rivals = [each for each, n in zip(decoders, fits, strict=True) if n == fits[best] and each[0] != name]
        # Options that are numbered from 1 are named by their numbers.
        is_named = shape.numbers_from == 1 and is_text
        for other, rival in rivals:
            if is_named and "position" in name and "position" in other:
                continue
            turned = _placed(rival, answers, raw, texts)
            n_unlike = _n_unlike(places, turned)
            if n_unlike and {name, other} == set(_POSITIONS):
                against = [
                    bool(_contradictions(each, shape.answer, others, raw, texts, frame)) for each in (places, turned)
                ]
                wanted = {0: _POSITIONS[0], 1: _POSITIONS[1]}.get(-1 if first is None else first)
                if wanted is None and against[0] != against[1]:
                    wanted = other if against[0] else name
                # Columns numbered from 0 name their choices so.
                if wanted is None and shape.numbers_from == 0:
                    wanted = _POSITIONS[0]
                if wanted == other:
                    name, places = other, turned
                if wanted is None:
                    is_sure = False
                    doubts.append(
                        f"The answers in {shape.answer!r} may be positions from 0 or from 1: both fit all items."
                    )
                    mend = _as_letters(frame, shape.answer)
            elif n_unlike:
                doubts.append(
                    f"An answer in {shape.answer!r} may be the right choice by {name} or by {other}: both fit as many "
                    f"items, and name different choices in {n_unlike:,}."
                )
    contradictions = _contradictions(places, shape.answer, others, raw, texts, frame)
    told = name in (_BY_LABEL, _BY_LETTER)
    said = [] if told else [f"The column {shape.answer!r} names the right choice by {name}."]
    base = _POSITIONS.index(name) if is_sure and name in _POSITIONS else None
    return Right(places, (*said, *contradictions), " ".join([*doubts, *contradictions]), reasons, base, mend)


def _as_letters(frame: pl.DataFrame, column: str) -> str:
    """The options that read the answers of a column as positions from 1 and from 0, if letters do for them."""
    given = sorted(set(cell_texts(frame[column]).drop_nulls().str.strip_chars()), key=len)
    numbers = {text: int(match[1]) for text in given if (match := _WHOLE.fullmatch(text))}
    if frame.schema[column].is_nested() or max(numbers.values(), default=len(_LETTERED)) >= len(_LETTERED):
        return "write the letters of the choices, or their texts"
    texts = sorted(numbers, key=lambda text: (numbers[text], text))
    ways = (",".join(f"{text}:{_LETTERED[numbers[text] - first]}" for text in texts) for first in (1, 0))
    one, zero = (option("map", f"{column}={way}") for way in ways)
    return f"{one} counts from 1, and {zero} from 0"


def answer_reader(
    raw: Sequence[Raw], texts: Sequence[tuple[str, ...]], shape: Shape, frame: pl.DataFrame, first: int | None = None
) -> Callable[[Any, Raw, tuple[str, ...]], tuple[int, ...] | None] | None:
    """How `right_places` reads the answers of these rows; None where there is no column of them, or nothing fits.

    Positions count from `first`, where it is known.

    It takes a cell, a row and its choices, and gives the places: None without an answer, () where none fits.
    """
    if shape.answer is None:
        return None
    answers = [_answers(each.answer) for each in raw]
    if _are_marks([_marked(values, row) for values, row in zip(answers, raw, strict=True)], answers):
        return lambda value, row, _: _marked(_answers(value), row)
    decoders = _decoders(shape.answer, is_text=frame.schema[shape.answer] == pl.String, numbers_from=shape.numbers_from)
    fits = _fits(decoders, answers, raw, texts)
    if first is not None:
        decoders.sort(key=lambda each: each[0] == _POSITIONS[1 - first])
        fits = _fits(decoders, answers, raw, texts)
    _, decode = decoders[int(np.argmax(fits))]
    return (lambda value, row, own: _placed(decode, [_answers(value)], [row], [own])[0]) if max(fits) else None


def _within(places: Sequence[int] | None, size: int) -> tuple[int, ...] | None:
    """Places of an item of so many choices; () where one lies beyond."""
    if places is None:
        return None
    return tuple(places) if all(at < size for at in places) else ()


def _marked(values: Sequence[Any], row: Raw) -> tuple[int, ...] | None:
    """The places of a list of 0 and 1, one for each choice, empty ones at the end with or without; None of others."""
    if len(values) < 2 or len(values) not in (len(row.choices), len(row.choices) + row.n_blank):
        return None
    found = marks(values)
    return None if found is None else tuple(at for at, is_right in enumerate(found) if is_right)


def _are_marks(marked: Sequence[tuple[int, ...] | None], answers: Sequence[list[Any]]) -> bool:
    """Whether half of the answers or more are a list of 0 and 1 for each choice, and some can be nothing else."""
    found = [(each, values) for each, values in zip(marked, answers, strict=True) if each is not None]
    # Of two choices [0, 1] may be the positions of both; any other such list repeats one, or goes down.
    is_sure = any(each != (1,) or len(values) > 2 or str(values[0]) != "0" for each, values in found)
    return is_sure and 2 * len(found) >= sum(map(bool, answers))


def _is_several(values: Sequence[Any], row: Raw) -> bool:
    """Whether an answer that is none of the choices names several of them: "A,C", "AC", "1 and 3"."""
    if len(values) != 1 or not isinstance(values[0], str):
        return False
    text, size = values[0].strip(), len(row.choices)
    parts = [part for part in _AND.split(text) if part]
    if len(parts) == 1 and text.isupper() and text.isalpha() and len(set(text)) == len(text):
        parts = [*text]
    readings = (
        [_letter(part, size) for part in parts],
        [_number(part, 0, size) for part in parts],
        [_number(part, 1, size) for part in parts],
        [_label(part, row.names) for part in parts],
    )
    return len(parts) > 1 and any(None not in each for each in readings)


def _decoders(column: str, *, is_text: bool, numbers_from: int | None) -> list[Decoder]:
    """Ways to read an answer, the likeliest first where several fit."""
    decoders: list[Decoder] = [
        (_BY_LABEL, lambda value, row, _: _label(value, row.names)),
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


def _contradictions(
    places: Sequence[tuple[int, ...] | None],
    own: str,
    others: Sequence[str],
    raw: Sequence[Raw],
    texts: Sequence[tuple[str, ...]],
    frame: pl.DataFrame,
) -> list[str]:
    """What other columns of answers name that this one does not, a sentence each."""
    said = []
    for column in others:
        answers = [_answers(value) for value in frame[column].to_list()]
        n_filled = sum(map(bool, answers))
        n_unlike = _n_contradicted(places, answers, column, raw, texts, frame) if n_filled else 0
        if n_unlike:
            # Of a column of few corrections the share of the rows that have one tells.
            few = f"the {n_filled:,} items in which {column!r} is filled"
            of = f"{len(raw):,} items" if 2 * n_filled >= len(raw) else few
            said.append(f"The columns {own!r} and {column!r} name different choices in {n_unlike:,} of {of}.")
    return said


def _n_contradicted(
    places: Sequence[tuple[int, ...] | None],
    answers: Sequence[list[Any]],
    column: str,
    raw: Sequence[Raw],
    texts: Sequence[tuple[str, ...]],
    frame: pl.DataFrame,
) -> int:
    """Rows for which another column of answers names other choices; 0 where it names none in most of its rows.

    Of the ways to read it that fit as many rows the one counts that agrees most. Corrections may be written in several
    ways: there positions are those that fit more rows, and each row counts by a way that agrees.
    """
    n_filled = sum(map(bool, answers))
    marked = [_marked(values, row) for values, row in zip(answers, raw, strict=True)]
    if _are_marks(marked, answers):
        return _n_unlike(places, marked)
    decoders = _decoders(column, is_text=frame.schema[column] == pl.String, numbers_from=None)
    fits = _fits(decoders, answers, raw, texts)
    if max(fits) >= _MOST * n_filled:
        best = [decode for (_, decode), n in zip(decoders, fits, strict=True) if n == max(fits)]
        return min(_n_unlike(places, _placed(decode, answers, raw, texts)) for decode in best)
    if not _CORRECTED.fullmatch(normalized(column)):
        return 0
    less = min(_POSITIONS, key=lambda name: (fits[[each for each, _ in decoders].index(name)], name == _POSITIONS[0]))
    ways = [_placed(decode, answers, raw, texts) for name, decode in decoders if name != less]
    read = [[each for each in way if each] for way in zip(*ways, strict=True)]
    unlike = sum(bool(own) and bool(each) and own not in each for own, each in zip(places, read, strict=True))
    return unlike if 2 * sum(map(bool, read)) >= n_filled else 0


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
    return [] if value in (-1, "-1", "-1.0") else [value]


def _index(values: Sequence[str], wanted: str) -> int | None:
    return values.index(wanted) if wanted in values else None


def _label(value: Any, names: Sequence[str]) -> int | None:
    if not names:
        return None
    text = str(value).strip()
    match = _WHOLE.fullmatch(text)
    tried = (text, text.upper(), *([match[1]] if match else []))
    return next((at for each in tried if (at := _index(names, each)) is not None), None)


def _letter(value: Any, size: int) -> int | None:
    text = _CALLED.sub("", str(value).strip().strip("*")).strip("().*").upper()
    at = string.ascii_uppercase.find(text) if _LETTERS.match(text) else -1
    return at if 0 <= at < size else None


def _number(value: Any, first: int, size: int) -> int | None:
    match = _WHOLE.fullmatch(str(value).strip())
    return int(match[1]) - first if match and first <= int(match[1]) < size + first else None


def _text(value: Any, own: Sequence[str]) -> int | None:
    text = str(value).strip()
    if (at := _index(own, text)) is not None:
        return at
    return _index([normalized_text(each) for each in own], normalized_text(text))
