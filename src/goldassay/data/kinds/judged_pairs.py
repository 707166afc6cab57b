"""Tables of judges without a column of the order: whether what they hold tells which side was shown first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.entry_point import option
from goldassay.data.cells import cell_texts

if TYPE_CHECKING:
    from collections.abc import Sequence

# Two answers of fewer words together are alike by chance: yes and no.
WORDS_OF_AN_ITEM = 12
# From this share of the rows on, pairs that occur twice are no chance.
_TWICE = 0.2
_MOST_VALUES = 50
_KEY = ("asked", "low", "high")
_PREFERENCES = "responses=A+B,winner=NAME"


@dataclass(frozen=True)
class Unclear:
    """Why the seats of a table of judges cannot be known, and what to name."""

    problem: str
    mend: str


def seats_of_texts(
    frame: pl.DataFrame, judges: Sequence[str], texts: Sequence[str], prompt: str | None, used: Sequence[str]
) -> bool | Unclear:
    """Whether the two texts of a row stand in the order shown, because most pairs occur in both orders.

    Args:
        frame: All columns.
        judges: Columns that name the judge.
        texts: The two columns of texts.
        prompt: A column of what they answer, if any.
        used: All columns that have a role.

    Returns:
        False where no judge judged pairs twice; why nobody knows where the texts of such pairs keep their places.
    """
    one, other = (cell_texts(frame[each]).fill_null("") for each in texts)
    besides = [each for each in frame.columns if each not in {*judges, *texts} and not frame.schema[each].is_nested()]
    asked = [cell_texts(frame[each]).fill_null("") for each in (*judges, *([prompt] if prompt else []))]
    pairs = pl.DataFrame({"one": one, "other": other}).select(
        asked=pl.concat_str(asked, separator="\x1f"),
        low=pl.min_horizontal("one", "other"),
        high=pl.max_horizontal("one", "other"),
        as_given=pl.col("one") <= pl.col("other"),
        row=frame.select(pl.concat_str([pl.col(each).cast(pl.String).fill_null("") for each in besides], separator=" "))
        .to_series() if besides else pl.lit(""),
        at=pl.int_range(pl.len()),
    )  # fmt: skip
    # A row that is the same throughout is a copy and no second verdict.
    pairs = pairs.unique([*_KEY, "as_given", "row"], maintain_order=True)
    if prompt is None:
        words = pl.col("low").str.count_matches(r"\S+") + pl.col("high").str.count_matches(r"\S+")
        pairs = pairs.filter(words >= WORDS_OF_AN_ITEM)
    n_rows = pairs.height
    pairs = pairs.filter(pl.len().over(_KEY) > 1)
    if not n_rows or pairs.height < _TWICE * n_rows:
        return False
    turned = pairs.group_by(_KEY).agg(turned=pl.col("as_given").n_unique() > 1)["turned"]
    if 2 * int(turned.sum()) >= len(turned):
        return True
    told = next((each for each in besides if each not in used and _differs_in_pairs(pairs, frame[each])), "NAME")
    return Unclear(
        "one judge judged the same pairs more than once, and nothing says which side was shown first",
        f"name the column of the order ({option('columns', f'order={told}')}); {option('columns', _PREFERENCES)} reads "
        "preferences all the same",
    )


def _differs_in_pairs(pairs: pl.DataFrame, values: pl.Series) -> bool:
    """Whether a column of two values differs between the rows of most pairs."""
    if values.drop_nulls().n_unique() != 2:
        return False
    kinds = pairs.with_columns(value=values.gather(pairs["at"])).group_by(_KEY).agg(pl.col("value").n_unique())["value"]
    return 2 * int((kinds > 1).sum()) > len(kinds)


def seats_of_names(frame: pl.DataFrame, verdict: str, seats: tuple[str, str]) -> bool | Unclear:
    """Whether verdicts name one of two columns that say which side was shown first and second.

    Args:
        frame: All columns.
        verdict: That of the verdicts.
        seats: The columns of the names that were shown first and second.

    Returns:
        True where most verdicts are such names, or first and second; else why nobody knows.
    """
    values = cell_texts(frame[verdict]).drop_nulls().str.strip_chars()
    names = {value for each in seats for value in cell_texts(frame[each]).drop_nulls().to_list()}
    named = values.is_in(list(names)) | values.str.to_lowercase().is_in(["first", "second"])
    if len(values) and 2 * int(named.sum()) >= len(values):
        return True
    shown = ", ".join(map(repr, values.unique(maintain_order=True)[:2].to_list()))
    first, second = seats
    return Unclear(
        f"{first!r} and {second!r} say which side was shown first, and nothing says whether {shown} name these seats",
        f"name {option('columns', f'a={first},b={second},seat={verdict}')} if they do, "
        f"{option('columns', f'order={first},winner={verdict}')} if they name columns of sides, or "
        f"{option('columns', _PREFERENCES)} for preferences",
    )
