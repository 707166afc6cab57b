"""The examples that set two models apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from goldassay.questions.comparison.comparing import ModelComparisons

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
    means = {name: runs.scores.mean(axis=0) for name, runs in zip(compared.names, compared.models, strict=True)}
    ids = pl.Series("example_id", [str(each) for each in compared.models[0].example_ids.tolist()])
    most = max(1, MOST_ROWS // len(compared.pairs))
    tables = []
    for pair in compared.pairs:
        difference = means[pair.a] - means[pair.b]
        order = np.argsort(-np.abs(difference), kind="stable")[:most]
        order = order[difference[order] != 0]
        tables.append(
            pl.DataFrame(
                {
                    "example_id": ids[order],
                    "mean_a": means[pair.a][order],
                    "mean_b": means[pair.b][order],
                    "difference": difference[order],
                }
            ).select(
                pl.lit(pair.dataset).alias("dataset"),
                "example_id",
                pl.lit(pair.a).alias("a"),
                pl.lit(pair.b).alias("b"),
                "mean_a",
                "mean_b",
                "difference",
            )
        )
    return pl.concat(tables)
