"""The examples that set two models apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.questions.comparison.comparing import ModelComparisons
    from goldassay.runs import Runs

# Of all pairs together: each of many pairs has its most telling ones.
MOST_ROWS = 200_000


def differing_rows(compared: ModelComparisons) -> pl.DataFrame:
    """The examples on which two models score differently, of each pair the largest differences first.

    Args:
        compared: Models on the same examples in the same order.

    Returns:
        dataset, example_id, a, b, `mean_a` and `mean_b` (of the scores over runs), `difference` (A - B). Pairs stand in
        the order of the comparison, at most `MOST_ROWS` rows in all.
    """
    models = dict(zip(compared.names, compared.models, strict=True))
    most = max(1, MOST_ROWS // len(compared.pairs))
    return differing_rows_of(models, [(pair.a, pair.b) for pair in compared.pairs], most)


def differing_rows_of(models: Mapping[str, Runs], pairs: Sequence[tuple[str, str]], most: int) -> pl.DataFrame:
    """The same of some pairs among models on one dataset, at most so many rows of each."""
    means = {name: runs.scores.mean(axis=0) for name, runs in models.items()}
    first = next(iter(models.values()))
    ids = pl.Series("example_id", [str(each) for each in first.example_ids.tolist()])
    tables = []
    for a, b in pairs:
        difference = means[a] - means[b]
        order = np.argsort(-np.abs(difference), kind="stable")[:most]
        order = order[difference[order] != 0]
        tables.append(
            pl.DataFrame(
                {
                    "example_id": ids[order],
                    "mean_a": means[a][order],
                    "mean_b": means[b][order],
                    "difference": difference[order],
                }
            ).select(
                pl.lit(first.dataset).alias("dataset"),
                "example_id",
                pl.lit(a).alias("a"),
                pl.lit(b).alias("b"),
                "mean_a",
                "mean_b",
                "difference",
            )
        )
    return pl.concat(tables)
