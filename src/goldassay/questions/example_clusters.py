"""Which examples of a dataset do not count as independent; every interval over examples asks here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.data import Dataset


def clusters_of(dataset: Dataset | None, example_ids: NDArray[Any] | None = None) -> NDArray[np.str_] | None:
    """What examples share: their first text, such as a premise; None where there is one text only, or none recurs.

    Args:
        dataset: The examples with their texts, if at hand.
        example_ids: Those that are measured, in their order, (N,); by default all of the dataset.

    Returns:
        (N,), or None, also where the dataset lacks some of the examples.
    """
    if dataset is None or len(dataset.text_columns) < 2:
        return None
    role = dataset.text_columns[0]
    texts = dataset.texts(role)
    if example_ids is not None:
        known = pl.DataFrame({"id": dataset.examples["example_id"].cast(pl.String), "text": texts})
        ids = pl.DataFrame({"id": pl.Series([str(each) for each in example_ids.tolist()], dtype=pl.String)})
        found = ids.join(known.unique("id", maintain_order=True), on="id", how="left", maintain_order="left")["text"]
        if found.null_count():
            return None
        texts = found.to_list()
    shared = np.array(texts, dtype=np.str_)
    distinct = np.unique(shared).size
    return shared if 1 < distinct < shared.size else None
