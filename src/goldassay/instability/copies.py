"""Runs that are copies of another one, but for an answer or two."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.instability.scores import as_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Of the examples that a run is wrong on (or right on, if these are fewer), the share up to which another run may differ
# from it and still be taken for a copy. Seeds of one model differ on .28 to .52 of them: five BERT and five DistilBERT
# models on the SNLI test set.
ALIKE = 0.05
# Runs that are held against all others at once: bounds the memory.
_AT_ONCE = 256


def distinct_runs(scores: ArrayLike) -> int:
    """How many runs there are when copies of a run, exact ones and near ones, count as one.

    A run is a copy of one before it where the examples on which their scores differ are at most a twentieth of the
    examples that the two are wrong on (on average), or right on, whichever are fewer. Runs with other seeds agree on
    what is easy; of what a model gets wrong, they change a quarter and more. Copies of copies are not chained.

    Args:
        scores: In [0, 1], (R, N).
    """
    values = as_scores(scores)
    n_examples = values.shape[1]
    lost = n_examples - values.sum(axis=1)
    room = ALIKE * np.minimum(lost, n_examples - lost)
    kept = np.zeros(len(values), np.bool_)
    for begin in range(0, len(values), _AT_ONCE):
        for run, apart in enumerate(_apart(values, slice(begin, begin + _AT_ONCE)), start=begin):
            kept[run] = not (kept & (apart <= (room + room[run]) / 2)).any()
    return int(kept.sum())


def _apart(values: NDArray[np.float64], part: slice) -> NDArray[np.int64]:
    """On how many examples some runs differ from each of all, (R', R)."""
    if bool(((values == 0) | (values == 1)).all()):
        # Sums of ones below 2^24 are exact in 32 bits, in whatever order a matrix library adds them.
        small = values.astype(np.float32)
        right = small.sum(axis=1)
        return np.asarray(right[part, np.newaxis] + right - 2 * (small[part] @ small.T), np.int64)
    return np.array([(values != each).sum(axis=1) for each in values[part]], np.int64)
