"""Variance of scores over runs, and what is taken for a system with one run beside systems with several."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from goldassay.core.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


class Spread(NamedTuple):
    """Variance of the mean score over runs, pooled over systems, and its degrees of freedom; 0 and 0 if unknown."""

    variance: float
    freedom: int


def pooled_spread(scores: Sequence[ArrayLike]) -> Spread:
    """sum_m (R_m - 1) var_m / sum_m (R_m - 1), over the systems with several runs.

    Args:
        scores: Of each system, (N,) or (R, N), in [0, 1].

    Raises:
        InputError: See `stacked_runs`.
    """
    runs, of_system = stacked_runs(scores)
    return noise_of_runs(runs.mean(axis=1), of_system)[1]


def noise_of_runs(
    means: NDArray[np.float64], of_system: Sequence[NDArray[np.int64]]
) -> tuple[NDArray[np.float64], Spread]:
    """Variance of each system's mean over its runs, (M,), and the pooled spread, which one run is taken to have.

    Args:
        means: Mean score of each run.
        of_system: Which runs each system has.
    """
    freedom = sum(own.size - 1 for own in of_system)
    of_one = [float(means[own].var(ddof=1)) if own.size > 1 else 0.0 for own in of_system]
    known = zip(of_one, of_system, strict=True)
    pooled = sum(var * (own.size - 1) for var, own in known) / freedom if freedom else 0.0
    found = [var / own.size if own.size > 1 else pooled for var, own in zip(of_one, of_system, strict=True)]
    return np.array(found), Spread(pooled, freedom)


def stacked_runs(scores: Sequence[ArrayLike]) -> tuple[NDArray[np.float64], list[NDArray[np.int64]]]:
    """All runs of all systems, (sum of R, N), and which rows are of each system.

    Raises:
        InputError: There are fewer than two systems or items, they are not scored on the same items, or scores are not
            finite or lie outside [0, 1].
    """
    given = [np.atleast_2d(np.asarray(each, dtype=np.float64)) for each in scores]
    if len(given) < 2:
        raise InputError("a board of one system has no ranks", mend="give two systems or more")
    if len({each.shape[1] for each in given}) > 1:
        raise InputError("the systems are scored on different numbers of items", mend="give the items in common")
    runs = np.concatenate(given)
    if runs.shape[1] < 2:
        raise InputError("one item tells nothing about others", mend="give at least 2")
    if not np.isfinite(runs).all() or runs.min() < 0 or runs.max() > 1:
        raise InputError("scores are missing or lie outside [0, 1]", mend="give one from 0 to 1 for each item")
    starts = np.cumsum([0, *(len(each) for each in given)]).tolist()
    return runs, [np.arange(start, end) for start, end in pairwise(starts)]
