"""What one run tells: its score, and between which scores it would lie on other examples of the kind."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.clusters import effective_clusters
from goldassay.core.errors import InputError
from goldassay.core.intervals import Interval, wilson_interval
from goldassay.core.results import Result
from goldassay.instability.scores import as_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class OneRunScore(Result):
    """The mean score of one run; see `score_one_run`.

    Attributes:
        mean: Over examples.
        interval: Of the mean over other examples; nothing is said of other runs.
        standard_error: Of the mean, cluster-robust and never below that of independent examples.
        n_examples: N.
        n_clusters: G.
        effective_size: How many independent examples are worth as much for the interval, before the allowance for few
            clusters.
    """

    mean: float
    interval: Interval
    standard_error: float
    n_examples: int
    n_clusters: int
    effective_size: float


def score_one_run(scores: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95) -> OneRunScore:
    """The mean of one run's scores, with an interval over (clusters of) examples.

    se² = G/(G-1) sum_g (sum_{i in g} (y_i - m))²/N², at least sum_i (y_i - m)²/(N (N-1)). The interval is Wilson's, of
    m at n* = m (1-m)/se² examples, times (z/t_{df})² for few clusters, with df one less than the effective clusters,
    N²/sum n_g². It stays within [0, 1], and where all scores are equal (se = 0) n* is the effective clusters. Scores
    between 0 and 1 vary less than such as are 0 or 1, so that n* may exceed N for them.

    Args:
        scores: (N,), in [0, 1].
        clusters: (N,) cluster of each example, from 0; None where each counts by itself.
        level: Of the interval.

    Raises:
        InputError: There are fewer than 2 examples or clusters, or scores are not finite or lie outside [0, 1].

    Source: Wilson 1927; Korn and Graubard 1998, "Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data", for n* and its allowance; Miller 2024, "Adding error bars to evals",
    for clusters; Madaan et al. 2024, "Quantifying variance in evaluation benchmarks", for what one run leaves open.
    """
    from scipy.special import ndtri, stdtrit

    values = as_scores(scores, ndim=1)
    n = values.size
    if values.min() < 0 or values.max() > 1:
        raise InputError("scores lie outside [0, 1]", mend="divide points by 100")
    codes = np.arange(n) if clusters is None else np.asarray(clusters)
    if codes.shape != (n,):
        raise InputError(f"clusters have shape {codes.shape}", mend=f"give one for each of the {n} examples")
    n_clusters = np.unique(codes).size
    if n_clusters < 2:
        raise InputError(
            "one example tells nothing about others" if n < 2 else "all examples are one cluster",
            mend="give at least 2",
        )
    mean = float(values.mean())
    # The mean of equal numbers is not always that number.
    rest = values - mean if np.ptp(values) > 0 else np.zeros(n)
    sums = np.bincount(np.unique(codes, return_inverse=True)[1], weights=rest)
    clustered = n_clusters / (n_clusters - 1) * float(sums @ sums) / n**2
    variance = max(clustered, float(rest @ rest) / (n * (n - 1)))
    groups = effective_clusters(np.unique(codes, return_inverse=True)[1])
    size = mean * (1 - mean) / variance if variance > 0 else groups
    tail = (1 + level) / 2
    few = float(ndtri(tail)) / float(stdtrit(max(groups - 1, 1.0), tail))
    made = wilson_interval(mean * size * few**2, size * few**2, level)
    # At the ends rounding must not exclude the mean.
    interval = Interval(max(min(made.low, mean), 0.0), min(max(made.high, mean), 1.0), level, "Wilson, over examples")
    return OneRunScore(mean, interval, math.sqrt(variance), n, n_clusters, size)
