"""From the spread of scores over runs to a verdict, and the one sentence that supports it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goldassay.core.intervals import sd_interval
from goldassay.core.results import Result
from goldassay.core.severity import Word, severity
from goldassay.core.verdicts import Headline, Verdict, judge_interval, not_measurable
from goldassay.leakage.single_sentence import PAIRED, TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.core.settings import InstabilityLimits

# Conditions under which a model sees all of its input.
WHOLE = (PAIRED, TEXT)


@dataclass(frozen=True)
class Spread(Result):
    """What `judge_instability` needs to know of one model on one dataset."""

    name: str
    n_runs: int
    n_examples: int
    sd: float
    sd_low: float
    sd_high: float
    design_effect: float
    effective_size: float
    design_effect_low: float = math.nan
    design_effect_high: float = math.nan


def judge_results(results: Sequence[Mapping[str, Any]], limits: InstabilityLimits) -> Verdict:
    """The verdict on rows of `measure_spread`: of the whole input, which is what a reported model sees.

    Models of a part of the input are listed and never decide.
    """
    whole = [row for row in results if row["condition"] in WHOLE]
    if not whole:
        shown = ", ".join(dict.fromkeys(str(row["condition"]) for row in results))
        return not_measurable(
            f"No runs of the whole input were given, only of {shown}: models that nobody reports.",
            "Give the predictions of at least 5 seeds of a model of the whole input.",
        )
    spreads = [spread_of(row) for row in whole if row["n_runs"] > 1]
    if not spreads:
        return not_measurable(
            "Only one run of each model was given: a spread needs at least two, better ten.",
            "Give the predictions of at least 5 seeds with --runs PATH.",
        )
    verdict = judge_instability(spreads, limits)
    alone = [_name_of(row) for row in whole if row["n_runs"] < 2]
    if not alone or severity(verdict.verdict) > severity("not measurable"):
        return verdict
    return replace(
        verdict,
        verdict="not measurable",
        evidence=f"{verdict.evidence} Only one run was given of {', '.join(alone)}: a spread needs at least two.",
        next_step="Give the predictions of at least 5 seeds of each model.",
    )


def flips_together(low: float, high: float) -> bool | None:
    """Whether examples flip together, by the interval of their design effect; None where it leaves that open."""
    if low > 1:
        return True
    return False if high < 2 else None


def judge_instability(spreads: Sequence[Spread], limits: InstabilityLimits) -> Verdict:
    """Judge whether the score would come out the same with another seed, by the least stable of the results.

    A standard deviation of one point over seeds makes a difference of two points a matter of luck; a large design
    effect says that the examples do not count as independent ones. The interval of the standard deviation decides,
    so that two runs that happen to agree are not taken for a steady score.
    """

    def word_of(spread: Spread) -> Word:
        word = judge_interval(spread.sd_low, _highest(spread), limits.caution_sd, limits.unsound_sd)
        return "caution" if word == "sound" and spread.design_effect >= limits.caution_design_effect else word

    worst = max(spreads, key=lambda spread: (severity(word_of(spread)), spread.sd))
    word = word_of(worst)
    evidence = (
        f"{worst.name}: accuracy moves by {100 * worst.sd:.2f} points (SD, {100 * worst.sd_low:.2f} to "
        f"{100 * worst.sd_high:.2f}) over {worst.n_runs} runs{_effective(worst)}."
    )
    if worst.sd == 0 and worst.n_examples:
        evidence += f" Equal scores may hide a true SD of up to {100 * _highest(worst):.2f} points."
    if worst.n_runs < 5:
        evidence += f" From {worst.n_runs} runs the SD itself is hardly known."
    groups = flips_together(worst.design_effect_low, worst.design_effect_high)
    next_step = {
        "sound": "Report the mean and standard deviation over seeds as here.",
        "caution": "Report the mean and SD over at least 5 seeds, and no difference smaller than their noise.",
        "not measurable": "Give the predictions of more seeds: from these the spread is hardly known.",
        "unsound": "Do not compare models by single runs here: report means over many seeds"
        + (", and find the groups of examples that flip together." if groups else "."),
    }[word]
    rule = (
        f"By the SD over runs of the least stable model of the whole input: unsound if the lower end of its interval "
        f"is at least {100 * limits.unsound_sd:.2f} points, caution if at least {100 * limits.caution_sd:.2f} or the "
        f"design effect is at least {limits.caution_design_effect:g}, sound if the upper end is below "
        f"{100 * limits.unsound_sd:.2f}, else not measurable."
    )
    headline = Headline("SD of the score over runs", worst.sd, worst.sd_low, worst.sd_high, "points")
    return Verdict(word, evidence, headline, next_step, rule)


def spread_of(result: Mapping[str, Any]) -> Spread:
    """What the verdict needs of a row of results."""
    return Spread(
        name=_name_of(result),
        n_runs=result["n_runs"],
        n_examples=result["n_examples"],
        sd=result["sd"],
        sd_low=result["sd_low"],
        sd_high=result["sd_high"],
        design_effect=result["design_effect"],
        effective_size=result["effective_size"],
        design_effect_low=result["design_effect_low"],
        design_effect_high=result["design_effect_high"],
    )


def _name_of(result: Mapping[str, Any]) -> str:
    return str(result.get("name") or f"{result['model']} on {result['dataset']}")


def _highest(spread: Spread) -> float:
    """The upper end of the SD's interval. Of equal scores that is 0: they may lie one example's worth apart unseen."""
    if spread.sd > 0 or spread.n_examples == 0:
        return spread.sd_high
    return sd_interval(1 / spread.n_examples, spread.n_runs).high


def _effective(spread: Spread) -> str:
    if not math.isfinite(spread.effective_size):
        return ""
    together = flips_together(spread.design_effect_low, spread.design_effect_high)
    if together:
        size = max(1, round(spread.effective_size))
        return f", and its {spread.n_examples:,} examples carry as much information as {size:,} independent ones"
    if together is None:
        return ", which leave open whether its examples flip together"
    return ", and its examples show no tendency to flip together"
