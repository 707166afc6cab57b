"""The noise in a difference of two models' mean scores: that of examples, that of runs, and what follows from both."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from goldassay.core.intervals import Interval
from goldassay.core.resampling import resample_examples, resample_runs
from goldassay.instability.decomposition import parts_of_variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def noise_of_examples(d: NDArray[np.float64], codes: NDArray[np.int64] | None, n_clusters: int) -> float:
    """Variance of the mean of differences d (N,) by which examples, or whole clusters of them, were drawn."""
    n_examples = len(d)
    if codes is None:
        return float(d.var(ddof=1)) / n_examples
    sums = np.bincount(codes, weights=d - d.mean(), minlength=n_clusters)
    return float(sums @ sums) / n_examples**2 * n_clusters / (n_clusters - 1)


class RunNoise(NamedTuple):
    """Variance of the difference by the runs, as measured and as the test takes it.

    Attributes:
        variance: As measured.
        overlap: What flips of single examples alone would give.
        floored: Parts of the variance, none below its overlap, each with its degrees of freedom, to weight these.
    """

    variance: float
    overlap: float
    floored: list[tuple[float, float]]


def noise_of_side(values: NDArray[np.float64], codes: NDArray[np.int64] | None) -> tuple[float, float, int]:
    """Of the mean of several runs (R, N): its variance by the runs, what single examples' flips give, and R - 1."""
    parts = parts_of_variance(values, codes, ddof=1)
    overlap = (parts.independent + (parts.within or 0.0)) / len(values)
    return parts.total / len(values), overlap, len(values) - 1


def noise_of_runs(sides: Sequence[tuple[float, float, int]]) -> RunNoise:
    """The noise of runs in a difference, from that of each side, or of the differences of matched runs."""
    found = list(sides)
    if len({df for *_, df in found}) == 1:
        # Of equal numbers of runs the pooled variance is that of the difference, with the degrees of freedom of both.
        variances, overlaps, dfs = zip(*found, strict=True)
        found = [(sum(variances), sum(overlaps), sum(dfs))]
    return RunNoise(
        sum(variance for variance, *_ in found),
        sum(overlap for _, overlap, _ in found),
        [(max(variance, overlap), df) for variance, overlap, df in found],
    )


def sides_of(a: NDArray[np.float64], b: NDArray[np.float64], matched: bool) -> tuple[NDArray[np.float64], ...]:
    """What varies by itself: the runs of each model, or the differences of runs that belong together."""
    return (a - b,) if matched else (a, b)


def degrees_of_freedom(parts: Sequence[tuple[float, float]]) -> float:
    """Satterthwaite's, from each part's variance and its own; infinite where nothing varies."""
    whole = sum(variance for variance, _ in parts)
    squares = sum(variance**2 / df for variance, df in parts)
    return whole**2 / squares if squares > 0 else math.inf


def t_p_value(difference: float, variance: float, df: float) -> float:
    """Two-sided, of a true difference of 0, by Student's t."""
    from scipy.special import ndtr, stdtr

    if difference == 0:
        return 1.0
    if variance <= 0:
        return 0.0
    score = -abs(difference) / math.sqrt(variance)
    return 2 * float(stdtr(df, score) if math.isfinite(df) else ndtr(score))


def t_interval(difference: float, variance: float, df: float, level: float, over: str) -> Interval:
    """The difference and t times its standard error to either side."""
    from scipy.special import ndtri, stdtrit

    quantile = float(stdtrit(df, (1 + level) / 2) if math.isfinite(df) else ndtri((1 + level) / 2))
    half = quantile * math.sqrt(variance)
    return Interval(difference - half, difference + half, level, f"Student t, over {over}")


def drawn_runs(
    n_a: int, n_b: int, matched: bool, rng: np.random.Generator, n_draws: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of the runs of either model in each draw, (n_draws, R_A) and (n_draws, R_B); equal ones for one run."""
    if min(n_a, n_b) < 2:
        return np.full((n_draws, n_a), 1 / n_a), np.full((n_draws, n_b), 1 / n_b)
    of_a = resample_runs(n_a, rng, n_draws)
    return of_a, of_a if matched else resample_runs(n_b, rng, n_draws)


def drawn_differences(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    codes: NDArray[np.int64] | None,
    rng: np.random.Generator,
    weights: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Differences of the mean scores of drawn examples, or clusters, by weighted runs, (n_draws,)."""
    means = resample_examples(np.vstack([a, b]), rng, len(weights[0]), codes)
    of_a, of_b = means[:, : len(a)], means[:, len(a) :]
    differences: NDArray[np.float64] = (weights[0] * of_a).sum(axis=1) - (weights[1] * of_b).sum(axis=1)
    return differences
