"""Intervals over runs that hold with few of them, in closed form: what other seeds would have given.

A bootstrap of 3 runs has ten different draws and cannot leave the range of the runs. These take the runs' mean scores
for normal, which sums over many examples nearly are, and pay for the few runs by the quantiles of t, chi-square and F.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.intervals import Interval, difference_interval, mean_interval, ratio_interval, score_sd_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray


def spread_intervals(values: NDArray[np.float64], level: float) -> dict[str, Interval]:
    """Intervals over runs of the mean score, its spread and the parts of its variance (ddof 1).

    mean: Student t. sd and total: chi-square. independent: `independent_interval`. covariance and design effect: the
    difference and the ratio of total and independent, from the intervals of both.

    Args:
        values: (R, N), R at least 2.
        level: Of the intervals.

    Source: Student 1908; for sums of variances Zou and Donner 2008 and Burdick and Graybill 1992.
    """
    n_runs, n_examples = values.shape
    means = values.sum(axis=1) / n_examples
    sd = float(means.std(ddof=1))
    of_sd = score_sd_interval(sd, n_runs, level, fractions=bool(values.min() >= 0 and values.max() <= 1))
    of_total = Interval(of_sd.low**2, of_sd.high**2, level, of_sd.method)
    independent, of_independent = independent_interval(values, level)
    # Of two runs nothing tells how certain their independent part is; beside the spread's it is known well.
    known = of_independent
    if math.isnan(known.low):
        known = Interval(independent, independent, level)
    both = "chi-square and jackknife"
    effect = Interval(math.nan, math.nan, level, both)
    if independent > 0:
        effect = Interval(0.0, 0.0, level, both)
        if sd > 0:
            effect = ratio_interval(sd**2, of_total, independent, known, both)
    return {
        "mean": mean_interval(means, level),
        "sd": of_sd,
        "total": of_total,
        "independent": of_independent,
        "covariance": difference_interval(sd**2, of_total, independent, known, both),
        "design_effect": effect,
    }


def independent_interval(values: NDArray[np.float64], level: float) -> tuple[float, Interval]:
    """Sum of the columns' variances over runs divided by N², and its interval by the jackknife on the log scale.

    s exp(± t se/s), with t of R-1 degrees of freedom and se from the R values that leave out a run each. NaN for two
    runs, of which leaving one out leaves no variance.

    Args:
        values: (R, N), R at least 2.
        level: Of the interval.

    Source: Tukey 1958; Arvesen 1969, "Jackknifing U-statistics", for means over pairs of runs.
    """
    from scipy.special import stdtrit

    n_runs, n_columns = values.shape
    centered = values - values.mean(axis=0)
    own = np.einsum("rn,rn->r", centered, centered) / n_columns**2
    whole = float(own.sum()) / (n_runs - 1)
    method = "jackknife"
    if n_runs < 3:
        return whole, Interval(math.nan, math.nan, level, method)
    if whole == 0:
        return whole, Interval(0.0, 0.0, level, method)
    # Without run r, the mean of the others lies -c_r/(R-1) off the common one, which takes R/(R-1) of its square.
    without = (own.sum() - own * n_runs / (n_runs - 1)) / (n_runs - 2)
    error = math.sqrt((n_runs - 1) / n_runs * float(np.square(without - without.mean()).sum()))
    reach = float(stdtrit(n_runs - 1, (1 + level) / 2)) * error / whole
    return whole, Interval(whole * math.exp(-reach), whole * math.exp(reach), level, method)


def sum_of_variances_interval(parts: NDArray[np.float64], level: float) -> tuple[float, Interval]:
    """Sum of the columns' variances over runs, and its interval, for few columns that may covary.

    Chi-square with the degrees of freedom (R-1) tr(S)²/tr(S²) of the columns' covariance matrix S, between R-1 and G
    times that; tr(S)² and tr(S²) are estimated without bias.

    Args:
        parts: (R, G), R at least 2; normal over runs.
        level: Of the interval.

    Source: Satterthwaite 1946; Srivastava 2005, "Some tests concerning the covariance matrix", for tr(S²).
    """
    from scipy.special import chdtri

    n_runs, n_columns = parts.shape
    centered = parts - parts.mean(axis=0)
    products = centered @ centered.T / (n_runs - 1)
    whole = float(np.trace(products))
    method = "chi-square"
    if whole == 0:
        return 0.0, Interval(0.0, 0.0, level, method)
    df = float(n_runs - 1)
    if n_runs > 2:
        squares = (df**2 / ((df - 1) * (df + 2))) * (float(np.square(products).sum()) - whole**2 / df)
        df *= min(n_columns, max(1.0, whole**2 / squares - 2 / df if squares > 0 else math.inf))
    low, high = (whole * df / float(chdtri(df, tail)) for tail in ((1 - level) / 2, (1 + level) / 2))
    return whole, Interval(low, high, level, method)


def slope_intervals(
    parts: NDArray[np.float64], whole: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of cov_r(part, whole)/var_r(whole) for each column: it is the slope of the part on the whole.

    slope ± t se with R-2 degrees of freedom, exact where parts and whole are normal together. NaN for two runs or
    where the whole does not vary.

    Args:
        parts: (R, G), R at least 2.
        whole: (R,).
        level: Of the intervals.

    Returns:
        Lower and upper bounds, (G,).
    """
    from scipy.special import stdtrit

    n_runs, n_columns = parts.shape
    x = whole - whole.mean()
    square = float(x @ x)
    if n_runs < 3 or square <= (1e-14 * float(np.abs(whole).sum())) ** 2:
        nothing = np.full(n_columns, math.nan)
        return nothing, nothing.copy()
    y = parts - parts.mean(axis=0)
    slopes = x @ y / square
    rest = np.square(y - np.outer(x, slopes)).sum(axis=0) / (n_runs - 2)
    half = float(stdtrit(n_runs - 2, (1 + level) / 2)) * np.sqrt(rest / square)
    return slopes - half, slopes + half
