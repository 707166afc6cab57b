"""Power of a comparison of two models by Student's t, with the noise of runs and of examples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Beyond these degrees of freedom t is normal to nine digits; a noncentrality beyond the other is found for sure.
_MANY = 1e9
_FAR = 1e4
# Numbers of runs are tried one by one up to the first; the second is more than anybody trains.
_EACH, _MOST = 200, 1e15


class Noise(NamedTuple):
    """What makes a difference of two models' mean scores uncertain.

    Attributes:
        of_one_run: Variance of the difference with one run of each, by the runs.
        df_per_run: Degrees of freedom that a further run of each adds: 2, or 1 for runs matched by seed.
        of_examples: Variance by the examples, without the noise of runs.
        clusters: G, that it was estimated from; None where it is known.
    """

    of_one_run: float
    df_per_run: int
    of_examples: float
    clusters: int | None

    def at(self, n_runs: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Standard error of the difference and its degrees of freedom, for numbers of runs of each."""
        runs = self.of_one_run / n_runs
        whole = runs + self.of_examples
        squares = runs**2 / (self.df_per_run * (n_runs - 1.0))
        if self.clusters is not None:
            squares = squares + self.of_examples**2 / (self.clusters - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            df = np.where(squares > 0, whole**2 / squares, np.inf)
        return np.sqrt(whole), df


def runs_needed(noise: Noise, difference: float, power: float, alpha: float) -> int | None:
    """The least number of runs of each, from 2 on, at which a difference is found with `power`; None if there is none.

    With few clusters the power need not rise with every run, since the degrees of freedom fall from those of the runs
    to those of the clusters: numbers of runs are tried from below, each up to 200, and then in steps of 2 %.
    """
    size = abs(difference)
    if noise.of_one_run == 0:
        most = 2.0
    elif noise.of_examples > 0:
        most = min(1e7 * noise.of_one_run / noise.of_examples, _MOST)
    else:
        # By the normal quantiles, and more than Student's t adds to them.
        most = 4 * noise.of_one_run * (_normal(1 - alpha / 2) + max(_normal(power), 0.0)) ** 2 / size**2 + 1000
    steps = np.arange(1, math.ceil(math.log(max(most / _EACH, 1.0), 1.02)) + 2)
    tried = np.concatenate([np.arange(2.0, _EACH + 1), np.floor(_EACH * 1.02**steps)])
    enough = np.flatnonzero(power_at(size, noise, tried, alpha) >= power)
    if enough.size == 0:
        return None
    high = int(tried[enough[0]])
    low = int(tried[enough[0] - 1]) if enough[0] > 0 else high - 1
    while high - low > 1:
        middle = (low + high) // 2
        if power_at(size, noise, np.array(float(middle)), alpha) >= power:
            high = middle
        else:
            low = middle
    return high


def found_with(noise: Noise, difference: float, n_runs: int, alpha: float) -> float:
    """Power with a number of runs of each, at least 2."""
    return float(power_at(abs(difference), noise, np.array(float(n_runs)), alpha))


def examples_needed(difference: float, variance: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """Examples, at least 2, that show a difference with `power` if runs added no noise.

    Args:
        difference: Not 0.
        variance: Of the difference, with one example.
        power: Chance of finding it.
        alpha: Two-sided level.
    """
    enough = 2
    while (detectable_errors(enough - 1, power, alpha) / difference) ** 2 * variance > enough:
        # The quantiles fall with the degrees of freedom, so that this number never exceeds what is needed.
        enough = max(enough + 1, math.floor((detectable_errors(math.inf, power, alpha) / difference) ** 2 * variance))
    return enough


def detectable_errors(df: float, power: float, alpha: float) -> float:
    """The noncentrality at which a two-sided t-test has `power`: the true difference in standard errors.

    Args:
        df: Degrees of freedom, infinite for a known standard error.
        power: Chance of finding the difference.
        alpha: Two-sided level.
    """
    from scipy.optimize import brentq

    if power <= alpha:
        return 0.0
    quantile, at = _quantile(df, alpha), np.array(df)

    def short(errors: float) -> float:
        return float(_tails(np.array(errors), at, np.array(quantile))) - power

    high = 2 * (quantile + max(_normal(power), 0.0)) + 1
    while short(high) < 0:
        high *= 2
    return float(brentq(short, 0.0, high, xtol=1e-12, rtol=1e-12))


def power_at(difference: float, noise: Noise, n_runs: NDArray[Any], alpha: float) -> NDArray[np.float64]:
    """Chance that a two-sided t-test finds a true difference (not negative), for numbers of runs of each."""
    error, df = noise.at(n_runs)
    with np.errstate(divide="ignore"):
        errors = np.where(error > 0, difference / np.where(error > 0, error, 1.0), np.inf if difference else 0.0)
    return _tails(errors, df, _quantile(df, alpha))


def _quantile(df: Any, alpha: float) -> Any:
    """Student's t quantile, and the normal one where the degrees of freedom are as good as infinite."""
    from scipy.special import stdtrit

    return np.where(df > _MANY, _normal(1 - alpha / 2), stdtrit(np.minimum(df, _MANY), 1 - alpha / 2))


def _tails(errors: NDArray[np.float64], df: NDArray[np.float64], quantile: NDArray[np.float64]) -> NDArray[np.float64]:
    """P(|T| > quantile) of a noncentral t."""
    from scipy.special import nctdtr, ndtr

    far = _FAR * np.maximum(quantile, 1.0)
    # scipy gives NaN where a tail is too small for a number.
    known, finite = np.minimum(df, _MANY), np.minimum(errors, far)
    above = 1 - np.where(df > _MANY, ndtr(quantile - finite), np.nan_to_num(nctdtr(known, finite, quantile)))
    below = np.where(df > _MANY, ndtr(-quantile - finite), np.nan_to_num(nctdtr(known, finite, -quantile)))
    return np.asarray(np.where(errors > far, 1.0, above + below), dtype=np.float64)


def _normal(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))
