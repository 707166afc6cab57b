"""Which of two sides a value names: the first, the second, or neither; as people, judges and tables write it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import SHELL, InputError, entry_point, option
from goldassay.data.fields import cell_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

FIRST, SECOND, TIE = 0, 1, 2
# PandaLM's columns, one of each person, in which 0 is the tie.
_PEOPLE = re.compile(r"annotator[-_ ]?\d+", re.IGNORECASE)
_MOST_VALUES = 12
_YES = ("1", "1.0", "true", "yes", "tie")
_CODED = ("0:first,1:second,2:tie", "0:tie,1:first,2:second")

_TIES = frozenset(
    ("tie", "tied", "draw", "equal", "same", "both", "neither", "c", "a=b", "b=a", "1=2", "2=1",
     "tie bothbad", "bothbad", "both_bad", "both bad", "tie both bad", "no preference", "similar", "a~b")
)  # fmt: skip
_COMPARED = re.compile(r"^([ab12])\s*(>+|<+)\s*([ab12])$")
_ENDING = re.compile(
    r"^(?:(?:model|output|response|answer|assistant|option|completion|candidate|system|summary|side|text|generation"
    r"|reply|conversation)[ _-]*)?([ab12])(?: (?:is better|wins|won))?$"
)
_WORDS = {"first": FIRST, "left": FIRST, "second": SECOND, "right": SECOND}


def say_sides(column: str, values: Iterable[Any]) -> str:
    """The options that say which side each value of a column names, in both directions.

    Numbers below 0 name one side, those above the other, and 0 none.
    """
    numbers = {str(value): _signed(value) for value in values if value not in (None, "")}
    texts = sorted(numbers, key=lambda text: (numbers[text], text))
    if not 1 < len(texts) <= _MOST_VALUES:
        return "name the side by 1 and 2, A and B, or first and second"
    is_signed = min(numbers.values()) < 0
    second = [numbers[text] > 0 if is_signed else 2 * at >= len(texts) for at, text in enumerate(texts)]
    ties = [is_signed and not numbers[text] for text in texts]
    sides = ["tie" if tie else "second" if own else "first" for own, tie in zip(second, ties, strict=True)]
    turned = {"first": "second", "second": "first", "tie": "tie"}
    either = [
        ",".join(f"{text}:{names[side]}" for text, side in zip(texts, sides, strict=True))
        for names in ({side: side for side in turned}, turned)
    ]
    return f"say which: {' or '.join(option('map', f'{column}={each}') for each in either)}"


def _signed(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return 0.0


def with_ties(frame: pl.DataFrame, tie: str | None, verdicts: Sequence[str]) -> pl.DataFrame:
    """The frame with "tie" as verdict where another column says that neither side wins."""
    if tie is None:
        return frame
    is_tie = cell_texts(frame[tie]).str.strip_chars().str.to_lowercase().is_in(_YES).fill_null(value=False)
    told = [pl.when(is_tie).then(pl.lit("tie")).otherwise(cell_texts(frame[each])).alias(each) for each in verdicts]
    return frame.with_columns(told)


def side_reader(
    values: Iterable[Any], columns: Sequence[str] = (), source: str = "", *, one_means_first: bool = False
) -> tuple[Callable[[Any], int | None], str]:
    """How a column names sides: a function from a value to 0 (first), 1 (second), 2 (tie) or None (none of these).

    Numbers may count from 0 or from 1: from 1 where a 2 occurs, 1.5 then being a tie; a number between 1 and 2 leans to
    the nearer. Where 0 and 2 occur and 1.5 does not, published sets differ: 0 is the tie, or 2 is;
    in several columns of annotators, as PandaLM has them, 0 is.

    Args:
        values: All of the column.
        columns: Where they stand, for messages.
        source: The file, for messages.
        one_means_first: 1 names the first and 0 the second.

    Returns:
        The function; and why it may be otherwise, "" where there is no doubt.

    Raises:
        InputError: 0, 1 and 2 may be tie, first and second, or first, second and tie.
    """
    distinct = {number for value in values if (number := _number(value)) is not None}
    is_known = one_means_first or (len(columns) > 1 and all(map(_PEOPLE.fullmatch, columns)))
    if {0.0, 2.0} <= distinct <= {0.0, 1.0, 2.0} and not is_known:
        either = [_mapped(columns or ("winner",), names) for names in _CODED]
        raise InputError(
            "0, 1 and 2 may mean first, second and tie, or tie, first and second",
            file=source or None, column="+".join(columns) or None,
            mend=f"say which: {' or '.join(either)}",
        )  # fmt: skip
    fractions = {each for each in distinct if each not in (0, 1, 2)}
    doubtful = ""
    base: int | None = None
    if distinct and min(distinct) >= 0 and max(distinct) <= 2:
        if one_means_first:
            base = 0 if max(distinct) <= 1 else None
        elif any(each > 1 for each in distinct):
            base = 1
        elif 0 in distinct and not fractions - {0.5}:
            base = 0
        elif distinct == {1.0}:
            base, doubtful = 1, "All rows name side 1, which may be the first of 1 and 2, or the second of 0 and 1."

    def read(value: Any) -> int | None:
        number = _number(value)
        if number is not None:
            return None if base is None else _of_number(number, base, one_means_first=one_means_first)
        return _of_word(value)

    return read, doubtful


def _mapped(columns: Sequence[str], names: str) -> str:
    """The option that says what the codes of some columns mean."""
    if len(columns) > 1 and entry_point() != SHELL:
        return f"map={ ({name: dict(each.split(':') for each in names.split(',')) for name in columns})!r}"
    return " ".join(option("map", f"{name}={names}") for name in columns)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return float(value) if value == value else None
    text = str(value).strip()
    return float(text) if re.fullmatch(r"\d+(?:\.\d+)?", text) else None


def _of_number(number: float, base: int, *, one_means_first: bool) -> int | None:
    if base == 1:
        if number in (0, 1.5):
            return TIE
        return FIRST if 1 <= number < 1.5 else SECOND if 1.5 < number <= 2 else None
    if number == 0.5:
        return TIE
    return {0.0: FIRST, 1.0: SECOND}.get(1 - number if one_means_first else number)


def _of_word(value: Any) -> int | None:
    if not isinstance(value, str):
        return None
    text = re.sub(r"[\[\]().]", "", value).strip().casefold()
    if text in _TIES:
        return TIE
    if text in _WORDS:
        return _WORDS[text]
    if match := _COMPARED.match(text):
        one, sign, other = match.groups()
        if one == other:
            return None
        return _place(one if sign[0] == ">" else other)
    match = _ENDING.match(text)
    return None if match is None else _place(match[1])


def _place(name: str) -> int:
    return FIRST if name in "a1" else SECOND
