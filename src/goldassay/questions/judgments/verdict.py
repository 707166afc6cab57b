"""From what a seat adds to a verdict on judges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goldassay.core.numbers import percent, points
from goldassay.core.verdicts import Headline, Verdict
from goldassay.questions.answered.degenerate import describe_degenerate
from goldassay.stats.effects import LEAST_CLUSTERS
from goldassay.stats.verdicts import judge_effects

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.core.settings import JudgmentLimits
    from goldassay.questions.answered.result import Degenerate
    from goldassay.questions.judgments.measures import PositionEffect
    from goldassay.stats.effects import Effects
    from goldassay.stats.verdicts import Doubt

# From this share on, a system wins.
_WON = 0.5


def judge_judges(
    effects: Effects,
    doubts: Sequence[Doubt],
    judges: Mapping[str, PositionEffect],
    limits: JudgmentLimits,
    besides: Sequence[str] = (),
) -> Verdict:
    """Judge by the judge that follows a seat most.

    Args:
        effects: Of each judge, in both directions.
        doubts: What forbids the word sound.
        judges: What was counted, by name.
        limits: When to say caution or unsound.
        besides: Sentences on what judges follow that is no seat, which have no say in the word.
    """
    if not any(each.measurable for each in effects.effects):
        reason = next(iter(each.reason for each in effects.effects), "there are no verdicts")
        why, ask = f"No effect of the order is measurable: {reason}.", "Ask the judge about each pair in both orders."
        return Verdict("not measurable", why, None, ask, _rule(limits), notes=tuple(each.why for each in doubts))
    judged = judge_effects(effects, doubts)
    decisive = judged.decisive
    assert decisive is not None
    of = judges[decisive.part]
    seat = f"{decisive.reader} adds {points(decisive.value)} points to the win rate"
    seat += f" ({points(decisive.ordinary_low)} to {points(decisive.high)})"
    whose = f" of {decisive.part}" if len(judges) > 1 else ""
    notes = [*(each.why for each in judged.doubts), *besides]
    if judged.word == "sound":
        evidence = f"The order moves the win rate by at most {points(judged.at_most)} points."
    elif of.n_both:
        evidence = (
            f"{percent(of.changed, 0)} of the verdicts{whose} change when the order does "
            f"({points(of.changed_low, 0)} to {points(of.changed_high, 0)})."
        )
        notes.insert(0, f"{seat[:1].upper()}{seat[1:]}.")
    else:
        evidence = f"{f'For {decisive.part}, ' if whose else ''}{seat}."
        evidence = f"{evidence[:1].upper()}{evidence[1:]}"
    next_step = {
        "sound": "Keep the report with the judgments.",
        "caution": "Ask in both orders, and count a pair as a win where both verdicts agree.",
        "unsound": "Do not use this judge in one order; ask in both, and report how often they agree.",
    }.get(judged.word, judged.mend)
    headline = Headline(f"{decisive.reader}, {decisive.part}", decisive.value, decisive.low, decisive.high, "points")
    if of.n_both:
        label = f"verdicts that change with the order, {decisive.part}"
        headline = Headline(label, of.changed, of.changed_low, of.changed_high, "share")
    return Verdict(judged.word, evidence, headline, next_step, _rule(limits), judged.bound, tuple(notes))


def with_degenerate(verdict: Verdict, named: Sequence[tuple[Degenerate, float | None]]) -> Verdict:
    """The verdict with the systems whose output cannot depend on what was asked: unsound where one wins.

    Args:
        verdict: On what seats add.
        named: The systems, and the share of its pairs that each wins.
    """
    if not named:
        return verdict
    most = max(named, key=lambda each: each[1] or 0.0)
    said = tuple(describe_degenerate(each) for each, _ in named)
    won = most[1] or 0.0
    if won < _WON:
        return replace(verdict, notes=(*said, *verdict.notes))
    return replace(
        verdict,
        verdict="unsound",
        evidence=f"{most[0].system} wins {percent(won)} of its pairs, and its output cannot depend on what was asked.",
        notes=(*said, verdict.evidence, *verdict.notes),
        next_step=f"Leave {most[0].system} out, and do not use this judge for what it was asked.",
    )


def _rule(limits: JudgmentLimits) -> str:
    return (
        "By what a seat adds to the win rate, of the judge that follows it most: unsound if the lower end is at least "
        f"{points(limits.unsound)} points, caution if at least {points(limits.caution)}. Lower ends are "
        f"simultaneous over judges and seats. Sound if every upper end lies below {points(limits.unsound)}, the same "
        f"measure sees a seat that wins twice as many of the items, and every judge has "
        f"{LEAST_CLUSTERS} items; else unresolved. Unsound, too, if a system wins half of its pairs and its output is "
        "one text, the prompt, or another system's."
    )
