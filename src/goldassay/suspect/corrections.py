"""What scores would be if the most suspect labels were wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def corrected_scores(
    predictions: NDArray[np.integer],
    gold: NDArray[np.integer],
    alternative: NDArray[np.integer],
    suspicion: NDArray[np.float64],
    n_first: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Accuracies of S systems as they are, without the k most suspect items, and with these relabelled.

    Args:
        predictions: Codes, (S, N).
        gold: Codes, (N,).
        alternative: The label that each item would have if its gold label were wrong, (N,).
        suspicion: By which items are ordered, (N,).
        n_first: k, from 0 to N - 1.

    Returns:
        Three arrays, (S,).

    Raises:
        ValueError: k is out of range.
    """
    answers, right = np.asarray(predictions), np.asarray(gold)
    if not 0 <= n_first < right.size:
        raise ValueError("n_first must be from 0 to one less than the items")
    first = np.argsort(-np.asarray(suspicion), kind="stable")[:n_first]
    left = np.ones(right.size, bool)
    left[first] = False
    changed = right.copy()
    changed[first] = np.asarray(alternative)[first]
    hits = answers == right
    return hits.mean(axis=1), hits[:, left].mean(axis=1), (answers == changed).mean(axis=1)
