"""Power of a comparison of two models by Student's t, with the noise of runs and of examples.

How many seeds it takes to see a difference, and what difference the seeds at hand could have shown.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.results import Result
from goldassay.questions.instability.measures.scores import summarize_scores
from goldassay.stats.intervals import few_runs_caveat

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

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


@dataclass(frozen=True)
class SeedPlan(Result):
    """Seeds needed, with what the deviation's own uncertainty makes of it.

    Attributes:
        n_seeds: Runs of each model, from the measured standard deviation; None where the noise of examples hides the
            difference whatever the number of runs.
        n_seeds_low: From the lower end of its interval.
        n_seeds_high: From the upper end.
        smallest_difference: What the runs at hand could have shown.
        smallest_difference_low: From the lower end of the deviation's interval.
        smallest_difference_high: From the upper end.
        sd: Standard deviation over the runs at hand.
        difference: To be found.
        power: Chance of finding it.
        alpha: Two-sided level of the test.
        example_variance: Variance of the difference by the examples, without the noise of runs.
        n_runs: Runs at hand.
        n_examples: N.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of what has no value.
    """

    n_seeds: int | None
    n_seeds_low: int | None
    n_seeds_high: int | None
    smallest_difference: float
    smallest_difference_low: float
    smallest_difference_high: float
    sd: float
    difference: float
    power: float
    alpha: float
    example_variance: float
    n_runs: int
    n_examples: int
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)


def comparison_power(
    difference: float,
    sd: float,
    n_runs: int,
    alpha: float = 0.05,
    example_variance: float = 0.0,
    clusters: int | None = None,
) -> float:
    """Chance that a two-sided test on `n_runs` runs of each of two models finds a true difference of their mean scores.

        se² = 2 sd²/R + v,    df = se⁴ / ((2 sd²/R)²/(2 (R-1)) + v²/(G-1))
        power = P(|T| > t_{1-alpha/2, df}),  T noncentral t with df degrees of freedom and noncentrality difference/se

    `compare` uses the same test.

    Args:
        difference: The true difference, in the units of the score; its sign does not matter.
        sd: Standard deviation of the score over runs, of either model.
        n_runs: R, of each model, at least 2.
        alpha: Two-sided level of the test.
        example_variance: v, the variance of the mean difference that comes from which examples were drawn, without the
            noise of runs (`Comparison.example_variance`); 0 for a conclusion about these examples alone.
        clusters: G, how many independent clusters of examples v was estimated from (the examples themselves where each
            stands for itself); None where v is known.

    Raises:
        InputError: There are fewer than 2 runs or clusters, a variance is negative, or alpha is not in (0, 1).

    Source: Student 1908; Satterthwaite 1946; Cohen 1988, "Statistical power analysis for the behavioral sciences".
    """
    if not math.isfinite(difference):
        raise InputError(f"the difference is {difference}", mend="give the difference that would matter")
    _check(sd, 0.5, alpha, example_variance, clusters)
    _check_runs(n_runs)
    return found_with(Noise(2 * sd**2, 2, example_variance, clusters), difference, n_runs, alpha)


def seeds_needed(
    sd: float,
    difference: float,
    power: float = 0.8,
    alpha: float = 0.05,
    example_variance: float = 0.0,
    clusters: int | None = None,
) -> int | None:
    """Runs of each of two models, at least 2, so that a two-sided test on the mean scores finds a true difference.

    The least R with `comparison_power` of at least `power`; None, with a warning, where the noise of the examples hides
    the difference whatever the number of runs.

    Args:
        sd: Standard deviation of the score over runs, in the units of `difference`.
        difference: The true difference to be found; its sign does not matter.
        power: Chance of finding it.
        alpha: Two-sided level of the test.
        example_variance: As for `comparison_power`.
        clusters: As for `comparison_power`.

    Raises:
        InputError: The difference is 0, a variance is negative, there are fewer than 2 clusters, or power or alpha is
            not in (0, 1).
    """
    if difference == 0 or not math.isfinite(difference):
        raise InputError("no number of seeds shows a difference of 0", mend="give the difference that would matter")
    _check(sd, power, alpha, example_variance, clusters)
    needed = runs_needed(Noise(2 * sd**2, 2, example_variance, clusters), difference, power, alpha)
    if needed is None:
        warnings.warn(
            f"examples alone make the difference uncertain by {math.sqrt(example_variance):.2g} (standard error), so "
            f"that no number of runs shows a difference of {abs(difference):.2g} with power {power:g}: it takes more "
            "examples",
            UndefinedMeasureWarning,
            stacklevel=2,
        )
    return needed


def smallest_difference(
    sd: float,
    n_runs: int,
    power: float = 0.8,
    alpha: float = 0.05,
    example_variance: float = 0.0,
    clusters: int | None = None,
) -> float:
    """The smallest true difference that a two-sided test on `n_runs` runs of each of two models finds with `power`.

    The inverse of `seeds_needed`: the difference at which `comparison_power` is `power`.

    Args:
        sd: Standard deviation of the score over runs.
        n_runs: R, of each model, at least 2.
        power: Chance of finding it.
        alpha: Two-sided level of the test.
        example_variance: As for `comparison_power`.
        clusters: As for `comparison_power`.

    Raises:
        InputError: There are fewer than 2 runs or clusters, a variance is negative, or power or alpha is not in (0, 1).
    """
    _check(sd, power, alpha, example_variance, clusters)
    _check_runs(n_runs)
    error, df = Noise(2 * sd**2, 2, example_variance, clusters).at(np.array(float(n_runs)))
    return float(error) * detectable_errors(float(df), power, alpha)


def plan_seeds(
    scores: ArrayLike,
    difference: float,
    power: float = 0.8,
    alpha: float = 0.05,
    example_variance: float = 0.0,
    clusters: int | None = None,
) -> SeedPlan:
    """Seeds needed to find a difference between two models that spread over runs as the runs at hand do.

    A deviation from a few runs is itself uncertain (10 runs: by about 23 %), so the answer is given for both
    ends of its 95 % interval as well.

    Args:
        scores: (R, N) of the runs at hand.
        difference: The true difference to be found, a fraction.
        power: Chance of finding it.
        alpha: Two-sided level of the test.
        example_variance: As for `comparison_power`; 0 for these examples alone.
        clusters: As for `comparison_power`.

    Raises:
        InputError: There are fewer than 2 runs, or as for `seeds_needed`.
    """
    summary = summarize_scores(scores)
    sds = (summary.sd, summary.sd_interval.low, summary.sd_interval.high)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMeasureWarning)
        seeds = [seeds_needed(sd, difference, power, alpha, example_variance, clusters) for sd in sds]
    shown = [smallest_difference(sd, summary.n_runs, power, alpha, example_variance, clusters) for sd in sds]
    return SeedPlan(
        n_seeds=seeds[0],
        n_seeds_low=seeds[1],
        n_seeds_high=seeds[2],
        smallest_difference=shown[0],
        smallest_difference_low=shown[1],
        smallest_difference_high=shown[2],
        sd=summary.sd,
        difference=difference,
        power=power,
        alpha=alpha,
        example_variance=example_variance,
        n_runs=summary.n_runs,
        n_examples=summary.n_examples,
        caveats=few_runs_caveat(summary.n_runs),
        skipped={str(each.message): 1 for each in caught},
    )


def _check(sd: float, power: float, alpha: float, example_variance: float, clusters: int | None) -> None:
    if not (math.isfinite(sd) and sd >= 0):
        raise InputError(f"the standard deviation is {sd}", mend="it must be at least 0")
    for name, value in (("power", power), ("alpha", alpha)):
        if not 0 < value < 1:
            raise InputError(f"{name} is {value}", mend="it must lie between 0 and 1")
    if not (math.isfinite(example_variance) and example_variance >= 0):
        raise InputError(f"the variance over examples is {example_variance}", mend="it must be at least 0")
    if clusters is not None and clusters < 2:
        raise InputError(f"the variance over examples cannot come from {clusters} clusters", mend="give at least 2")


def _check_runs(n_runs: int) -> None:
    if n_runs < 2:
        raise InputError(f"{n_runs} runs of each do not show how far runs differ", mend="give at least 2")
