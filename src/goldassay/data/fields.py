"""Columns by other names than their own: a field within objects by dots, a column by its place.

Cells as text, whatever their type, columns made of them, and codes of equal values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, has_half_pair

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray


# Beside roles, under keys that nobody can type: what the values of columns mean, {column or role: {value: name}}, and
# the roles of single inputs, {input: {role: column}}, both as JSON.
VALUES = "=map"
OWN = "=of"
_PLACE = re.compile(r"#(\d+)")
# Columns of which one is 1: winner_model_a, winner_model_b and winner_tie, as votes of arenas are published.
_WINS = re.compile(
    r"winner_(?:(?:(?P<what>model|response|assistant|system|output|answer|completion)_?)?(?P<side>[ab12])"
    r"|(?:tie|draw)(?:_?\(?both_?bad\)?)?|both_?bad|neither)"
)
_WINNER, _FLAGS = "winner", {"1": 1, "1.0": 1, "true": 1, "0": 0, "0.0": 0, "false": 0}
_MOST_FIELDS = 12
# How tables write in words whether an answer was right, in small letters.
RIGHT_WORDS = ("true", "yes", "correct", "right", "pass", "passed", "resolved", "solved", "success")
WRONG_WORDS = ("false", "no", "incorrect", "wrong", "fail", "failed", "unresolved", "unsolved", "failure")


def name_fields(frame: pl.DataFrame, columns: Mapping[str, str] | None) -> tuple[pl.DataFrame, dict[str, str]]:
    """The frame with a column for each field that is named, and the columns by their names in it.

    Columns of which one is 1 for the side that wins are one column, `winner`, unless one of them is named.
    An exact name of a column goes before all else; then "+" joins several, "#2" is the second column, and dots go into
    objects (`labels.label`) and into lists of objects, whose texts are joined by line feeds (`messages.content`).

    Args:
        frame: All columns as they were read.
        columns: Role to column, as a user named them; under `VALUES` the names that values of columns get.

    Raises:
        InputError: A column has no such field, or the frame has not so many columns; or no row has a value that is
            given a name; or of columns for the side that wins several or none are 1 in a row.
    """
    named: dict[str, str] = {}
    given = dict(columns or {})
    values = json.loads(given.pop(VALUES, "{}"))
    given.pop(OWN, None)
    frame = _with_winner(frame, {part.strip() for wanted in given.values() for part in wanted.split("+")})
    for role, wanted in given.items():
        parts = [wanted] if wanted in frame.columns else wanted.split("+")
        found = []
        for part in map(str.strip, parts):
            frame, name = _resolved(frame, part)
            found.append(name)
        named[role] = "+".join(found)
    for place, names in values.items():
        column = named.get(place, place)
        parts = [column] if column in frame.columns else [part.strip() for part in column.split("+")]
        frame = _with_names(frame, parts, names)
    return frame, named


def _with_winner(frame: pl.DataFrame, taken: set[str]) -> pl.DataFrame:
    """The frame with one column of winners in place of those of which one is 1."""
    known = {name.strip().lower().replace(" ", "_"): name for name in frame.columns}
    found = {column: match for name, column in known.items() if (match := _WINS.fullmatch(name))}
    sides = sorted(match["side"] for match in found.values() if match["side"])
    # Without a tie winner_1 and winner_2 are the verdicts in both orders.
    told = len(found) > 2 or all(match["what"] for match in found.values())
    if _WINNER in known or sides not in (["a", "b"], ["1", "2"]) or not told or not taken.isdisjoint(found):
        return frame
    texts = [cell_texts(frame[column]).str.strip_chars().str.to_lowercase() for column in found]
    flags = pl.DataFrame([each.replace_strict(_FLAGS, default=None, return_dtype=pl.Int64) for each in texts])
    if any(flag.null_count() > text.null_count() for flag, text in zip(flags, texts, strict=True)):
        return frame
    n_wins = flags.select(pl.sum_horizontal(pl.all())).to_series()
    wrong = (n_wins != 1) & flags.select(pl.any_horizontal(pl.all().is_not_null())).to_series()
    if wrong.any():
        at = wrong.arg_true()[0]
        raise InputError(
            f"{n_wins[at] or 'none'} of the columns {', '.join(map(repr, found))} {'are' if n_wins[at] else 'is'} 1 "
            f"in row {at + 1}",
            mend="write 1 in one of them; or a column winner of model_a, model_b and tie in place of them",
        )  # fmt: skip
    names = ["tie" if not match["side"] else f"model_{match['side']}" for match in found.values()]
    which = [pl.when(pl.col(column) == 1).then(pl.lit(name)) for column, name in zip(flags.columns, names, strict=True)]
    return frame.with_columns(flags.select(pl.coalesce(which).alias(_WINNER)).to_series()).drop(found)


def winner_said(frame: pl.DataFrame, named: pl.DataFrame) -> list[str]:
    """Of which columns `name_fields` made that of winners, in a sentence; nothing where it made none."""
    gone = [name for name in frame.columns if name not in named.columns]
    return [f"The winner is the one of {', '.join(map(repr, gone))} that is 1."] if gone else []


def with_keys(frame: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """The frame with a column for each key that is named: a column, a field within objects, or several joined by "+".

    A key of several columns is null where one of them is; a name that is not there adds no column.

    Raises:
        InputError: A column has no such field.
    """
    for name in names:
        parts = [name] if name in frame.columns else list(dict.fromkeys(map(str.strip, name.split("+"))))
        for part in parts:
            frame = frame if _PLACE.fullmatch(part) else _resolved(frame, part)[0]
        if len(parts) > 1 and set(parts) <= set(frame.columns):
            texts = pl.DataFrame([cell_texts(frame[part]).str.strip_chars().replace("", None) for part in parts])
            joined = pl.concat_str(texts.get_columns(), separator=" + ")
            frame = frame.with_columns(pl.select(joined).to_series().alias(name))
    return frame


def _with_names(frame: pl.DataFrame, columns: Iterable[str], names: Mapping[str, str]) -> pl.DataFrame:
    """The frame with the names of some columns' values in their place; values without a name stay."""
    texts: list[pl.Series] = []
    for wanted in columns:
        frame, column = _resolved(frame, wanted)
        if column not in frame.columns:
            listed = ", ".join(map(repr, frame.columns[:_MOST_FIELDS]))
            raise InputError(f"there is no column {column!r} to map", mend=f"the columns are {listed}")
        texts.append(cell_texts(frame[column]).str.strip_chars().alias(column))
    known = {value for each in texts for value in each.drop_nulls().unique().to_list()}
    if missing := [value for value in names if value not in known]:
        shown = ", ".join(map(repr, sorted(known)[:_MOST_FIELDS]))
        raise InputError(
            f"no row has the value {missing[0]!r}", column="+".join(each.name for each in texts),
            mend=f"its values are {shown}",
        )  # fmt: skip
    return frame.with_columns(each.replace(dict(names)) for each in texts)


def _resolved(frame: pl.DataFrame, name: str) -> tuple[pl.DataFrame, str]:
    if name in frame.columns:
        return frame, name
    if place := _PLACE.fullmatch(name):
        at = int(place[1])
        if not 1 <= at <= frame.width:
            raise InputError(f"there is no column {name}", mend=f"the last of the columns is #{frame.width}")
        return frame, frame.columns[at - 1]
    steps = name.split(".")
    for n in range(len(steps) - 1, 0, -1):
        column = ".".join(steps[:n])
        if column in frame.columns:
            return frame.with_columns(_field(frame[column], steps[n:], name)), name
    return frame, name


def _field(values: pl.Series, steps: list[str], name: str) -> pl.Series:
    """The field of each row's object, as a column of this name."""
    found = [_within(_parsed(value), steps) for value in values.to_list()]
    if all(value is None for value in found):
        known = dict.fromkeys(each for value in values.drop_nulls().head(100).to_list() for each in _fields(value))
        shown = ", ".join(list(known)[:_MOST_FIELDS])
        mend = f"its fields are {shown}" if known else "it holds no objects"
        raise InputError(f"no row has the field {'.'.join(steps)!r}", column=values.name, mend=mend)
    return series_of(name, found)


def _parsed(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return None
    return value


def _within(value: Any, steps: list[str]) -> Any:
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        found = [each for each in (_within(item, steps) for item in value) if each is not None]
        return "\n".join(map(str, found)) if found else None
    for at, step in enumerate(steps):
        if isinstance(value, list):
            # A list of anything else has no fields.
            is_of_objects = at > 0 and all(isinstance(each, dict) for each in value)
            return _within(value, steps[at:]) if value and is_of_objects else None
        if not isinstance(value, dict):
            return None
        whole = ".".join(steps[at:])
        if whole in value:
            return value[whole]
        value = value.get(step)
    return value


def _fields(value: Any, before: str = "") -> list[str]:
    """The dotted names of all fields of an object that hold anything."""
    value = _parsed(value)
    if isinstance(value, list):
        value = next((each for each in value if isinstance(each, dict)), None)
    if not isinstance(value, dict):
        return []
    found = []
    for key, own in value.items():
        inner = _fields(own, f"{before}{key}.") if isinstance(own, (dict, list)) else []
        found += inner or ([] if own is None else [f"{before}{key}"])
    return found


def fields_of(values: pl.Series) -> list[str]:
    """The dotted names of what the objects of a column hold, with the column's; none where it holds no objects."""
    known = dict.fromkeys(each for value in values.drop_nulls().head(20).to_list() for each in _fields(value))
    return [f"{values.name}.{each}" for each in list(known)[:_MOST_FIELDS]]


def cell_texts(values: pl.Series) -> pl.Series:
    """Values as text; what is missing stays missing.

    Lists and mappings are written as JSON, bytes as UTF-8 with escapes for what is none, and what else the table engine
    cannot write (a span of time) as Python does.
    """
    dtype = values.dtype
    if not (dtype.is_nested() or isinstance(dtype, (pl.Duration, pl.Object, pl.Binary))):
        return values.cast(pl.String)
    return pl.Series(values.name, [cell_text(value) for value in values.to_list()], dtype=pl.String)


def cell_text(value: Any) -> str | None:
    """One value as text."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, (bool, list, tuple, Mapping)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def series_of(
    name: str, values: list[Any], path: Path | None = None, lines: NDArray[np.int64] | None = None
) -> pl.Series:
    """A column of values; those of mixed types become text, nested ones their JSON."""
    kinds = {type(value) for value in values if value is not None}
    try:
        if kinds <= {str}:
            return pl.Series(name, values, dtype=pl.String)
        if kinds in ({int}, {float}, {bool}, {int, float}):
            return (
                pl.Series(name, values, strict=False) if kinds != {int, float} else pl.Series(name, values, pl.Float64)
            )
        if kinds <= {list, tuple} and all(
            isinstance(item, str) for value in values if value is not None for item in value
        ):
            return pl.Series(name, values, dtype=pl.List(pl.String))
        return pl.Series(name, [cell_text(value) for value in values], dtype=pl.String)
    except UnicodeEncodeError as error:
        row = next(i for i, value in enumerate(values) if has_half_pair(cell_text(value) or ""))
        raise InputError(
            "the text holds half of a surrogate pair, which is no character",
            file=path,
            row=row + 1 if lines is None else int(lines[row]),
            column=name,
            mend="write the character itself, or both halves of its escape",
        ) from error


# White space, in ASCII, that `normalized_text` changes.
_UNEVEN = r"^ | $|  |[\t-\r\x1c-\x1f]"


def normalized_text(text: str) -> str:
    """Text as it is compared: without case, with single spaces."""
    return " ".join(text.casefold().split())


def normalized_texts(texts: pl.Series) -> pl.Series:
    """`normalized_text` of each; ASCII with single spaces, as most texts are, needs no Python object each."""
    # A column without a value has no type of its own.
    texts = texts.cast(pl.String)
    found = texts.str.to_lowercase()
    odd = ((texts.str.len_bytes() != texts.str.len_chars()) | texts.str.contains(_UNEVEN)).arg_true()
    return found.scatter(odd, [normalized_text(text) for text in texts[odd]]) if odd.len() else found


def value_codes(values: pl.Series) -> NDArray[np.int64]:
    """A code for each distinct value, -1 where it is missing or blank, (N,)."""
    text = values.cast(pl.String).str.strip_chars()
    text = pl.select(pl.when(text == "").then(None).otherwise(text)).to_series()
    ranks = text.rank("dense").cast(pl.Int64) - 1
    return ranks.fill_null(-1).to_numpy().astype(np.int64)
