"""Grades on a scale of their own, 1 to 5: measured as shares of the scale, and shown on it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError, option

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.runs.run_parts import Columns

# What tables and records call the scale that their scores are shares of.
SHARES_OF = "shares_of_grades"
# Of more different values it cannot be told whether they are grades or points.
MOST_GRADES = 11
# On a scale of 0 to 10 or more this many scores that all lie within 0 and 1 are hardly grades.
_WIDE, _MANY = 10.0, 20
_MOST_SHOWN = 8


def parse_grades(text: str | None) -> tuple[float, float] | None:
    """`LOW:HIGH` as two numbers.

    Raises:
        InputError: They are not two finite numbers, the lower first.
    """
    if text is None:
        return None
    parts = text.split(":")
    try:
        low, high = map(float, parts)
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(
            f"{text!r} is no scale of grades", mend=f"give the lowest and the highest grade, {option('grades', '1:5')}"
        )
    return low, high


def write_grades(scale: tuple[float, float]) -> str:
    """The scale as `parse_grades` reads it."""
    return ":".join(str(int(end)) if float(end).is_integer() else repr(float(end)) for end in scale)


def grade_of(share: float, scale: Sequence[float]) -> str:
    """A mean share of a scale as a mean grade on it."""
    low, high = scale
    return f"{low + share * (high - low):.2f}"


def describe_grades(means: Mapping[str, float], scale: Sequence[float]) -> str:
    """What a point of a scale is, and the mean grades, at most eight of them.

    Args:
        means: Of each model, as shares of the scale.
        scale: Lowest and highest grade.
    """
    low, high = scale
    shown = ", ".join(f"{name} {grade_of(mean, scale)}" for name, mean in list(means.items())[:_MOST_SHOWN])
    more = f" and {len(means) - _MOST_SHOWN} more" if len(means) > _MOST_SHOWN else ""
    return f"A point is a hundredth of the scale of grades from {low:g} to {high:g}; mean grades: {shown}{more}."


def stated_scale(text: object, file: str) -> tuple[float, float] | None:
    """The scale that a file says its scores are shares of, under `SHARES_OF`; None where it says none.

    Raises:
        InputError: It is no scale.
    """
    if text is None or text == "":
        return None
    try:
        # A table for spreadsheets has an apostrophe before what begins with a minus sign.
        return parse_grades(str(text).removeprefix("'"))
    except InputError as error:
        raise InputError(
            error.problem, file=file, column=SHARES_OF, mend="write the lowest and highest, 1:5"
        ) from error


def as_shares(columns: Columns, scale: tuple[float, float], file: str) -> Columns:
    """Scores as shares of a scale: (grade - low)/(high - low).

    Raises:
        InputError: There are no scores, one lies outside the scale, or all look like shares of it already.
    """
    if columns.score is None:
        raise InputError(
            "the runs hold predictions and no grades", file=file, mend=f"leave {option('grades')} out, or give scores"
        )
    low, high = scale
    outside = columns.score.filter(~columns.score.is_between(low, high))
    if outside.len():
        raise InputError(
            f"{outside.len()} of {columns.score.len()} grades lie outside {low:g} to {high:g}, the first is "
            f"{outside[0]:g}",
            file=file,
            mend=f"give the lowest and the highest grade there can be with {option('grades', 'LOW:HIGH')}",
        )
    known = columns.score.drop_nulls()
    if low == 0 and high >= _WIDE and known.len() >= _MANY and known.is_between(0, 1).all() and known.max() != 0:
        raise InputError(
            f"all {known.len():,} scores lie from 0 to 1, of a scale from {low:g} to {high:g}: they look like shares",
            file=file,
            mend=f"write the runs of one scale alone, or multiply these by {high:g}",
        )
    return replace(columns, score=(columns.score - low) / (high - low))


def advice(scores: NDArray[np.float64]) -> str:
    """How to read scores that lie outside [0, 1]: as grades where few values are there, else as points."""
    values = np.unique(scores[np.isfinite(scores)])
    if not np.isfinite(scores).all():
        return "give numbers, and leave out what is infinite"
    if values.size < 2:
        return f"give the lowest and the highest score there can be with {option('grades', 'LOW:HIGH')}"
    if values[0] == -1 and ((values[1:] >= 0) & (values[1:] <= 1)).all():
        seen = option("grades", "-1:1")
        return f"leave it empty where −1 means no score, else name the scale of the grades with {seen}"
    if values.size <= MOST_GRADES and values[-1] - values[0] < MOST_GRADES:
        seen = f"{values[0]:g}:{values[-1]:g}"
        return f"name the scale of the grades with {option('grades', seen)}, the lowest and the highest there can be"
    return f"divide points by 100, or name their scale with {option('grades', '0:100')}"
