"""Bootstrap means over examples and runs, the two sources of noise in a score; shared by several questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.intervals import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DRAWS_AT_ONCE = 50


def resample_examples(values: NDArray[np.float64], rng: np.random.Generator, n_draws: int) -> NDArray[np.float64]:
    """Means of each row of values over examples drawn with replacement, all rows by the same draw.

    Args:
        values: (M, N), N at least 1.
        rng: Source of the draws.
        n_draws: B.

    Returns:
        (B, M).

    Source: Efron 1979.
    """
    n = values.shape[1]
    means = np.empty((n_draws, values.shape[0]), dtype=np.float64)
    for start in range(0, n_draws, _DRAWS_AT_ONCE):
        size = min(_DRAWS_AT_ONCE, n_draws - start)
        drawn = rng.integers(0, n, (size, n)) + np.arange(0, size * n, n)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        means[start : start + size] = counts.astype(np.float64) @ values.T / n
    return means


def resample_runs(n_runs: int, rng: np.random.Generator, n_draws: int) -> NDArray[np.float64]:
    """Weights of R runs drawn with replacement, (B, R), each row summing to 1.

    Deviations from 1/R are stretched by sqrt(R/(R-1)): without it the bootstrap understates the variance of a mean of R
    runs by (R-1)/R, which for 5 runs is a fifth. A weight may therefore be slightly negative. One run has weight 1.

    Source: Rao and Wu 1988, "Resampling inference with complex survey data" (the rescaling).
    """
    if n_runs == 1:
        return np.ones((n_draws, 1))
    shares = rng.multinomial(n_runs, np.full(n_runs, 1 / n_runs), size=n_draws) / n_runs
    return 1 / n_runs + (shares - 1 / n_runs) * np.sqrt(n_runs / (n_runs - 1))


def percentile_interval(draws: NDArray[np.float64], level: float, *, method: str = "bootstrap") -> Interval:
    """The middle `level` of the draws; NaN draws are left out, and bounds are NaN when nothing is left."""
    kept = draws[~np.isnan(draws)]
    if kept.size == 0:
        return Interval(float("nan"), float("nan"), level, method)
    low, high = np.quantile(kept, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, method)
