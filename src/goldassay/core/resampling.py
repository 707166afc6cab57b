"""Bootstrap means over examples and runs, the two sources of noise in a score; shared by several questions."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.cores import one_blas_thread
from goldassay.core.errors import InputError
from goldassay.core.intervals import Interval, wilson_interval

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_DRAWS_AT_ONCE = 50
_MOST_COUNTED_TOGETHER = 1 << 18


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
    sizes = None if codes is None else np.bincount(codes).astype(np.float64)
    sums = values if codes is None else np.stack([np.bincount(codes, weights=row) for row in values])
    n = sums.shape[1]
    means = np.empty((n_draws, values.shape[0]), dtype=np.float64)
    for start in range(0, n_draws, _DRAWS_AT_ONCE):
        size = min(_DRAWS_AT_ONCE, n_draws - start)
        counts = drawn_counts(n, size, rng)
        with one_blas_thread():
            drawn = n if sizes is None else (counts @ sizes)[:, np.newaxis]
            means[start : start + size] = counts @ sums.T / drawn
    return means


def drawn_counts(n: int, n_draws: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """How often each of n clusters is among n drawn with replacement, (B, n)."""
    # Counted together, the draws of a few examples cost a tenth; of many it would take as much memory again.
    if n * n_draws > _MOST_COUNTED_TOGETHER:
        counts = np.empty((n_draws, n), dtype=np.float64)
        for row in counts:
            row[:] = np.bincount(rng.integers(0, n, n), minlength=n)
        return counts
    drawn = rng.integers(0, n, (n_draws, n)) + n * np.arange(n_draws)[:, np.newaxis]
    return np.bincount(drawn.ravel(), minlength=n_draws * n).reshape(n_draws, n).astype(np.float64)


def cluster_codes(clusters: ArrayLike | None, n_examples: int) -> NDArray[np.int64] | None:
    """Codes from 0 of what examples share, such as a premise; None where each stands for itself.

    Raises:
        InputError: There is not one name for each example, or all share one.
    """
    if clusters is None:
        return None
    names = np.asarray(clusters)
    if names.shape != (n_examples,):
        raise InputError(f"clusters have shape {names.shape}", mend=f"give one for each of the {n_examples} examples")
    codes = np.unique(names.astype(np.str_), return_inverse=True)[1].astype(np.int64)
    if codes.max(initial=0) == 0:
        raise InputError("all examples are in one cluster", mend="give clusters that are smaller")
    return codes


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
    found = percentile_interval(draws, level)
    return replace(found, low=max(found.low, scale[0]), high=min(found.high, scale[1]))


def percentile_interval(draws: NDArray[np.float64], level: float, *, method: str = "bootstrap") -> Interval:
    """The middle `level` of the draws; NaN draws are left out, and bounds are NaN when nothing is left."""
    kept = draws[~np.isnan(draws)]
    if kept.size == 0:
        return Interval(float("nan"), float("nan"), level, method)
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, method)
