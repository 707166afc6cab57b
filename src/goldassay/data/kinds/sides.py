"""Which of two sides a value names: the first, the second, or neither; as people, judges and tables write it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.errors import InputError, option
from goldassay.data.fields import cell_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

FIRST, SECOND, TIE = 0, 1, 2
_MOST_VALUES = 12
_LONGEST = 350
_YES = ("1", "1.0", "true", "yes", "tie")
_SIDE_NAMES = ("first", "second", "tie")
# The number of a response in its own name: PKU-SafeRLHF's better_response_id of response_0 and response_1.
_INDEX = re.compile(r"(?:^|[-_ ])(?:id|idx|index)$", re.IGNORECASE)

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
    """The options that say which side each value of a column names, one for each reading that is plausible.

    Three numbers may be graded, the middle one the tie; or the tie is the last from 1 on, and the least from 0 or -1
    on. Of more, those below 0 name one side and those above the other, else each half one, and what lies between is
    the tie.
    """
    return _say(_readings(values), [column])


def _readings(values: Iterable[Any]) -> list[str]:
    """The plausible meanings of the values of a column, as `--map` takes them; nothing of too few or too many."""
    given = list(dict.fromkeys(str(value).strip() for value in values if value is not None and str(value).strip()))
    words = {text: side for text in given if _signed(text) is None and (side := _of_word(text)) is not None}
    rest = [text for text in given if text not in words]
    if not rest or len(given) > _MOST_VALUES:
        return []
    numbers = {text: number for text in rest if (number := _signed(text)) is not None}
    if len(numbers) < len(rest):
        numbers = {text: float(at) for at, text in enumerate(sorted(rest))}
    texts = sorted(numbers, key=lambda text: (numbers[text], text))
    distinct = [numbers[text] for text in texts]
    middle = 0.0 if distinct[0] < 0 else (distinct[0] + distinct[-1]) / 2
    graded = [TIE if each == middle else SECOND if each > middle else FIRST for each in distinct]
    last, least = [FIRST, SECOND, TIE], [TIE, FIRST, SECOND]
    if {0, 2} <= set(distinct) <= {0, 1, 2}:
        # The middle code may not occur.
        codes = [code for order in (last, least, [FIRST, TIE, SECOND]) for code in (order, _turned(order))]
        return [_pairs(texts, [code[int(each)] for each in distinct], words) for code in codes]
    orders = [[FIRST] if len(texts) == 1 else graded]
    if len(texts) == 3 and (graded.count(TIE) != 1 or distinct[0] >= 1):
        orders = [last, graded]
    elif len(texts) == 3 and distinct[0] < 0:
        orders = [graded, least]
    return [_pairs(texts, order, words) for each in orders for order in (each, _turned(each))]


def _turned(sides: Sequence[int]) -> list[int]:
    return [side if side == TIE else 1 - side for side in sides]


def _pairs(texts: Sequence[str], sides: Sequence[int], words: Mapping[str, int]) -> str:
    named = {**dict(zip(texts, sides, strict=True)), **words}
    return ",".join(f"{text}:{_SIDE_NAMES[side]}" for text, side in named.items())


def _say(readings: Sequence[str], columns: Sequence[str]) -> str:
    if not readings:
        return "name the side by 1 and 2, A and B, or first and second"
    column = "+".join(columns)
    mends = [option("map", f"{column}={each}") for each in readings]
    # The error cuts a longer line, and half an option is none.
    while len(mends) > 1 and len(" or ".join(mends)) > _LONGEST:
        mends.pop()
    return f"say which: {' or '.join(mends)}"


def _signed(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def with_ties(frame: pl.DataFrame, tie: str | None, verdicts: Sequence[str]) -> pl.DataFrame:
    """The frame with "tie" as verdict where another column says that neither side wins."""
    if tie is None:
        return frame
    is_tie = cell_texts(frame[tie]).str.strip_chars().str.to_lowercase().is_in(_YES).fill_null(value=False)
    told = [pl.when(is_tie).then(pl.lit("tie")).otherwise(cell_texts(frame[each])).alias(each) for each in verdicts]
    return frame.with_columns(told)


def side_reader(
    values: Iterable[Any],
    columns: Sequence[str] = (),
    source: str = "",
    *,
    one_means_first: bool = False,
    from_zero: bool = False,
    zero_is_tie: bool = False,
) -> tuple[Callable[[Any], int | None], str]:
    """How a column names sides: a function from a value to 0 (first), 1 (second), 2 (tie) or None (none of these).

    Numbers may count from 0 or from 1: from 1 where a 2 occurs, 1.5 then being a tie; a number between 1 and 2 leans to
    the nearer. Where 0 and 2 occur and 1.5 does not, published sets differ: 0 is the tie, or 2 is.
    Of 0 and 1 either may be the first: 0 where it is the number of a response (PKU-SafeRLHF), 1 where it means that the
    first is preferred (SHP).

    Args:
        values: All of the column.
        columns: Where they stand, for messages.
        source: The file, for messages.
        one_means_first: 1 names the first and 0 the second.
        from_zero: The responses are numbered 0 and 1 themselves; so they are where a column is called an id or index.
        zero_is_tie: Of 0, 1 and 2 the tie is 0, as in PandaLM's files.

    Returns:
        The function; and why it may be otherwise, "" where there is no doubt.

    Raises:
        InputError: Numbers from 0 on have more than one meaning in published sets, and nothing says which.
    """
    values = list(values)
    distinct = {number for value in values if (number := _number(value)) is not None}
    is_known = one_means_first or zero_is_tie
    numbered = from_zero or (len(columns) == 1 and _INDEX.search(columns[0]) is not None)
    why = ""
    if {0.0, 2.0} <= distinct <= {0.0, 1.0, 2.0} and not is_known:
        why = "0, 1 and 2 may mean first, second and tie, or tie, first and second"
    elif 0 in distinct and max(distinct) <= 1 and not is_known and not numbered:
        why = "of 0 and 1 either may mean the first"
    if why:
        texts = {number: str(value).strip() for value in values if (number := _number(value)) is not None}
        words = [value for value in values if _number(value) is None and _of_word(value) is not None]
        raise InputError(
            why, file=source or None, column="+".join(columns) or None,
            mend=_say(_readings([*texts.values(), *words]), columns or ("winner",)),
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
