"""What the form of texts names, read without a dataset around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.questions.artifacts.readings import WrittenTexts
from goldassay.stats.clusters import Folds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def read_form_by_lift(
    texts: pl.Series,
    codes: NDArray[np.integer],
    test_texts: pl.Series,
    label_names: Sequence[str],
    *,
    min_count: int,
    q: float,
) -> NDArray[np.int64]:
    """The label that the form of each test text stands for most, (M,); the usual one where its form is usual.

    Args:
        texts: Training texts as they are written, (N,).
        codes: Of their labels, (N,).
        test_texts: M texts.
        label_names: K names.
        min_count: Fewest training texts of a feature.
        q: Largest q of a feature that counts.
    """
    known = np.concatenate([np.asarray(codes, np.int64), np.zeros(len(test_texts), np.int64)])
    folds = Folds.of_parts(len(texts), len(test_texts))
    return WrittenTexts(pl.concat([texts, test_texts]), known, folds, tuple(label_names)).read(min_count, q)
