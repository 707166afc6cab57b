"""Words that give a label away, of each text of the training part: the table `words`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.questions.leakage.measures.token_relevance import SCHEMA, telling_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

# Characters of each role that are read: words that give much away are frequent, and a draw of the rows has them.
MOST_CHARACTERS = 10_000_000


def words_of_texts(
    texts: Mapping[str, pl.Series], codes: NDArray[np.integer], label_names: Sequence[str], *, q: float, seed: int
) -> pl.DataFrame:
    """A row a role and word that leans to a label; of large sets words of a random draw of their rows.

    Args:
        texts: {role: N texts}.
        codes: Of the labels, (N,).
        label_names: K names.
        q: Largest false discovery rate.
        seed: Of the draw.
    """
    found = []
    for role, column in texts.items():
        length = int(column.str.len_bytes().sum() or 0)
        rows = np.arange(len(column))
        if length > MOST_CHARACTERS:
            n = max(1, int(len(column) * MOST_CHARACTERS / length))
            rows = np.sort(np.random.default_rng(seed).choice(len(column), n, replace=False))
        words = telling_words(column[rows], codes[rows], label_names, q=q)
        found.append(words.select(pl.lit(role).alias("role"), pl.all()))
    return pl.concat(found) if found else pl.DataFrame(schema={"role": pl.String, **SCHEMA})
