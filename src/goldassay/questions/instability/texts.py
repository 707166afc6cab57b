"""The texts and columns of what was predicted, where the dataset was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.data import read_dataset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data import Dataset
    from goldassay.runs import Runs


def read_texts(path: str | None) -> Dataset | None:
    """The dataset at a path, or None where none was given or it has no texts (labels alone can serve as gold)."""
    if path is None:
        return None
    try:
        return read_dataset(path)
    except InputError:
        # Whatever ails it as a dataset, it has just served to score the runs by.
        return None


def rows_of(runs: Runs, dataset: Dataset, columns: Sequence[str]) -> pl.DataFrame:
    """Columns of the dataset for each example of the runs, in their order; null where the dataset lacks one."""
    wanted = dataset.examples.select(pl.col("example_id").cast(pl.String), *columns)
    ids = pl.DataFrame({"example_id": pl.Series(runs.example_ids.tolist(), dtype=pl.String)})
    return ids.join(
        wanted.unique("example_id", maintain_order=True), on="example_id", how="left", maintain_order="left"
    )


def group_names(runs: Runs, column: str, dataset: Dataset | None) -> NDArray[np.str_] | None:
    """A group name for each example, from the runs or from a column of the dataset; None where neither has it."""
    if column in runs.groups:
        return runs.groups[column].astype(np.str_)
    if dataset is None or column not in dataset.examples.columns:
        return None
    values = rows_of(runs, dataset, [column] if column != "example_id" else [])[column]
    if values.dtype.is_nested() or values.null_count():
        return None
    return values.cast(pl.String).to_numpy().astype(np.str_)


def known_groups(runs: Runs, dataset: Dataset | None) -> list[str]:
    """What `group_names` can be asked for."""
    others = [] if dataset is None else [name for name in dataset.examples.columns if name != "example_id"]
    return list(dict.fromkeys([*runs.groups, *others]))
