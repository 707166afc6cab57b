"""From measured numbers and stated limits to a verdict and the one sentence that supports it.

All are judged by an interval, not by a point: a flaw is called when the lower end of the interval passes a limit,
soundness when the upper end stays below the limit for "unsound". Where the interval spans both, the examples or
runs are too few to tell, and the verdict says so instead of guessing.

Gains in accuracy are judged as a share of what the most frequent label leaves to be gained, 1 - majority: one point
above a majority of 99 % is everything there is to give away, one point above 33 % is next to nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goldassay.intervals import sd_interval
from goldassay.report.numbers import percent, points, signed_points
from goldassay.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.leakage import ConditionAccuracy
    from goldassay.settings import ArtifactLimits, InstabilityLimits, LeakageLimits

Word = Literal["sound", "caution", "unsound", "not measurable"]
Unit = Literal["points", "difference", "share", "examples", "ratio"]

# From this share of the test rows on, those that stand in training too are named beside a verdict on leakage.
SHARED_WORTH_NAMING = 0.01

_SEVERITY: dict[Word, int] = {"sound": 0, "not measurable": 1, "caution": 2, "unsound": 3}


@dataclass(frozen=True)
class Headline(Result):
    """The number that matters for a question, with its interval where there is one."""

    label: str
    value: float
    low: float
    high: float
    unit: Unit


@dataclass(frozen=True)
class Verdict(Result):
    """An answer to one question: the word, what decided it, what to do next, and the rule that was applied."""

    verdict: Word
    evidence: str
    headline: Headline | None
    next_step: str
    rule: str


def judge_interval(low: float, high: float, caution: float, unsound: float) -> Word:
    """Judge a harmful quantity by its interval.

    unsound if low >= `unsound`; caution if low >= `caution`; sound if high < `unsound`; otherwise the interval
    spans from harmless to unsound and nothing can be said.
    """
    if math.isnan(low) or math.isnan(high):
        return "not measurable"
    if low >= unsound:
        return "unsound"
    if low >= caution:
        return "caution"
    return "sound" if high < unsound else "not measurable"


def _rule(quantity: str, caution: float, unsound: float, scale: float) -> str:
    return (
        f"By {quantity}, of the {points(scale)} points that the most frequent label leaves to be gained: unsound if "
        f"the lower end of its interval is at least {points(unsound * scale)} points ({unsound:.1%} of them), caution "
        f"if at least {points(caution * scale)} ({caution:.1%}), sound if the upper end is below "
        f"{points(unsound * scale)}, else not measurable."
    )


def judge_artifacts(
    *,
    value: float,
    low: float,
    high: float,
    coverage: float,
    precision: float,
    n_mined: int,
    min_count: int,
    n_selected: int,
    threshold: float,
    majority: float,
    n_test: int,
    is_part: bool,
    limits: ArtifactLimits,
) -> Verdict:
    """Judge how far surface patterns give the label away.

    Args:
        value: Accuracy gained on the test set by guessing the patterns' label over always naming the most frequent
            label, a fraction.
        low: Lower end of its interval.
        high: Upper end of its interval.
        coverage: Share of test examples that hold at least one pattern.
        precision: Share right among the examples on which the patterns speak with one voice.
        n_mined: Patterns frequent enough to be counted.
        min_count: In how many training examples a pattern had to occur.
        n_selected: Patterns kept.
        threshold: The share that a kept pattern's label exceeds.
        majority: Share of the most frequent label in the test set.
        n_test: Test examples.
        is_part: The text searched is a part of the input, so that it should not tell the label at all. Where it is
            the whole input a telling word may be the task itself, and the verdict is at most caution.
        limits: When to say caution or unsound.
    """
    if n_mined == 0:
        return not_measurable(
            f"No pattern occurs in as many as {min_count} training examples: the training part is too small to search.",
            "Audit with more training examples.",
        )
    scale = 1 - majority
    word = judge_interval(low, high, limits.caution * scale, limits.unsound * scale)
    if n_selected == 0:
        evidence = (
            f"No word pattern gives its label in more than {percent(threshold)} of its training examples beyond chance."
        )
    else:
        evidence = (
            f"{n_selected:,} pattern{'s occur' if n_selected > 1 else ' occurs'} in {percent(coverage)} of the "
            f"{n_test:,} test examples; where they name one label it is right in {percent(precision)}: "
            f"{signed_points(value, 1)} points of accuracy ({points(low)} to {points(high)}) over always naming the "
            f"most frequent label."
        )
    if not is_part and word == "unsound":
        word = "caution"
    if not is_part and n_selected:
        evidence += " In a single text a telling word can be the task itself: read the table before you judge."
    next_step = {
        "sound": "Nothing to mend here. Keep the report beside the dataset.",
        "caution": "Read the strongest patterns; report scores on the easy and the hard subset side by side.",
        "unsound": "Rewrite or drop the examples behind the strongest patterns, and report scores on the hard subset.",
        "not measurable": "Audit on a larger test set: this one cannot tell harmless from unsound.",
    }[word]
    rule = _rule("the accuracy that guessing by pattern gains on the test set", limits.caution, limits.unsound, scale)
    rule += "" if is_part else " For a single text at most caution."
    headline = Headline("patterns alone, above majority", value, low, high, "points")
    return Verdict(word, evidence, headline, next_step, rule)


@dataclass(frozen=True)
class Doubt:
    """Why a part of the input cannot be called sound, and what would tell more."""

    why: str
    mend: str


def leakage_doubts(parts: Sequence[ConditionAccuracy], limits: LeakageLimits) -> tuple[Doubt, ...]:
    """Why nothing can be said for some parts, though their intervals lie below the limit for "unsound".

    A model that departs from always naming one label by less than that limit could not have passed it, whatever its
    text tells: the verdict would be sound before anything was read. Of a single run nobody knows what another one
    would have read; two runs at odds are called not measurable, and one must not be worth more than two.
    """
    doubts = []
    if idle := [row for row in parts if row.departure < limits.unsound]:
        names = ", ".join(_part(row.condition) for row in idle)
        nearly = "" if all(row.n_constant == row.n_runs for row in idle) else "nearly "
        doubts.append(
            Doubt(
                f"Models of the {names} name one label for {nearly}every example: such decisions cannot tell whether "
                "nothing can be read there, or nothing was learned.",
                "See whether these models were trained to the end, or measure on a test set with equal label shares.",
            )
        )
    if alone := [row for row in parts if row.n_runs == 1 and row not in idle]:
        names = ", ".join(_part(row.condition) for row in alone)
        doubts.append(
            Doubt(
                f"Of the {names} there is one run: its interval is over examples alone, another seed may read more.",
                "Measure with several seeds: two at least, better five.",
            )
        )
    return tuple(doubts)


def _part(condition: str) -> str:
    return condition.removesuffix("_only").replace("_", " ")


def judge_leakage(
    *,
    condition: str,
    accuracy: float,
    majority: float,
    improvement: float,
    low: float,
    high: float,
    n_seeds: int,
    n_test: int,
    n_shared: int,
    limits: LeakageLimits,
    subject: str = "A quick probe",
    doubts: Sequence[Doubt] = (),
) -> Verdict:
    """Judge how much of the label a part of the input tells, by the partial input that tells most.

    A leak that one model found is there, but one that some models did not find may be: doubts take back a word
    of soundness, and no other.

    Args:
        condition: The partial input with the largest improvement.
        accuracy: Its mean accuracy over seeds, a fraction.
        majority: The share of the most frequent label in the test set.
        improvement: accuracy - majority.
        low: Lower end of its interval.
        high: Upper end of its interval.
        n_seeds: Probes or other models trained.
        n_test: Test examples.
        n_shared: Those that stand in the training part too, and can be known by heart.
        limits: When to say caution or unsound.
        subject: What was trained.
        doubts: Of all partial inputs, from `leakage_doubts`.
    """
    scale = 1 - majority
    word = judge_interval(low, high, limits.caution * scale, limits.unsound * scale)
    doubted = bool(doubts) and word in ("sound", "not measurable")
    if doubted:
        word = "not measurable"
    part = _part(condition)
    seeds = f"{n_seeds} seed{'s' if n_seeds > 1 else ''}"
    evidence = (
        f"{subject} that sees only the {part} is right in {percent(accuracy)} of {n_test:,} test examples "
        f"({seeds}) where the most frequent label gives {percent(majority)}: {signed_points(improvement, 1)} points "
        f"({points(low)} to {points(high)})."
    )
    if n_shared >= SHARED_WORTH_NAMING * n_test:
        evidence += f" {n_shared:,} of the test rows stand in training too and can be known by heart."
    if doubted:
        evidence = " ".join([evidence, *(doubt.why for doubt in doubts)])
    elif n_seeds == 1:
        evidence += " One run: another seed may move it further."
    next_step = {
        "sound": f"{subject} finds nothing to mend; a stronger model may still find more.",
        "caution": "Report the score of a partial-input model beside every score on this benchmark.",
        "unsound": f"Rewrite the {part} of the leaky examples, or report scores only beside a {part}-only baseline.",
        "not measurable": doubts[0].mend
        if doubted
        else "Audit on a larger test set: this one cannot tell harmless from unsound.",
    }[word]
    rule = _rule("the best partial input's accuracy above the majority", limits.caution, limits.unsound, scale)
    rule += (
        f" Sound takes two runs of every part that depart from always naming one label in {limits.unsound:.1%} of the "
        "examples at least."
    )
    return Verdict(
        word,
        evidence,
        Headline(f"{part} alone, above majority", improvement, low, high, "points"),
        next_step,
        rule,
    )


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


def judge_instability(spreads: Sequence[Spread], limits: InstabilityLimits) -> Verdict:
    """Judge whether the score would come out the same with another seed, by the least stable of the results.

    A standard deviation of one point over seeds makes a difference of two points a matter of luck; a large design
    effect says that the examples do not count as independent ones. The interval of the standard deviation decides,
    so that two runs that happen to agree are not taken for a steady score.
    """

    def word_of(spread: Spread) -> Word:
        word = judge_interval(spread.sd_low, _highest(spread), limits.caution_sd, limits.unsound_sd)
        return "caution" if word == "sound" and spread.design_effect >= limits.caution_design_effect else word

    worst = max(spreads, key=lambda spread: (_SEVERITY[word_of(spread)], spread.sd))
    word = word_of(worst)
    evidence = (
        f"{worst.name}: accuracy moves by {100 * worst.sd:.2f} points (SD, {100 * worst.sd_low:.2f} to "
        f"{100 * worst.sd_high:.2f}) over {worst.n_runs} runs{_effective(worst)}."
    )
    if worst.sd == 0 and worst.n_examples:
        evidence += f" Equal scores may hide a true SD of up to {100 * _highest(worst):.2f} points."
    if worst.n_runs < 5:
        evidence += f" From {worst.n_runs} runs the SD itself is hardly known."
    next_step = {
        "sound": "Report the mean and standard deviation over seeds as here.",
        "caution": "Report the mean and SD over at least 5 seeds, and no difference smaller than their noise.",
        "not measurable": "Give the predictions of more seeds: from these the spread is hardly known.",
        "unsound": "Do not compare models by single runs here: report means over many seeds, and find the groups of "
        "examples that swing together.",
    }[word]
    rule = (
        f"By the least stable result's SD of the score over runs: unsound if the lower end of its interval is at "
        f"least {100 * limits.unsound_sd:.2f} points, caution if at least {100 * limits.caution_sd:.2f} or the design "
        f"effect is at least {limits.caution_design_effect:g}, sound if the upper end is below "
        f"{100 * limits.unsound_sd:.2f}, else not measurable."
    )
    headline = Headline("SD of the score over runs", worst.sd, worst.sd_low, worst.sd_high, "points")
    return Verdict(word, evidence, headline, next_step, rule)


def _highest(spread: Spread) -> float:
    """The upper end of the SD's interval. Of equal scores that is 0: they may lie one example's worth apart unseen."""
    if spread.sd > 0 or spread.n_examples == 0:
        return spread.sd_high
    return sd_interval(1 / spread.n_examples, spread.n_runs).high


def _effective(spread: Spread) -> str:
    if not math.isfinite(spread.effective_size):
        return ""
    size = round(spread.effective_size)
    if size < spread.n_examples:
        return f", and its {spread.n_examples:,} examples carry as much information as {size:,} independent ones"
    return ", and its examples show no tendency to flip together"


def not_measurable(reason: str, next_step: str) -> Verdict:
    """A question that this input cannot answer, with the reason."""
    return Verdict("not measurable", reason, None, next_step, "")
