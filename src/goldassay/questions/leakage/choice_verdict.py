"""From what rules and readers of choices gain to a verdict, and the sentences that support it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.numbers import percent
from goldassay.core.verdicts import Headline, Verdict
from goldassay.data.kinds import CHOICES
from goldassay.questions.leakage.choices import BY_SUBJECT, RULE
from goldassay.stats.detection import TIMES_LIMIT, WORDS_FOR_READERS
from goldassay.stats.effects import LEAST_CLUSTERS
from goldassay.stats.verdicts import Judged, judge_effects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.settings import LeakageLimits
    from goldassay.data.kinds import ItemKind
    from goldassay.questions.leakage.condition_evidence import ConditionEvidence
    from goldassay.stats.effects import Effect, Effects
    from goldassay.stats.verdicts import Doubt


def judge_choices(
    effects: Effects, doubts: Sequence[Doubt], evidence: ConditionEvidence, limits: LeakageLimits
) -> Verdict:
    """Judge what rules, and readers of a part, gain over guessing.

    A rule without parameters may be unsound. What only a trained reader of a part finds is a caution at most: choices
    may be told apart by what is true in general, without their question.

    Args:
        effects: Of all rules and readers.
        doubts: Why nothing could have been found.
        evidence: What they answered.
        limits: When to say caution or unsound.

    Source: Balepur, Ravichander and Rudinger 2024.
    """
    judged = judge_effects(effects, doubts)
    if judged.word == "unsound":
        of_rules = judge_effects(replace(effects, effects=tuple(each for each in effects.effects if is_rule(each))))
        judged = of_rules if of_rules.word == "unsound" else Judged("caution", judged.decisive)
    decisive = judged.decisive
    said = " ".join(doubt.why for doubt in judged.doubts)
    if decisive is not None:
        said = f"{_say(decisive, evidence)} {_against(judged, decisive)}{said}".strip()
    kind = evidence.kind or CHOICES
    next_step = {
        "sound": "Keep the report with the items; a stronger model may still find more.",
        "caution": f"Report the score of a model that sees the {kind.options} alone next to every score on these "
        "items.",
        "unsound": f"Rewrite the {kind.options} of the items that the rule gets right, or report scores without these "
        "items.",
        "not measurable": judged.doubts[0].mend if judged.doubts else "",
    }[judged.word]
    headline = None
    if decisive is not None:
        label = f"accuracy skill, {decisive.part if is_reader(decisive) else decisive.reader}"
        headline = Headline(label, decisive.value, decisive.low, decisive.high, "share")
    return Verdict(judged.word, said, headline, next_step, _rule(limits, kind))


def is_rule(effect: Effect) -> bool:
    """Whether it is of a rule without parameters."""
    return effect.reader.startswith(RULE)


def is_reader(effect: Effect) -> bool:
    """Whether it is of a model that reads a part."""
    return not is_rule(effect) and effect.reader != BY_SUBJECT


def _say(effect: Effect, evidence: ConditionEvidence) -> str:
    assert evidence.chance is not None
    given = evidence.rules if is_rule(effect) or effect.reader == BY_SUBJECT else ()
    scores = next((np.mean(np.asarray(each.correct)) for each in given if each.reader == effect.reader), None)
    if scores is None:
        runs = evidence.conditions[f"{effect.part.replace(' ', '_')}_only"]
        scores = runs.final().scores.mean()
    who = (
        f"Picking by the {effect.reader} (no training)" if is_rule(effect)
        else "Picking in each subject by the rule that gains most on its other items" if effect.reader == BY_SUBJECT
        else f"A quick probe that sees only the {effect.part}"
    )  # fmt: skip
    return (
        f"{who} is right in {percent(float(scores))} of {evidence.gold.size:,} items, where guessing gives "
        f"{percent(float(evidence.chance.mean()))}: it gains {percent(effect.value)} ({percent(effect.low)} to "
        f"{percent(effect.high)}) of what guessing leaves to be gained."
    )


def _against(judged: Judged, effect: Effect) -> str:
    if judged.word == "sound":
        return f"No rule or reader tried here gains {percent(effect.unsound)} or more."
    if judged.word == "not measurable":
        return ""
    limit = effect.unsound if judged.word == "unsound" else effect.caution
    only = "" if is_rule(effect) or effect.low < effect.unsound else " What only a trained reader finds is a caution."
    return f"The limit for {judged.word} is {percent(limit)}.{only}"


def _rule(limits: LeakageLimits, kind: ItemKind) -> str:
    return (
        f"By what rules without training and readers of the {kind.part} or the {kind.question} alone gain over "
        "guessing: unsound "
        f"if the lower end of some rule is at least {percent(limits.unsound)} of what guessing leaves to be gained, "
        f"caution if that of some rule or reader is at least {percent(limits.caution)}. Lower ends are simultaneous "
        f"over all effects. Sound if every upper end lies below the limit for unsound, the readers find "
        f"{WORDS_FOR_READERS} words planted in {TIMES_LIMIT} times that share of the items, and there are at least "
        f"{LEAST_CLUSTERS} effective clusters of items; else not measurable."
    )
