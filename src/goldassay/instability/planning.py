"""How many seeds it takes to see a difference, and what difference the seeds at hand could have shown."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from goldassay.core.errors import InputError
from goldassay.core.intervals import few_runs_caveat
from goldassay.core.results import Result
from goldassay.instability.summary import summarize_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class SeedPlan(Result):
    """Seeds needed, with what the deviation's own uncertainty makes of it.

    Attributes:
        n_seeds: Runs of each model, from the measured standard deviation.
        n_seeds_low: From the lower end of its interval.
        n_seeds_high: From the upper end.
        smallest_difference: What the runs at hand could have shown.
        smallest_difference_low: From the lower end of the deviation's interval.
        smallest_difference_high: From the upper end.
        sd: Standard deviation over the runs at hand.
        difference: To be seen.
        power: Chance of seeing it.
        alpha: Two-sided level of the test.
        n_runs: Runs at hand.
        n_examples: N.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of what has no value.
    """

    n_seeds: int
    n_seeds_low: int
    n_seeds_high: int
    smallest_difference: float
    smallest_difference_low: float
    smallest_difference_high: float
    sd: float
    difference: float
    power: float
    alpha: float
    n_runs: int
    n_examples: int
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)


def seeds_needed(sd: float, difference: float, power: float = 0.8, alpha: float = 0.05) -> int:
    """Runs of each of two models so that a two-sided z-test on the mean scores sees a true difference.

    n = ceil(2 ((z_{1-alpha/2} + z_power) sd/difference)²), at least 2.

    Args:
        sd: Standard deviation of the score over runs, in the units of `difference`.
        difference: The true difference to be seen; its sign does not matter.
        power: Chance of seeing it.
        alpha: Two-sided level of the test.

    Raises:
        InputError: The difference is 0, the deviation is negative, or power or alpha is not in (0, 1).
    """
    if difference == 0 or not math.isfinite(difference):
        raise InputError("no number of seeds shows a difference of 0", mend="give the difference that would matter")
    _check(sd, power, alpha)
    return max(2, math.ceil(2 * (_quantiles(power, alpha) * sd / difference) ** 2))


def smallest_difference(sd: float, n_runs: int, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest true difference that a two-sided z-test on `n_runs` runs of each model sees with `power`.

    (z_{1-alpha/2} + z_power) sd sqrt(2/n); the inverse of `seeds_needed`.

    Raises:
        InputError: There is no run, the deviation is negative, or power or alpha is not in (0, 1).
    """
    if n_runs < 1:
        raise InputError(f"{n_runs} runs show nothing", mend="give at least 1")
    _check(sd, power, alpha)
    return _quantiles(power, alpha) * sd * math.sqrt(2 / n_runs)


def plan_seeds(scores: ArrayLike, difference: float, power: float = 0.8, alpha: float = 0.05) -> SeedPlan:
    """Seeds needed to see a difference, from runs at hand.

    A deviation from a few runs is itself uncertain (10 runs: by about 23 %), so the answer is given for both
    ends of its 95 % interval as well.

    Args:
        scores: (R, N) of the runs at hand.
        difference: The true difference to be seen, a fraction.
        power: Chance of seeing it.
        alpha: Two-sided level of the test.

    Raises:
        InputError: There are fewer than 2 runs, or as for `seeds_needed`.
    """
    summary = summarize_scores(scores)
    low, high = summary.sd_interval.low, summary.sd_interval.high
    return SeedPlan(
        n_seeds=seeds_needed(summary.sd, difference, power, alpha),
        n_seeds_low=seeds_needed(low, difference, power, alpha),
        n_seeds_high=seeds_needed(high, difference, power, alpha),
        smallest_difference=smallest_difference(summary.sd, summary.n_runs, power, alpha),
        smallest_difference_low=smallest_difference(low, summary.n_runs, power, alpha),
        smallest_difference_high=smallest_difference(high, summary.n_runs, power, alpha),
        sd=summary.sd,
        difference=difference,
        power=power,
        alpha=alpha,
        n_runs=summary.n_runs,
        n_examples=summary.n_examples,
        caveats=few_runs_caveat(summary.n_runs),
    )


def _check(sd: float, power: float, alpha: float) -> None:
    if not (math.isfinite(sd) and sd >= 0):
        raise InputError(f"the standard deviation is {sd}", mend="it must be at least 0")
    for name, value in (("power", power), ("alpha", alpha)):
        if not 0 < value < 1:
            raise InputError(f"{name} is {value}", mend="it must lie between 0 and 1")


def _quantiles(power: float, alpha: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(1 - alpha / 2) + ndtri(power))
