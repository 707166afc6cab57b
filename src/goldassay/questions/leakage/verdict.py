"""From what a part of the input tells to a verdict, and the one sentence that supports it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.core.numbers import percent, points, signed_points
from goldassay.core.severity import Word, severity
from goldassay.core.verdicts import Headline, Verdict, judge_interval
from goldassay.questions.gain_rule import gain_rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.settings import LeakageLimits
    from goldassay.leakage import ConditionAccuracy

# From this share of the test rows on, those that stand in training too are named beside the verdict.
SHARED_WORTH_NAMING = 0.01


@dataclass(frozen=True)
class Doubt:
    """Why a part of the input cannot be called sound, and what would tell more."""

    why: str
    mend: str


def worst_part(parts: Sequence[ConditionAccuracy], limits: LeakageLimits) -> ConditionAccuracy:
    """The part of the input that decides: the most severe by its interval, of equals the one that tells most."""

    def word_of(row: ConditionAccuracy) -> Word:
        scale = 1 - row.majority
        return judge_interval(row.improvement_low, row.improvement_high, limits.caution * scale, limits.unsound * scale)

    return max(parts, key=lambda row: (severity(word_of(row)), row.improvement))


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
    """Judge how much of the label a part of the input tells, by the part that `worst_part` gives.

    A leak that one model found is there, but one that some models did not find may be: doubts take back a word
    of soundness, and no other.

    Args:
        condition: The partial input that decides.
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
    rule = gain_rule("the best partial input's accuracy above the majority", limits.caution, limits.unsound, scale)
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
