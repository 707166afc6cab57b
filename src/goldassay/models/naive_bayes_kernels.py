"""The compiled loops of `naive_bayes`: words are counted once a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def count_words(
    ids: NDArray[np.int32], starts: NDArray[np.int64], codes: NDArray[np.int64], n_classes: int, n_words: int
) -> NDArray[np.int64]:
    """In how many texts of each label each word is, (K, W).

    Args:
        ids: Word numbers of all texts.
        starts: Where each text's begin, and where the last one's end, (N + 1,).
        codes: Label of each text, (N,).
        n_classes: K.
        n_words: W.
    """
    counts = np.zeros((n_classes, n_words), np.int64)
    last = np.full(n_words, -1, np.int64)
    for i in range(starts.size - 1):
        for at in range(starts[i], starts[i + 1]):
            word = ids[at]
            if last[word] != i:
                last[word] = i
                counts[codes[i], word] += 1
    return counts


@compiled
def add_evidence(
    ids: NDArray[np.int32], starts: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The sum of the weights of each text's distinct words, in the order of their numbers, (N, K).

    Args:
        ids: Word numbers of all texts.
        starts: As for `count_words`.
        weights: Of each word for each label, (W, K).
    """
    found = np.zeros((starts.size - 1, weights.shape[1]))
    for i in range(starts.size - 1):
        words = np.sort(ids[starts[i] : starts[i + 1]])
        for at in range(words.size):
            if at == 0 or words[at] != words[at - 1]:
                for label in range(weights.shape[1]):
                    found[i, label] += weights[words[at], label]
    return found
