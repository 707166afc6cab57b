"""Files that hold items of several kinds: rows of one kind would be read, and the others dropped."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.numbers import count
from goldassay.data.items.choice_shapes import find_shape
from goldassay.data.items.judgment_shapes import find_judgments
from goldassay.data.items.kinds import CHOICES, PREFERENCES
from goldassay.data.items.preference_shapes import find_preferences

if TYPE_CHECKING:
    from collections.abc import Sequence

JUDGMENTS = "judgments"


def check_one_kind(frame: pl.DataFrame, source: str = "") -> None:
    """Refuse a table of which some rows are of one kind alone, and others of another.

    A row is of a kind where all columns of its choices, of its responses, or of its verdicts are filled.

    Args:
        frame: All columns as they were read.
        source: The file, for messages.

    Raises:
        InputError: The rows are of two kinds.
    """
    filled = {kind: _filled(frame, columns) for kind, columns in _columns(frame).items()}
    for (one, own), (other, others) in combinations(filled.items(), 2):
        first, second = (own & ~others).sum(), (others & ~own).sum()
        if first and second:
            raise InputError(
                f"rows of two kinds: {one} in {count(first)}, {other} in {count(second)}", file=source,
                mend="give the rows of each kind in a file of their own",
            )  # fmt: skip


def _columns(frame: pl.DataFrame) -> dict[str, Sequence[str]]:
    """The columns that make a row one of a kind, of each kind that the table has."""
    choices, preferences, judgments = find_shape(frame, {}), find_preferences(frame, {}), find_judgments(frame, {})
    found: dict[str, Sequence[str]] = {}
    if choices is not None:
        found[CHOICES.items] = choices.columns
    if preferences is not None:
        found[PREFERENCES.items] = preferences.responses or tuple(
            each for each in (preferences.chosen, preferences.rejected) if each
        )
    if judgments is not None:
        found[JUDGMENTS] = judgments.verdicts
    return {kind: columns for kind, columns in found.items() if columns}


def _filled(frame: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
    """Rows of which none of these columns is empty."""
    wanted = [
        pl.col(column).is_not_null()
        & (pl.col(column) != "" if frame.schema[column] == pl.String else pl.lit(value=True))
        for column in columns
    ]
    return frame.select(pl.all_horizontal(wanted)).to_series()
