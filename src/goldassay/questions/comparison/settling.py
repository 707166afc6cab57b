"""What an open comparison depends on: runs and examples to settle it, and the rule for answers without a score."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldassay.core.numbers import bounds, count, points
from goldassay.core.results import Result
from goldassay.questions.instability.measures.power import (
    Noise,
    detectable_errors,
    examples_needed,
    found_with,
    runs_needed,
    smallest_difference,
)
from goldassay.stats.effects import LEAST_CLUSTERS
from goldassay.stats.intervals import sd_interval

if TYPE_CHECKING:
    from goldassay.questions.instability.measures.comparison import Comparison
    from goldassay.questions.instability.measures.suites import TotalComparison
    from goldassay.runs.runs import Runs


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
        n = found.n_examples
        if found.counts and n < LEAST_CLUSTERS:
            # Even if one run is ahead wherever they differ, the test by Student's t asks for so many such examples.
            detectable = max(detectable, min(1.0, detectable_errors(n - 1, POWER, ALPHA) ** 2 / n))
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
    if found.counts and found.var_examples == 0:
        # One run is right on every example and the other on none: the test counts such examples.
        while needed < LEAST_CLUSTERS and needed < detectable_errors(max(needed - 1, 1), POWER, ALPHA) ** 2:
            needed += 1
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


# Compares scores (R, N) of two models on the examples of a mask, each of one dataset or more, as they were measured.
_Arrays = Sequence[NDArray[np.float64]]
Measure = Callable[[_Arrays, _Arrays, Sequence[NDArray[np.bool_]]], "Comparison | TotalComparison"]


class Difference(NamedTuple):
    """A difference with its interval."""

    value: float
    low: float
    high: float

    @property
    def side(self) -> tuple[float, bool]:
        """Who is ahead, and whether significantly."""
        return float(np.sign(self.value)), self.low > 0 or self.high < 0

    @classmethod
    def of(cls, found: Comparison | TotalComparison) -> Difference:
        """That of a comparison."""
        return cls(found.difference, found.interval.low, found.interval.high)


@dataclass(frozen=True)
class OtherRules(Result):
    """The difference of two models, A less B, by each rule for answers without a score.

    Attributes:
        n_lacking: Examples that some run of the two has no score for.
        n_both: Examples that all runs of both answered.
        wrong: Where what is missing counts as wrong.
        both: On the examples that both answered; None where there are fewer than two.
        scored_only: Of the means of the scored answers of each.
        least: Where all that A lacks is wrong, and all that B lacks is right.
        most: Where it is the other way round.
        depends: Whether the order, or whether one is significantly better, is another one by another rule.
        by_range: Whether that was judged over all ways to score what is missing.
    """

    n_lacking: int
    n_both: int
    wrong: Difference
    both: Difference | None
    scored_only: float
    least: Difference
    most: Difference
    depends: bool
    by_range: bool


def other_rules(
    a: Sequence[Runs],
    b: Sequence[Runs],
    found: Comparison | TotalComparison,
    measure: Measure,
    *,
    by_range: bool,
    by_size: bool = False,
) -> OtherRules | None:
    """Hold a difference against the rules for what is missing; None where nothing is.

    Args:
        a: Runs (R, N) on each dataset with their statuses, what is missing as wrong.
        b: Likewise, on the same examples.
        found: The difference by the rule in use.
        measure: Compares as `found` was measured.
        by_range: Judge by all ways to score what is missing.
        by_size: Whether each example counts alike, and not each dataset.

    Source: the range is that of Manski 1989 for data that are missing in any way.
    """
    both = [np.asarray(x.scored.all(axis=0) & y.scored.all(axis=0)) for x, y in zip(a, b, strict=True)]
    if all(each.all() for each in both):
        return None
    every = [np.ones(each.size, dtype=np.bool_) for each in both]
    wrong_a, wrong_b = [runs.scores for runs in a], [runs.scores for runs in b]
    right_a, right_b = ([np.where(runs.scored, runs.scores, 1.0) for runs in side] for side in (a, b))
    least, most = Difference.of(measure(wrong_a, right_b, every)), Difference.of(measure(right_a, wrong_b, every))
    wrong = Difference.of(measure(wrong_a, wrong_b, every))
    alike = Difference.of(measure(wrong_a, wrong_b, both)) if all(each.sum() > 1 for each in both) else None
    sizes = [runs.n_examples if by_size else 1 for runs in a]
    # `check` reads what this module declares, and no runs.
    from goldassay.runs.missing import scored_only

    apart = float(np.average([scored_only(x) - scored_only(y) for x, y in zip(a, b, strict=True)], weights=sizes))
    side = Difference.of(found).side
    same = alike is not None and side == wrong.side == alike.side and side[0] == np.sign(apart)
    return OtherRules(
        n_lacking=int(sum((~each).sum() for each in both)),
        n_both=int(sum(each.sum() for each in both)),
        wrong=wrong,
        both=alike,
        scored_only=apart,
        least=least,
        most=most,
        depends=not (least.low > 0 or most.high < 0) if by_range else not same,
        by_range=by_range,
    )


def describe_rules(found: OtherRules | None, a: str, b: str, main: float) -> str:
    """A clause on the other rules, for the sentence that says who is ahead; "" where the rule changes nothing.

    Args:
        found: The difference by these.
        a: Name of the one.
        b: Name of the other.
        main: The difference by the rule in use.
    """
    if found is None or not found.depends:
        return ""
    if found.by_range:
        least, most = found.least, found.most
        return (
            f"; over all ways to score what {count(found.n_lacking)} examples lack, {a} minus {b} is "
            f"{points(least.value, 2)} to {points(most.value, 2)} points {bounds(least.low, most.high, 2)}"
        )
    rules = []
    if found.wrong.value != main:
        rules.append(_side("what is missing counted as wrong", found.wrong, a, b))
    if found.both is not None and found.both.value != main:
        rules.append(_side(f"on the {count(found.n_both)} examples that both answered", found.both, a, b))
    if not rules or np.sign(found.scored_only) != np.sign(main):
        ahead = a if found.scored_only > 0 else b
        rules.append(f"by the mean of what each answered {ahead} by {points(abs(found.scored_only), 2)} points")
    return f"; this depends on the rule for {count(found.n_lacking)} examples without a score: {', '.join(rules)}"


def _side(where: str, found: Difference, a: str, b: str) -> str:
    if found.value >= 0:
        return f"{where} {a} is ahead by {points(found.value, 2)} {bounds(found.low, found.high, 2)}"
    return f"{where} {b} is ahead by {points(-found.value, 2)} {bounds(-found.high, -found.low, 2)}"
