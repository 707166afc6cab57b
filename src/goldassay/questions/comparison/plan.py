"""What it would take to settle a comparison: the difference that could be found, and runs or examples for this one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.core.results import Result
from goldassay.questions.instability.measures.power import (
    Noise,
    detectable_errors,
    examples_needed,
    found_with,
    runs_needed,
    smallest_difference,
)
from goldassay.stats.intervals import sd_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.questions.instability.measures.comparison import Comparison

POWER, ALPHA = 0.8, 0.05
# More examples than these times those at hand are no plan.
_MOST_TIMES = 1e6


@dataclass(frozen=True)
class Plan(Result):
    """Runs, examples and differences, power 0.8 and two-sided level 0.05 throughout.

    Attributes:
        seeds_needed: Runs of each model to find a difference as large as this one on as many examples; None where the
            noise of examples hides it whatever the number of runs, a model has one run, or the difference is 0.
        seeds_needed_low: The same from the lower end of the deviation's interval.
        seeds_needed_high: From its upper end.
        examples_needed: Examples to find it with as many runs; None where the noise of runs hides it, or the difference
            is 0. Of models with one run: to find a difference between such runs.
        joint_runs: Where neither alone will do: runs of each to take with `joint_examples`; None elsewhere.
        joint_examples: Examples to take with these.
        smallest_difference: What the smaller number of runs at hand could have shown on these examples alone, as if
            there were no others; NaN for one run.
        detectable_difference: What these runs and examples together could have shown.
    """

    seeds_needed: int | None
    seeds_needed_low: int | None
    seeds_needed_high: int | None
    examples_needed: int | None
    joint_runs: int | None
    joint_examples: int | None
    smallest_difference: float
    detectable_difference: float


def plan_comparison(found: Comparison, sds: Sequence[float], *, of_attempts: bool = False) -> Plan:
    """Plan from the noise of runs and of examples as `compare` measured them.

    Args:
        found: The comparison.
        sds: Standard deviations of both models over runs; NaN for one run.
        of_attempts: Whether runs are attempts at the same examples: these are drawn one by one, so that all of the
            noise of runs falls with the number of examples.
    """
    errors = detectable_errors(found.degrees_of_freedom, POWER, ALPHA)
    detectable = math.sqrt(found.var_total) * errors
    if found.counts:
        # Runs that differ by d differ on at least so many examples, whose noise is d (1-d)/N or more.
        detectable = max(detectable, errors**2 / (found.n_examples + errors**2))
    pooled = math.sqrt(sum(sd**2 for sd in sds) / len(sds))
    if math.isnan(pooled):
        return Plan(None, None, None, _examples_of_one_run(found), None, None, math.nan, detectable)
    fewest = min(found.n_runs_a, found.n_runs_b)
    shown = smallest_difference(pooled, fewest)
    if found.difference == 0:
        return Plan(None, None, None, None, None, None, shown, detectable)
    units = found.n_clusters or found.n_examples
    noise = _noise_of_runs(found, fewest)
    # Two models give (R_A - 1) + (R_B - 1) degrees of freedom, matched runs R - 1.
    interval = sd_interval(1.0, fewest if found.matched else found.n_runs_a + found.n_runs_b - 1)
    needed = [
        runs_needed(Noise(scale**2 * noise.of_one_run, *noise[1:]), found.difference, POWER, ALPHA)
        for scale in (1.0, interval.low, interval.high)
    ]
    flips = noise.of_one_run if of_attempts else _flips(found, noise)
    examples = _examples_needed(found, noise, flips, fewest, units)
    together: tuple[int | None, int | None] = (None, None)
    if needed[0] is None and examples is None:
        # Twice the runs that would do without the noise of examples leave about half of the variance to these.
        alone = runs_needed(Noise(noise.of_one_run, noise.df_per_run, 0.0, None), found.difference, POWER, ALPHA)
        runs = 2 * (alone or 2)
        together = (runs, _examples_needed(found, noise, flips, runs, units))
    return Plan(needed[0], needed[1], needed[2], examples, *together, shown, detectable)


def _examples_of_one_run(found: Comparison) -> int | None:
    """Examples at which a difference between such single runs is found; None for a difference of 0."""
    if found.difference == 0:
        return None
    units = found.n_clusters or found.n_examples
    needed = examples_needed(found.difference, found.var_examples * units, POWER, ALPHA)
    times = needed / units
    return math.ceil(times * found.n_examples) if times <= _MOST_TIMES else None


def _noise_of_runs(found: Comparison, fewest: int) -> Noise:
    """The noise of a difference between one run of each, as the test takes it, and that of these examples."""
    runs = found.var_total - found.example_variance
    # Of unequal numbers the harmonic mean gives the same variance.
    times = fewest if found.matched else 2 / (1 / found.n_runs_a + 1 / found.n_runs_b)
    return Noise(runs * times, 1 if found.matched else 2, found.example_variance, found.n_clusters or found.n_examples)


def _flips(found: Comparison, noise: Noise) -> float:
    """The part of the runs' noise that is flips of single examples (`overlap`)."""
    times = noise.of_one_run / (found.var_total - found.example_variance) if noise.of_one_run > 0 else 1.0
    return min(found.overlap * times, noise.of_one_run)


def _examples_needed(found: Comparison, noise: Noise, flips: float, n_runs: int, units: int) -> int | None:
    """Examples at which the difference is found with `n_runs` runs of each.

    The noise of examples falls with their number, and so does the part of the runs' noise that is `flips`.
    """

    def enough(factor: float) -> bool:
        at = Noise(
            noise.of_one_run - flips + flips / factor, noise.df_per_run, noise.of_examples / factor,
            max(2, round(units * factor)),
        )  # fmt: skip
        return found_with(at, found.difference, n_runs, ALPHA) >= POWER

    low, high = 1.0, 1.0
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST_TIMES:
            return None
    while high - low > 1e-4 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return math.ceil(high * found.n_examples)
