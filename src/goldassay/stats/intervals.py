"""Confidence intervals in closed form: of shares, means, deviations, differences, ratios and correlations.

Each is a plain function of plain numbers; each names its source. All levels are two-sided.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from goldassay.stats.clusters import dense_codes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

# Fisher's transformation of a correlation needs so many pairs.
_LEAST_PAIRS = 4
# Of fewer examples a score test takes Student's t: the normal one calls 4 of 4 a difference, which chance gives 1 in 8.
_FEW_EXAMPLES = 20


@dataclass(frozen=True)
class Interval:
    """A two-sided interval: `low`, `high`, its `level`, and the `method` that made it."""

    low: float
    high: float
    level: float = 0.95
    method: str = ""

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def within(self, least: float, most: float) -> Interval:
        """The interval cut at the ends of what is possible."""
        return replace(self, low=max(self.low, least), high=min(self.high, most))


def normal_quantile(level: float) -> float:
    """Z such that a normal variable lies within -z and z with the chance `level`."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def normal_level(z: float) -> float:
    """The chance that a normal variable lies within -z and z, of which `normal_quantile` is the inverse."""
    return math.erf(z / math.sqrt(2))


def t_quantile(df: float, level: float) -> float:
    """As `normal_quantile`, of Student's t; the normal one for infinite degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(df, (1 + level) / 2)) if not math.isinf(df) else normal_quantile(level)


def degrees_of_freedom(parts: Sequence[tuple[float, float]]) -> float:
    """Of a sum of independent variances, (sum v)²/sum(v²/df); infinite where nothing varies.

    Args:
        parts: Of each variance its value v and its degrees of freedom.

    Source: Satterthwaite 1946, "An approximate distribution of estimates of variance components".
    """
    whole = sum(variance for variance, _ in parts)
    squares = sum(variance**2 / df for variance, df in parts)
    return whole**2 / squares if squares > 0 else math.inf


def t_interval(value: float, variance: float, df: float, level: float, method: str = "Student t") -> Interval:
    """The value and t times its standard error to either side."""
    half = t_quantile(df, level) * math.sqrt(variance)
    return Interval(value - half, value + half, level, method)


def wilson_bounds(
    successes: ArrayLike, trials: ArrayLike, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wilson score bounds of a proportion, elementwise.

    With p = k/n and z the normal quantile of (1 + level)/2:
    (p + z²/2n ± z sqrt(p(1-p)/n + z²/4n²)) / (1 + z²/n). Where n is 0 or the level 1, the bounds are 0 and 1.

    Args:
        successes: k, any shape.
        trials: n, broadcastable with k.
        level: Coverage, in (0, 1].

    Returns:
        Lower and upper bounds, in [0, 1].

    Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference".
    """
    k = np.asarray(successes, dtype=np.float64)
    n = np.asarray(trials, dtype=np.float64)
    z = normal_quantile(level)
    if np.isinf(z):
        shape = np.broadcast(k, n).shape
        return np.zeros(shape), np.ones(shape)
    safe = np.where(n > 0, n, 1.0)
    p = k / safe
    center = p + z * z / (2 * safe)
    half = z * np.sqrt(np.maximum(p * (1 - p) / safe + z * z / (4 * safe * safe), 0.0))
    scale = 1 + z * z / safe
    low = np.where(n > 0, np.clip((center - half) / scale, 0.0, 1.0), 0.0)
    high = np.where(n > 0, np.clip((center + half) / scale, 0.0, 1.0), 1.0)
    # At the ends the bound equals the proportion exactly; rounding must not exclude it.
    low = np.where((n > 0) & (k == 0), 0.0, low)
    high = np.where((n > 0) & (k == n), 1.0, high)
    return low, high


def exact_upper(successes: float, trials: float, tail: float) -> float:
    """The share of which so few successes, or fewer, come about with the chance `tail`; 1 where all are.

    Args:
        successes: k.
        trials: n, or as many independent ones as they are worth.
        tail: One-sided.

    Source: Clopper and Pearson 1934, "The use of confidence or fiducial limits illustrated in the case of the
    binomial".
    """
    from scipy.special import betaincinv

    return 1.0 if successes >= trials else float(betaincinv(successes + 1, trials - successes, 1 - tail))


def wilson_interval(successes: float, trials: float, level: float = 0.95) -> Interval:
    """Wilson score interval of one proportion; see `wilson_bounds`."""
    low, high = wilson_bounds(successes, trials, level)
    return Interval(float(low), float(high), level, "Wilson")


def sd_interval(sd: float, n: int, level: float = 0.95) -> Interval:
    """Interval for a true standard deviation from n normal draws.

    sd sqrt((n-1)/chi²_{(1+level)/2, n-1}) to sd sqrt((n-1)/chi²_{(1-level)/2, n-1}), for `sd` with ddof 1.

    Raises:
        ValueError: n is below 2.
    """
    from scipy.special import chdtri

    if n < 2:
        raise ValueError(f"an interval for a standard deviation needs at least 2 values, not {n}")
    tail = (1 - level) / 2
    low = sd * float(np.sqrt((n - 1) / chdtri(n - 1, tail)))
    high = sd * float(np.sqrt((n - 1) / chdtri(n - 1, 1 - tail)))
    return Interval(low, high, level, "chi-square")


def score_sd_interval(sd: float, n: int, level: float = 0.95, *, fractions: bool = True) -> Interval:
    """`sd_interval` of n scores, cut to what scores in [0, 1] can have: sqrt(n/(n-1))/2, that of half at either end.

    Args:
        sd: With ddof 1.
        n: Scores.
        level: Of the interval.
        fractions: Whether the scores lie in [0, 1]; else nothing is cut.
    """
    made = sd_interval(sd, n, level)
    if not fractions:
        return made
    return Interval(made.low, max(min(made.high, math.sqrt(n / (n - 1)) / 2), sd), level, made.method)


def mean_reach(n: int, level: float = 0.95) -> float:
    """Half the width of a Student t interval for the mean of n values, in their standard deviations (ddof 1)."""
    return t_quantile(n - 1, level) / math.sqrt(n)


def mean_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Student t interval for the mean of a few independent values (n,), such as one score a seed.

    Raises:
        ValueError: There are fewer than 2 values.
    """
    x: Any = np.asarray(values, dtype=np.float64)
    if x.size < 2:
        raise ValueError(f"an interval for a mean needs at least 2 values, not {x.size}")
    half = mean_reach(x.size, level) * float(x.std(ddof=1))
    return Interval(float(x.mean()) - half, float(x.mean()) + half, level, "Student t")


def pairs_interval(share: float, n: int, m: int, level: float = 0.95) -> Interval:
    """Interval of the chance that one value of a first kind exceeds one of a second, from n and m of each.

    `share` is that of the n m pairs, ties half. Bounds are the theta with |share - theta| = z sqrt(V(theta)),
    V(theta) = theta (1-theta) (1 + k (1-theta)/(2-theta) + k theta/(1+theta))/(n m), k = (n+m)/2 - 1. With V taken at
    the bound, and not at the share, 0 and 1 have intervals too.

    Source: Hanley and McNeil 1982, for V; Newcombe 2006, "Confidence intervals for an effect size measure based on the
    Mann-Whitney statistic", for solving at the bound with the mean size.
    """
    from scipy.optimize import brentq

    k, z = (n + m) / 2 - 1, normal_quantile(level)

    def excess(theta: float) -> float:
        spread = theta * (1 - theta) * (1 + k * (1 - theta) / (2 - theta) + k * theta / (1 + theta)) / (n * m)
        return (share - theta) ** 2 - z * z * spread

    # At 0 and 1 theta = share is a root too, and not the one that is meant.
    inner = min(max(share, 1e-9), 1 - 1e-9)
    low = float(brentq(excess, 0.0, inner)) if share > 0 else 0.0
    high = float(brentq(excess, inner, 1.0)) if share < 1 else 1.0
    return Interval(low, high, level, "pairs of runs")


def difference_interval(one: float, of_one: Interval, other: float, of_other: Interval, method: str = "") -> Interval:
    """Interval of one - other from the intervals of the two, estimated independently of each other.

    d - sqrt((one - low_one)² + (high_other - other)²) to d + sqrt((high_one - one)² + (other - low_other)²). It keeps
    the two intervals' asymmetry, which matters for variances and for shares near 0 or 1.

    Source: Newcombe 1998, "Interval estimation for the difference between independent proportions"; Zou and Donner
    2008, "Construction of confidence limits about effect measures", for any two estimates.
    """
    value = one - other
    low = value - math.hypot(one - of_one.low, of_other.high - other)
    high = value + math.hypot(of_one.high - one, other - of_other.low)
    return Interval(low, high, of_one.level, method or of_one.method)


def paired_interval(one: float, other: float, phi: float, n: float, level: float = 0.95) -> Interval:
    """Newcombe's interval of the difference of two shares of the same n examples.

    d - sqrt(a² - 2 phi a b + b²) to d + sqrt(c² - 2 phi c e + e²), with a, c the distances of `one` to its Wilson
    bounds below and above, b, e those of `other` above and below. It keeps a width where all or nothing is right.

    Args:
        one: First share.
        other: Second share.
        phi: Correlation of the two over examples.
        n: Examples, or as many independent ones as they are worth.
        level: Two-sided coverage.

    Source: Newcombe 1998, "Improved confidence intervals for the difference between binomial proportions based on
    paired data".
    """
    low, high = wilson_bounds([one * n, other * n], n, level)
    below_one, above_one = one - float(low[0]), float(high[0]) - one
    below_other, above_other = other - float(low[1]), float(high[1]) - other
    down = below_one**2 - 2 * phi * below_one * above_other + above_other**2
    up = above_one**2 - 2 * phi * above_one * below_other + below_other**2
    value = one - other
    return Interval(value - math.sqrt(max(down, 0.0)), value + math.sqrt(max(up, 0.0)), level, "Newcombe, paired")


class PairedCounts(NamedTuple):
    """Independent examples on which two answers, each right or wrong, differ: the score test of the two shares.

    With D the true difference of the shares and q(D) the likeliest share of examples that the other alone has right,

        z(D) = (one - other - n D) / sqrt(n (2 q(D) + D (1 - D)))

    is as good as normal where few examples differ, too; at D = 0 it is McNemar's (one - other)/sqrt(one + other). Below
    20 examples Student's t with n - 1 degrees of freedom stands for the normal.

    Attributes:
        one: Examples that the first alone has right.
        other: Examples that the second alone has right.
        n: All examples.

    Source: Tango 1998, "Equivalence test and confidence interval for the difference in proportions for the
    paired-sample design".
    """

    one: int
    other: int
    n: int

    @property
    def difference(self) -> float:
        """Share of the first minus that of the second."""
        return (self.one - self.other) / self.n

    @property
    def degrees_of_freedom(self) -> float:
        """Of the quantiles; infinite from 20 examples on."""
        return self.n - 1.0 if self.n < _FEW_EXAMPLES else math.inf

    def score(self, difference: float) -> float:
        """The statistic z of a true difference in (-1, 1); 0 where it is the one that was found."""
        return (self.difference - difference) / math.sqrt(max(self._variance(difference), 1e-300))

    def interval(self, level: float = 0.95) -> Interval:
        """All differences that the two-sided test does not refute."""
        from scipy.optimize import brentq

        z, found, tiny = t_quantile(self.degrees_of_freedom, level), self.difference, 1e-13

        def excess(at: float) -> float:
            return (found - at) ** 2 - z * z * self._variance(at)

        # Where none or all differ, the difference that was found is a root too, and not the one that is meant.
        low = float(brentq(excess, -1.0, found - tiny, xtol=1e-14)) if found > -1 else -1.0
        high = float(brentq(excess, found + tiny, 1.0, xtol=1e-14)) if found < 1 else 1.0
        return Interval(low, high, level, "Tango, over examples")

    def _variance(self, at: float) -> float:
        """Of the difference that is found, were the true one `at`."""
        n, one, other = self.n, self.one, self.other
        b = (2 * n - one + other) * at - one - other
        q = (math.sqrt(max(b * b + 8 * n * other * at * (1 - at), 0.0)) - b) / (4 * n)
        return max(2 * q + at * (1 - at), 0.0) / n


@dataclass(frozen=True)
class PairedShares:
    """Two shares of the same examples, for an interval of their difference that allows for dependent examples.

    Attributes:
        one: First share.
        other: Second share.
        phi: Their correlation over examples, 0 where one is constant.
        plain: Variance of the mean of their difference, of examples that are independent of each other.
        n: Examples.
    """

    one: float
    other: float
    phi: float
    plain: float
    n: int

    @classmethod
    def of(cls, one: NDArray[np.float64], other: NDArray[np.float64]) -> PairedShares:
        """Of two values of each example, both (N,)."""
        spread = float(one.std() * other.std())
        phi = float(((one - one.mean()) * (other - other.mean())).mean()) / spread if spread > 0 else 0.0
        return cls(float(one.mean()), float(other.mean()), phi, float((one - other).var()) / one.size, one.size)

    def interval(self, variance: float, effective: float, level: float) -> Interval:
        """`paired_interval` at as many independent examples as give the difference this variance.

        Args:
            variance: Of the difference, over clusters.
            effective: Independent examples that N are worth where nothing varies.
            level: Two-sided coverage.
        """
        known = variance > 0 and self.plain > 0
        n = self.n / max(1.0, variance / self.plain) if known else effective
        return paired_interval(self.one, self.other, self.phi, n, level)


def ratio_interval(one: float, of_one: Interval, other: float, of_other: Interval, method: str = "") -> Interval:
    """Interval of one/other, both positive: `difference_interval` of their logarithms.

    A lower bound of 0 of either gives 0 or infinity.

    Source: as of `difference_interval`.
    """

    def log(value: float) -> float:
        return math.log(value) if value > 0 else -math.inf

    logs = [Interval(log(each.low), log(each.high), each.level, each.method) for each in (of_one, of_other)]
    found = difference_interval(log(one), logs[0], log(other), logs[1], method)
    return Interval(math.exp(found.low), math.exp(found.high), found.level, found.method)


def few_runs_caveat(n_runs: int) -> tuple[str, ...]:
    """What every result from 2 to 5 runs says of itself; nothing for others."""
    if not 2 <= n_runs <= 5:
        return ()
    factors = sd_interval(1.0, n_runs)
    return (
        f"With {n_runs} runs the spread over runs is a rough guess: the true one may be {factors.low:.1f} to "
        f"{factors.high:.1f} times the one measured.",
    )


def correlation_interval(
    x: ArrayLike, y: ArrayLike, level: float = 0.95, clusters: ArrayLike | None = None
) -> tuple[float, float, float]:
    """Pearson's correlation r of n pairs with its interval.

    Of independent pairs Fisher's, tanh(artanh(r) -+ z/sqrt(n - 3)). Where several pairs come from one of G clusters,
    such as two parts of a dataset, whole clusters are left out one after the other: tanh(artanh(r) -+ t s), t the
    quantile of Student's distribution with G - 1 degrees and s^2 = (G - 1)/G sum_g (artanh(r_g) - mean)^2. With two
    pairs a cluster that are correlated by .8, Fisher's 95 % interval covers 84 to 88 % (4 to 20 clusters, 400 draws
    each), percentiles of drawn clusters 86 to 92 %, this one 92 to 98 %.

    Args:
        x: (n,).
        y: (n,).
        level: Of the interval.
        clusters: (n,) names of what pairs share; each stands for itself by default.

    Returns:
        Correlation, lower and upper bound; NaN where a side is constant. Bounds are NaN for fewer than 4 independent
        pairs, and where a correlation without one cluster has no value, or is 1 because two pairs are left.

    Raises:
        InputError: There is not one cluster for each pair.

    Source: Fisher 1921; Tukey 1958, Efron and Tibshirani 1993, chapter 11, for leaving out one after the other.
    """
    one, two = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    nan = float("nan")
    r = _correlation(one, two)
    if np.isnan(r):
        return nan, nan, nan
    codes = dense_codes(clusters, one.size)
    if codes.max() + 1 < one.size:
        reach = _left_out(one, two, codes, level)
    else:
        reach = nan if one.size < _LEAST_PAIRS else normal_quantile(level) / math.sqrt(one.size - 3)
    if np.isnan(reach):
        return r, nan, nan
    if abs(r) == 1:
        return r, r, r
    return r, float(np.tanh(np.arctanh(r) - reach)), float(np.tanh(np.arctanh(r) + reach))


def _correlation(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    return float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))


def _left_out(x: NDArray[np.float64], y: NDArray[np.float64], codes: NDArray[np.int64], level: float) -> float:
    kept = [codes != code for code in range(codes.max() + 1)]
    found = np.array([_correlation(x[rows], y[rows]) for rows in kept])
    if found.size < 2 or any(rows.sum() < 3 for rows in kept) or not np.all(np.abs(found) < 1):
        return float("nan")
    z = np.arctanh(found)
    spread = np.sqrt((z.size - 1) / z.size * ((z - z.mean()) ** 2).sum())
    return t_quantile(z.size - 1, level) * float(spread)
