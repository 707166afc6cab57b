"""The bootstrap: examples, or whole clusters of them, and runs drawn anew, and the intervals that draws give.

`draw_clusters` says how often each cluster is drawn: a figure that is made of sums over clusters follows from the
products of these counts with the sums. `resample_runs` weights runs. Studentized intervals of ratios of sums are in
`ratios`.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.cores import one_blas_thread
from goldassay.stats.clusters import cluster_sums
from goldassay.stats.intervals import Interval, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_DRAWS_AT_ONCE = 50
_MOST_COUNTED_TOGETHER = 1 << 18


def draw_clusters(
    n: int,
    n_draws: int,
    rng: np.random.Generator,
    *,
    kinds: NDArray[np.integer] | None = None,
    at_once: int = _DRAWS_AT_ONCE,
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Draw n of n clusters with replacement: how often each is drawn, some draws at once.

    Args:
        n: Clusters, or examples that stand for themselves.
        n_draws: B.
        rng: Source of the draws; they do not depend on how many are made at once.
        kinds: How many clusters there are of each of U kinds, (U,), where those of a kind are alike: the kinds are then
            drawn.
        at_once: Draws that are made at once.

    Yields:
        Which draws, and the counts, (draws, n) or (draws, U).

    Source: Efron 1979; Davison and Hinkley 1997, section 3.8, for clusters.
    """
    for start in range(0, n_draws, at_once):
        size = min(at_once, n_draws - start)
        rows = slice(start, start + size)
        if kinds is not None and kinds.size < n:
            yield rows, rng.multinomial(n, kinds / n, size).astype(np.float64)
        # Counted together, the draws of a few examples cost a tenth; of many it would take as much memory again.
        elif n * size > _MOST_COUNTED_TOGETHER:
            counts = np.empty((size, n), dtype=np.float64)
            for row in counts:
                row[:] = np.bincount(rng.integers(0, n, n), minlength=n)
            yield rows, counts
        else:
            drawn = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, np.newaxis]
            yield rows, np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def draw_once(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A single draw of `draw_clusters`, (n,), for callers that draw other things between two."""
    return next(draw_clusters(n, 1, rng))[1][0]


def resample_examples(
    values: NDArray[np.float64], rng: np.random.Generator, n_draws: int, codes: NDArray[np.int64] | None = None
) -> NDArray[np.float64]:
    """Means of each row of values over examples drawn with replacement, all rows by the same draw.

    Args:
        values: (M, N), N at least 1.
        rng: Source of the draws.
        n_draws: B.
        codes: (N,) cluster of each example, from 0; whole clusters are then drawn, since examples that share
            something do not vary independently.

    Returns:
        (B, M).

    Source: Efron 1979; Davison and Hinkley 1997, section 3.8, for clusters.
    """
    sums = cluster_sums(values, codes)
    sizes = None if codes is None else np.bincount(codes).astype(np.float64)
    means = np.empty((n_draws, len(values)), dtype=np.float64)
    for rows, counts in draw_clusters(sums.shape[1], n_draws, rng):
        with one_blas_thread():
            drawn = sums.shape[1] if sizes is None else (counts @ sizes)[:, np.newaxis]
            means[rows] = counts @ sums.T / drawn
    return means


def resample_runs(n_runs: int, rng: np.random.Generator, n_draws: int) -> NDArray[np.float64]:
    """Weights of R runs, (B, R), each row summing to 1, under which the mean of R values spreads as Student's t says.

    Drawing runs with replacement cannot leave their range, and understates the variance of a mean by (R-1)/R: 95 %
    intervals from 3 runs would cover 70 %. Here deviations from 1/R are normal, of a size that allows for the runs'
    own spread being uncertain: sum_r w_r x_r is distributed as mean(x) + sd(x)/sqrt(R) t with R-1 degrees of
    freedom, and what is measured by the same weights on several sets keeps its correlation. Weights may be negative,
    and with 2 runs very large. One run has weight 1.

    Source: Student 1908; Rubin 1981, "The Bayesian bootstrap", for weights in place of draws.
    """
    if n_runs == 1:
        return np.ones((n_draws, 1))
    normal = rng.standard_normal((n_draws, n_runs))
    normal -= normal.mean(axis=1, keepdims=True)
    squares = rng.chisquare(n_runs - 1, (n_draws, 1))
    return 1 / n_runs + normal / np.sqrt(n_runs * squares)


def score_interval(
    scores: NDArray[np.float64],
    codes: NDArray[np.int64] | None = None,
    *,
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
    scale: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """Interval of the mean score of runs on a test set: what other examples and other runs of the kind may give.

    Every question that shows such a mean takes its interval from here, by the same draws, so that one figure has one
    interval. A single run that is right or wrong has Wilson's; nothing is known of its noise over seeds. Otherwise
    examples, or whole clusters, are drawn with replacement and runs are weighted by `resample_runs`.

    Args:
        scores: (R, N), N at least 1.
        codes: (N,) cluster of each example, from `cluster_codes`.
        seed: Of the draws.
        n_draws: B.
        level: Of the interval.
        scale: The ends of the scores' scale, at which the interval is cut: a stretched weight of runs may pass them.

    Source: Owen 2007, "The pigeonhole bootstrap", for drawing both ways; Wilson 1927.
    """
    if counts_right(scores, codes, scale):
        return wilson_interval(float(scores.sum()), scores.size, level)
    rng = np.random.default_rng(seed)
    return drawn_score_interval(resample_examples(scores, rng, n_draws, codes), rng, level=level, scale=scale)


def counts_right(
    scores: NDArray[np.float64], codes: NDArray[np.int64] | None, scale: tuple[float, float] = (0.0, 1.0)
) -> bool:
    """Whether scores (R, N) are a proportion: independent answers of one run, each right or wrong."""
    single = len(scores) == 1 and codes is None and scale == (0.0, 1.0)
    return single and bool(np.isin(scores, (0.0, 1.0)).all())


def drawn_score_interval(
    means: NDArray[np.float64],
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    scale: tuple[float, float] = (0.0, 1.0),
) -> Interval:
    """`score_interval` from means (B, R) over examples that were drawn already, with the generator as these left it.

    The generator is not moved, so that several intervals can be taken from one draw of examples.
    """
    draws = (resample_runs(means.shape[1], deepcopy(rng), len(means)) * means).sum(axis=1)
    return percentile_interval(draws, level).within(*scale)


def percentile_interval(draws: NDArray[np.float64], level: float, *, method: str = "bootstrap") -> Interval:
    """The middle `level` of the draws; NaN draws are left out, and bounds are NaN when nothing is left."""
    kept = draws[~np.isnan(draws)]
    if kept.size == 0:
        return Interval(float("nan"), float("nan"), level, method)
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, method)
