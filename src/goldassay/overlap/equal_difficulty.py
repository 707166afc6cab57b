"""The difference of dirty and clean items among items that are equally hard for other systems."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.intervals import Interval
from goldassay.core.results import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Steps of difficulty at most.
MOST_STRATA = 10


@dataclass(frozen=True)
class AdjustedDifference(Result):
    """A difference at equal difficulty.

    Attributes:
        value: Mean difference within steps of difficulty; NaN where no step has items of both kinds.
        interval: Its interval; None likewise, or where there are fewer than two clusters.
        n_strata: Steps that have items of both kinds.
        n_items: Items in these.
        n_left_out: Items in the other steps.
    """

    value: float
    interval: Interval | None
    n_strata: int
    n_items: int
    n_left_out: int


def strata_of(difficulty: ArrayLike, most: int = MOST_STRATA) -> NDArray[np.int64]:
    """Steps of difficulty of about as many items each, equal values in one, (N,)."""
    values = np.asarray(difficulty, np.float64)
    edges = np.unique(np.quantile(values, np.arange(1, most) / most, method="higher")) if values.size else values
    return np.searchsorted(edges, values, side="right").astype(np.int64)


def adjusted_difference(
    scores: ArrayLike, is_dirty: ArrayLike, difficulty: ArrayLike, clusters: ArrayLike, level: float = 0.95
) -> AdjustedDifference:
    """Least squares of the score on being dirty, with an intercept for each step of difficulty.

    b = sum(d y) / sum(d^2), with d and y less their means within each step; the variance is
    sum_g(sum_{i in g} d_i e_i)^2 / sum(d^2)^2 times G / (G - 1) times (N - 1) / (N - K - 1), and the interval takes
    Student's distribution with G - 1 degrees of freedom.

    Args:
        scores: Of each item, (N,).
        is_dirty: Which items stand in the corpus, (N,).
        difficulty: What other systems score on each on average, (N,).
        clusters: Of the items, (N,).
        level: Of the interval.

    Source: Frisch and Waugh 1933 (partial regression); Liang and Zeger 1986 (clustered variance).
    """
    y, d = np.asarray(scores, np.float64), np.asarray(is_dirty, np.float64)
    strata = strata_of(difficulty)
    n_dirty, n_all = np.bincount(strata, d), np.bincount(strata)
    has_both = (n_dirty > 0) & (n_dirty < n_all)
    used = has_both[strata]
    n, n_strata = int(used.sum()), int(has_both.sum())
    if not n:
        return AdjustedDifference(math.nan, None, 0, 0, y.size)
    _, codes = np.unique(strata[used], return_inverse=True)
    sizes = np.bincount(codes)
    y, d = (each[used] - (np.bincount(codes, each[used]) / sizes)[codes] for each in (y, d))
    spread = float(d @ d)
    value = float(d @ y) / spread
    _, groups = np.unique(np.asarray(clusters)[used], return_inverse=True)
    n_groups = int(groups.max()) + 1
    interval = None
    if n_groups > 1 and n > n_strata + 1:
        from scipy.stats import t

        sums = np.bincount(groups, d * (y - value * d))
        variance = float(sums @ sums) / spread**2 * n_groups / (n_groups - 1) * (n - 1) / (n - n_strata - 1)
        reach = float(t.ppf((1 + level) / 2, n_groups - 1)) * math.sqrt(variance)
        interval = Interval(value - reach, value + reach, level, "least squares, clustered")
    return AdjustedDifference(value, interval, n_strata, n, int((~used).sum()))
