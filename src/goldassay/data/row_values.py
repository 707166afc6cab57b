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


# White space, in ASCII, that `normalized_text` changes.
_UNEVEN = r"^ | $|  |[\t-\r\x1c-\x1f]"


def normalized_text(text: str) -> str:
    """Text as it is compared: without case, with single spaces."""
    return " ".join(text.casefold().split())


def normalized_texts(texts: pl.Series) -> pl.Series:
    """`normalized_text` of each; ASCII with single spaces, as most texts are, needs no Python object each."""
    found = texts.str.to_lowercase()
    odd = ((texts.str.len_bytes() != texts.str.len_chars()) | texts.str.contains(_UNEVEN)).arg_true()
    return found.scatter(odd, [normalized_text(text) for text in texts[odd]]) if odd.len() else found


def text_codes(dataset: Dataset, roles: Sequence[str], *, near_copies: bool = False) -> NDArray[np.int64]:
    """A code for each distinct text across roles, compared by `normalized_text`, (N, roles).

    Args:
        dataset: With the texts.
        roles: Which of them.
        near_copies: Give near copies the code of their representative, see `join_near_copies`; some codes are then
            not used.
    """
    texts = pl.concat([normalized_texts(dataset.examples[role]).alias("text") for role in roles])
    first = texts.to_frame().with_row_index("at").select(pl.col("at").min().over("text")).to_series().to_numpy()
    is_first = first == np.arange(first.size)
    codes = (np.cumsum(is_first) - 1)[first]
    found = codes.reshape(len(roles), -1).T.astype(np.int64)
    if not near_copies:
        return found
    return join_near_copies(texts.filter(pl.Series(is_first)).to_list(), np.bincount(codes))[found]


def value_codes(values: pl.Series) -> NDArray[np.int64]:
    """A code for each distinct value, -1 where it is missing or blank, (N,)."""
    text = values.cast(pl.String).str.strip_chars()
    text = pl.select(pl.when(text == "").then(None).otherwise(text)).to_series()
    ranks = text.rank("dense").cast(pl.Int64) - 1
    return ranks.fill_null(-1).to_numpy().astype(np.int64)
