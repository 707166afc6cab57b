"""What rules and readers get right among pairs of like length, and readers on each subset: tables of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.questions.leakage.measures.preference_rules import (
    LikeLength,
    SubsetEffect,
    measure_by_subset,
    measure_like_length,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from goldassay.data.kinds import ChoiceItems
    from goldassay.questions.leakage.measures.choice_rules import Picks

# Names of tables.
LIKE_LENGTH, SUBSETS = "preference_like_length", "preference_subsets"
Hits = tuple[str, "NDArray[np.float64]", "NDArray[np.bool_]"]


def preference_tables(
    items: ChoiceItems,
    picks: Sequence[Picks],
    readers: Mapping[str, NDArray[np.float64]],
    clusters: NDArray[np.int64] | None,
) -> dict[str, pl.DataFrame]:
    """Accuracy of rules and readers where length tells nothing, and the effects of readers by subset.

    Args:
        items: N of them.
        picks: Of the rules in the direction of more, then in that of less.
        readers: Condition to what its readers hit of each item, (N,).
        clusters: Of the items, (N,).
    """
    whole = np.ones(len(items), np.bool_)
    asked: list[Hits] = [(condition.replace("_", " "), hits, whole) for condition, hits in readers.items()]
    rules: list[Hits] = [(each.rule, each.hits, each.applies) for each in picks[: len(picks) // 2]]
    like = measure_like_length(items, [*asked, *rules])
    found = {LIKE_LENGTH: _frame(like, LikeLength)}
    if subsets := measure_by_subset(items, asked, clusters):
        found[SUBSETS] = _frame(subsets, SubsetEffect)
    return found


def _frame(rows: Sequence[LikeLength] | Sequence[SubsetEffect], of: type[LikeLength | SubsetEffect]) -> pl.DataFrame:
    text, whole = ("subset", "reader"), ("n_items", "all_items")
    schema = {
        name: pl.String if name in text else pl.Int64 if name in whole else pl.Float64
        for name in of.__dataclass_fields__
    }
    return pl.DataFrame([each.to_dict() for each in rows], schema=schema)
