"""Which rows have the same text or value, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.data.near_copies import join_near_copies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset


def normalized_text(text: str) -> str:
    """Text as it is compared: without case, with single spaces."""
    return " ".join(text.casefold().split())


def text_codes(dataset: Dataset, roles: Sequence[str], *, near_copies: bool = False) -> NDArray[np.int64]:
    """A code for each distinct text across roles, compared by `normalized_text`, (N, roles).

    Args:
        dataset: With the texts.
        roles: Which of them.
        near_copies: Give near copies the code of their representative, see `join_near_copies`; some codes are then
            not used.
    """
    codes: dict[str, int] = {}
    columns = []
    for role in roles:
        distinct = dataset.examples[role].unique(maintain_order=True)
        of_text = [codes.setdefault(normalized_text(text), len(codes)) for text in distinct]
        column = dataset.examples[role].replace_strict(distinct, of_text, return_dtype=pl.Int64)
        columns.append(column.to_numpy())
    found = np.stack(columns, axis=1).astype(np.int64)
    if not near_copies:
        return found
    counts = np.bincount(found.ravel(), minlength=len(codes))
    return join_near_copies(list(codes), counts)[found]


def value_codes(values: pl.Series) -> NDArray[np.int64]:
    """A code for each distinct value, -1 where it is missing or blank, (N,)."""
    text = values.cast(pl.String).str.strip_chars()
    text = pl.select(pl.when(text == "").then(None).otherwise(text)).to_series()
    ranks = text.rank("dense").cast(pl.Int64) - 1
    return ranks.fill_null(-1).to_numpy().astype(np.int64)
