"""One row a test example: what the audit found out about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.runs import Runs


def example_table(test: Dataset, classes: NDArray[np.str_], probes: Sequence[Runs]) -> pl.DataFrame:
    """Lay each test example's class beside how often the probes of each condition got it right.

    Columns: example_id, the texts, label, difficulty, and `right_CONDITION`, the share of seeds that were right.
    """
    return test.examples.select(
        "example_id",
        *test.text_columns,
        "label",
        pl.Series("difficulty", classes.tolist(), dtype=pl.String),
        *(pl.Series(f"right_{runs.condition}", runs.scores.mean(axis=0)) for runs in probes),
    )
