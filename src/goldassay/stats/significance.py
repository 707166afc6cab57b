"""Tests of a difference, and corrections for many tests at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray


def t_p_value(difference: float, variance: float, df: float) -> float:
    """Two-sided, of a true difference of 0, by Student's t; by the normal for infinite degrees of freedom."""
    if difference == 0:
        return 1.0
    if variance <= 0:
        return 0.0
    return 2 * t_tail(abs(difference) / math.sqrt(variance), df)


def t_tail(score: float, df: float) -> float:
    """The chance that Student's t lies above `score`; the normal's for infinite degrees of freedom."""
    from scipy.special import ndtr, stdtr

    return float(stdtr(df, -score) if math.isfinite(df) else ndtr(-score))


def sign_flip_p(differences: NDArray[np.float64], *, seed: int, n_draws: int = 9999) -> float:
    """Two-sided p-value of the sum of differences, signs flipped at random.

    (1 + number of draws whose |sum| is at least the observed)/(1 + draws). Units with the same |difference| are
    flipped together by one binomial draw, which gives the same distribution at a fraction of the cost.

    Args:
        differences: (M,), one for each independent unit: an example, or a cluster's sum.
        seed: Of the draws.
        n_draws: How many.

    Source: Fisher 1935; the estimate that cannot be 0 is Phipson and Smyth's (2010).
    """
    sizes, counts = np.unique(np.abs(differences[differences != 0]).round(12), return_counts=True)
    observed = abs(float(differences.sum()))
    rng = np.random.default_rng(seed)
    sums = np.zeros(n_draws)
    for size, count in zip(sizes, counts, strict=True):
        sums += size * (2.0 * rng.binomial(count, 0.5, n_draws) - count)
    # Sums of the same terms in another order may differ in the last digits, and are ties all the same.
    reached = np.abs(sums) >= observed - 1e-9 * max(1.0, float(np.abs(differences).sum()))
    return float(1 + reached.sum()) / (1 + n_draws)


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values (q) that control the false discovery rate.

    With the p sorted ascending, q_(i) = min over j >= i of p_(j) V/j, at most 1; V is how many there are. NaN is no
    test: it stays, and does not count.

    Args:
        p_values: (V,), each in [0, 1].

    Returns:
        q, (V,), in the order of the input.

    Source: Benjamini and Hochberg 1995.
    """
    return _corrected(p_values, adjusted)


def adjusted(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Benjamini-Hochberg q of p-values that are sorted ascending, (V,); what `benjamini_hochberg` computes."""
    q: NDArray[np.float64] = p * (p.size / np.arange(1, p.size + 1))
    np.minimum.accumulate(q[::-1], out=q[::-1])
    return np.minimum(q, 1.0, out=q)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjusted p-values that control the chance of any false rejection.

    With the p sorted ascending, max over j <= i of (V - j + 1) p_(j), at most 1; V is how many there are. NaN is no
    test: it stays, and does not count.

    Args:
        p_values: (V,), each in [0, 1].

    Returns:
        Adjusted p, (V,), in the order of the input.

    Source: Holm 1979.
    """
    return _corrected(p_values, lambda p: np.minimum(np.maximum.accumulate(p * np.arange(p.size, 0, -1)), 1.0))


def _corrected(
    p_values: ArrayLike, correct: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    """What a correction of p-values that are sorted ascending makes of those that are numbers."""
    p = np.array(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")[: np.count_nonzero(~np.isnan(p))]
    p[order] = correct(p[order])
    return p
