"""What every result can do: turn into plain data that JSON can hold, and into a table.

The words of a verdict, their severity, which is ordered here alone, and the form of a verdict.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Any, Final, Literal, get_args, get_type_hints

import numpy as np
import polars as pl

# Keys of a field's metadata that leave the field out of the plain form: where it is None or (), and always.
LEFT_OUT, ASIDE = "left_out", "aside"


def to_plain(value: Any) -> Any:
    """Turn a value into what JSON can hold, without loss of meaning.

    Arrays become nested lists, tables become lists of records, dataclasses become objects. NaN and infinities,
    which JSON lacks, become None: a result that holds one says why in its `skipped` or `reason` field.

    Raises:
        TypeError: The value is of a kind that has no plain form.
    """
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if isinstance(value, np.ndarray):
        return to_plain(value.tolist())
    if isinstance(value, pl.DataFrame):
        return to_plain(value.to_dicts())
    if isinstance(value, Result):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no plain form")


@dataclasses.dataclass(frozen=True)
class Result:
    """Base of all results richer than one number: frozen values, `.to_dict()` for JSON, `.to_frame()` for the table."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, in the order in which they are declared."""
        return {
            each.name: to_plain(getattr(self, each.name))
            for each in dataclasses.fields(self)
            if not each.metadata.get(ASIDE) and not holds_nothing(each, getattr(self, each.name))
        }


def holds_nothing(of: dataclasses.Field[Any], value: Any) -> bool:
    """Whether a field is not in the plain form because it holds nothing."""
    return bool(of.metadata.get(LEFT_OUT)) and (value is None or (of.default == () and value == ()))


# Of plain types that of a column; a column of anything else is as its values are.
_COLUMN_TYPES = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}


def frame_of_records(records: Sequence[Result], kind: type[Result] | None = None) -> pl.DataFrame:
    """A table with one row a record and one column a field; undefined numbers are null.

    A field that the plain form of every record leaves out has no column.

    Args:
        records: Of one class.
        kind: Their class, where there may be none.
    """
    kind = type(records[0]) if records else kind
    if kind is None:
        return pl.DataFrame()
    types = get_type_hints(kind)
    columns = {each: [getattr(record, each.name) for record in records] for each in dataclasses.fields(kind)}
    return pl.DataFrame(
        {
            each.name: values
            for each, values in columns.items()
            if not each.metadata.get(LEFT_OUT) or not all(holds_nothing(each, value) for value in values)
        },
        schema_overrides={
            name: _COLUMN_TYPES[plain] for name, of in types.items() if (plain := _without_none(of)) in _COLUMN_TYPES
        },
    ).fill_nan(None)


def _without_none(kind: Any) -> Any:
    """X of X | None; other types as they are."""
    parts = [part for part in get_args(kind) if part is not NoneType]
    return parts[0] if len(parts) == 1 and isinstance(kind, UnionType) else kind


Word = Literal["sound", "not measurable", "unresolved", "caution", "unsound"]
# What stands in the place of a word; it has no rank. Of models it says whether their scores differ.
Unranked = Literal["not asked", "distinguishable", "not distinguishable"]

# From the mildest to the most severe. Neither of the two inconclusive words is milder than sound. Of two parts, one
# not measurable and one unresolved, the whole is unresolved: something was measured.
WORDS: tuple[Word, ...] = ("sound", "not measurable", "unresolved", "caution", "unsound")

# Words that show neither a flaw nor its absence: a check does not pass on them unless its policy says so.
INCONCLUSIVE: tuple[Word, ...] = ("not measurable", "unresolved")

# What stands in place of a word where a question does not apply, or nothing was given for it; it has no rank.
NOT_ASKED: Final = "not asked"

# The picture beside each word, also of a comparison of two models; others have none.
ICONS = {"sound": "check", "caution": "alert", "unsound": "stop", "distinguishable": "check"}


Unit = Literal["points", "difference", "share", "examples", "ratio"]


def severity(word: Word | Unranked) -> int:
    """Rank of a word, 0 for sound, -1 for one without: several parts are as their most severe one that was asked."""
    return WORDS.index(word) if word in WORDS else -1


@dataclass(frozen=True)
class Headline(Result):
    """The number that matters for a question, with its interval where there is one.

    Attributes:
        label: What it is.
        value: The number.
        low: Lower end of its ordinary 95 % interval.
        high: Upper end.
        unit: Of all three.
        score: Where the number is a gain: the accuracy or mean recall that it is the gain of.
        baseline: What that is compared with.
    """

    label: str
    value: float
    low: float
    high: float
    unit: Unit
    score: float | None = field(default=None, metadata={LEFT_OUT: True})
    baseline: float | None = field(default=None, metadata={LEFT_OUT: True})


@dataclass(frozen=True)
class Verdict(Result):
    """An answer to one question.

    Attributes:
        verdict: The word.
        evidence: The headline: one sentence in the field's terms.
        headline: The number that matters; None where nothing was measured.
        next_step: What to do next.
        rule: That was applied.
        at_most: How large a flaw may be that was not found, in the unit of the question's limits as a fraction (points
            / 100); None where nothing was measured.
        notes: Further sentences: why nothing is sound, and what limits the headline.
        not_seen: Of *sound* which kinds of flaw could not have been found; None where that is not said.
        limits: Which of the limits and settings that decided are not the default ones; None where no settings did.
        question: What is answered, as a question; None where the frame of the report does not say it yet.
    """

    verdict: Word | Unranked
    evidence: str
    headline: Headline | None
    next_step: str
    rule: str
    at_most: float | None = None
    notes: tuple[str, ...] = ()
    not_seen: str | None = field(default=None, metadata={LEFT_OUT: True})
    limits: str | None = field(default=None, metadata={LEFT_OUT: True})
    question: str | None = field(default=None, metadata={LEFT_OUT: True})

    @property
    def beneath(self) -> tuple[str, ...]:
        """Lines under the headline at every door: what *sound* cannot see, and which limits were changed."""
        return tuple(each for each in (self.not_seen, self.limits) if each)


def not_asked(question: str, needs: Sequence[str]) -> Verdict:
    """What a report says of a question that nothing was given for."""
    options = " and ".join(f"--{need}" for need in needs)
    return Verdict(NOT_ASKED, f"Not asked: {question}. Add {options}.", None, f"Add {options}.", "")


def not_measurable(reason: str, next_step: str) -> Verdict:
    """A question that this input cannot answer, with the reason."""
    return Verdict("not measurable", reason, None, next_step, "")


def unresolved(reason: str, next_step: str, rule: str = "") -> Verdict:
    """A question of which something was measured, but nothing that bounds a flaw, with the reason."""
    return Verdict("unresolved", reason, None, next_step, rule)
