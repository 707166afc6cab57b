"""Tests of a difference, and corrections for many tests at once.

One conclusion from several estimates: random effects over families of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.stats.intervals import normal_quantile, t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


@dataclass(frozen=True)
class Pooled(Result):
    """The mean of the effects that estimates are of; see `pool_estimates`.

    Attributes:
        value: Weighted mean.
        low: Lower end of its interval.
        high: Upper end.
        tau: Standard deviation of true effects between families; NaN of one family.
        i_squared: Share of the variance between families that is not noise of the estimates; NaN of one family.
        prediction_low: Lower end for the true effect in another family; NaN of fewer than three.
        prediction_high: Upper end.
        n_estimates: How many were pooled.
        n_families: Of the grouping that gives the widest interval.
        grouping: Which grouping that is.
        level: Of both intervals.
    """

    value: float
    low: float
    high: float
    tau: float
    i_squared: float
    prediction_low: float
    prediction_high: float
    n_estimates: int
    n_families: int
    grouping: int
    level: float


def pool_estimates(values: ArrayLike, errors: ArrayLike, *groupings: Sequence[object], level: float = 0.95) -> Pooled:
    """Pool estimates of effects that differ from each other, with an interval for their mean.

    Estimates of one family, such as all that share runs, are first replaced by their mean, with the mean of their
    standard errors: that is what it has when all err alike, and at least what it has otherwise. Over k families

        mu = sum w_f y_f / sum w_f,   w_f = 1/(s_f² + tau²),
        mu ± t_(k-1) sqrt(max(1, q) / sum w_f),   q = sum w_f (y_f - mu)² / (k-1)

    with tau² such that q = 1, or 0 where q is below that at tau = 0. The prediction interval adds tau² to the squared
    standard error and has k-2 degrees of freedom. I² = max(0, (Q - (k-1))/Q), Q the sum of squares at tau = 0. Where
    all estimates are of one family, the interval is normal and says nothing of others.

    Estimates may be dependent in more than one way, as those of models on test sets are by model and by set. Then each
    way is a grouping, and the one with the widest interval is taken.

    Args:
        values: E estimates.
        errors: Their standard errors, above 0.
        groupings: Each the families of the estimates, (E,); each estimate is its own if there is none.
        level: Of the intervals.

    Raises:
        InputError: There is nothing to pool, sizes differ, a value is not finite or an error is not above 0.

    Source: Paule and Mandel 1982 for tau; Hartung and Knapp 2001, and Sidik and Jonkman 2002, for the interval; Röver,
    Knapp and Friede 2015 for max(1, q), since k estimates may agree by chance; Higgins, Thompson and Spiegelhalter
    2009 for prediction and I².
    """
    y, s = (np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in (values, errors))
    if not y.size or y.shape != s.shape or any(len(each) != y.size for each in groupings):
        raise InputError(f"there are {y.size} estimates and {s.size} errors", mend="give one error and family of each")
    if not (np.isfinite(y).all() and np.isfinite(s).all() and (s > 0).all()):
        raise InputError("an estimate is not finite or has no standard error", mend="leave it out")
    found = [
        _pool(*_by_family(y, s, families), y.size, at, level)
        for at, families in enumerate(groupings or (range(y.size),))
    ]
    return max(found, key=lambda each: each.high - each.low)


def error_of(low: float, high: float, level: float = 0.95) -> float:
    """The standard error of an estimate with this interval, as if it were normal."""
    return (high - low) / (2 * normal_quantile(level))


def _by_family(
    y: NDArray[np.float64], s: NDArray[np.float64], families: Sequence[object]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    places: dict[object, int] = {}
    codes = np.array([places.setdefault(each, len(places)) for each in families])
    sizes = np.bincount(codes)
    return np.bincount(codes, y) / sizes, np.bincount(codes, s) / sizes


def _pool(y: NDArray[np.float64], s: NDArray[np.float64], n_estimates: int, grouping: int, level: float) -> Pooled:
    k = y.size
    if k == 1:
        half = normal_quantile(level) * float(s[0])
        value = float(y[0])
        nan = math.nan
        return Pooled(value, value - half, value + half, nan, nan, nan, nan, n_estimates, 1, grouping, level)
    plain = _squares(y, s, 0.0)
    tau2 = _tau_squared(y, s)
    w = 1 / (s**2 + tau2)
    mean = float(w @ y / w.sum())
    error2 = max(1.0, _squares(y, s, tau2) / (k - 1)) / float(w.sum())
    half = t_quantile(k - 1, level) * math.sqrt(error2)
    reach = t_quantile(k - 2, level) * math.sqrt(tau2 + error2) if k > 2 else math.nan
    return Pooled(
        value=mean,
        low=mean - half,
        high=mean + half,
        tau=math.sqrt(tau2),
        i_squared=max(0.0, 1 - (k - 1) / plain) if plain > 0 else 0.0,
        prediction_low=mean - reach,
        prediction_high=mean + reach,
        n_estimates=n_estimates,
        n_families=k,
        grouping=grouping,
        level=level,
    )


def _squares(y: NDArray[np.float64], s: NDArray[np.float64], tau2: float) -> float:
    """Weighted squares around the weighted mean."""
    w = 1 / (s**2 + tau2)
    return float(w @ (y - w @ y / w.sum()) ** 2)


def _tau_squared(y: NDArray[np.float64], s: NDArray[np.float64]) -> float:
    """The variance between families at which the weighted squares are what chance gives, k-1."""
    from scipy.optimize import brentq

    k = y.size
    if _squares(y, s, 0.0) <= k - 1:
        return 0.0
    # At the sum of squares of y every weight is below its inverse, and the weighted squares are below 1.
    return float(brentq(lambda tau2: _squares(y, s, tau2) - (k - 1), 0.0, float(((y - y.mean()) ** 2).sum()),
                        xtol=1e-15, rtol=1e-12))  # fmt: skip
