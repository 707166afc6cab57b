"""Effects in words; every question that judges by effects uses these."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.numbers import percent
from goldassay.core.verdicts import Headline
from goldassay.stats.detection import FIFTY_WORDS
from goldassay.stats.effects import (
    ACCURACY,
    BALANCED,
    INFORMATION,
    LEAST_CLUSTERS,
    LEAST_ROWS,
    Limits,
)
from goldassay.stats.verdicts import Doubt, Judged

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.data.kinds import ItemKind
    from goldassay.stats.effects import (
        Effect,
        Effects,
        Measure,
    )

# What each measure is a share of.
OF = {
    ACCURACY: "of the accuracy that naming one label leaves to be gained",
    BALANCED: "of the mean recall that naming one label leaves to be gained",
    INFORMATION: "of the information in the label",
}


def skill_limits(caution: float, unsound: float) -> dict[Measure, Limits]:
    """Limits of the two skills; no share of the label's information decides anything."""
    skill = Limits(caution, unsound)
    return {ACCURACY: skill, BALANCED: skill, INFORMATION: Limits(1.0, 1.0)}


def describe_effect(effect: Effect) -> str:
    """What a reader gained, in a clause."""
    return (
        f"{effect.reader} of the {effect.part}: {percent(effect.value)} ({percent(effect.low)} to "
        f"{percent(effect.high)}) {OF[effect.measure]}"
    )


def headline_of(effect: Effect) -> Headline:
    """The decisive effect as the number next to the verdict."""
    return Headline(f"{effect.measure}, {effect.part}", effect.value, effect.low, effect.high, "share")


def describe_judged(judged: Judged, effects: Effects) -> str:
    """What decided, in a sentence or several."""
    effect = judged.decisive
    if effect is None:
        nothing = ["No reader tried here tells any rows apart."] if judged.word == "sound" else []
        return " ".join([*nothing, *(doubt.why for doubt in judged.doubts)])
    said = describe_effect(effect)
    left_out = "".join(f" {each[0].upper()}{each[1:].rstrip('.')}." for each in effects.skipped)
    if judged.word == "sound":
        if any(each.counts for each in judged.limits):
            return f"{describe_limits(judged, effect.caution, effect.unsound)}{left_out}"
        parts = len({(each.part, each.reader) for each in effects.effects})
        readers = "No reader tried here" if parts > 1 else "The reader tried here does not gain"
        return (
            f"{readers} gains {percent(effect.unsound)} or more {OF[effect.measure]}; the largest upper end is that of "
            f"{said}.{left_out}"
            if parts > 1
            else f"{readers} {percent(effect.unsound)} or more {OF[effect.measure]}: {said}.{left_out}"
        )
    if judged.word == "unresolved":
        between = f"Unresolved between {percent(max(0.0, judged.low))} and {percent(judged.at_most)}"
        return f"{between}: {said}. " + " ".join(doubt.why for doubt in judged.doubts) + left_out
    limit = effect.unsound if judged.word == "unsound" else effect.caution
    return f"{said[0].upper()}{said[1:]}; the limit for {judged.word} is {percent(limit)}."


def describe_limits(judged: Judged, caution: float, unsound: float, items: ItemKind | None = None) -> str:
    """What planted cues show of a set that is sound: how large a flaw may be by kind, and which kinds are not seen.

    Args:
        judged: What was found.
        caution: Limit of caution.
        unsound: Limit of unsound.
        items: What items are called; None for labelled texts.
    """
    *first, last = [each.kind for each in judged.limits if each.counts]
    counted = f"{', '.join(first)} or {last}" if first else last
    what = "the label" if items is None else f"the {items.right} {items.option}"
    negligible = ", which is negligible" if judged.at_most < caution else ""
    others = [each for each in judged.limits if not each.counts]
    # Of few rows its limit differs too much from one set of words to the next.
    many = [each for each in others if each.kind == FIFTY_WORDS.name and each.limit < unsound]
    others = [each for each in others if each not in many]
    too_few = " Many words: not shown at this size." if many else ""
    seen = "".join(f"; {each.kind} of at most {percent(each.limit)}" for each in others if each.limit < unsound)
    unseen = ", ".join(each.kind for each in others if each.limit >= unsound)
    return (
        f"Cues of the kinds {counted} give away {what} of at most {percent(judged.at_most)} of the "
        f"{'rows' if items is None else 'items'}{negligible}{seen}.{too_few}"
        f"{f' These readers cannot see: {unseen}.' if unseen else ''}"
    )


def scarce_doubts(gold: NDArray[np.integer], train_counts: NDArray[np.integer] | None) -> list[Doubt]:
    """Why readers could not learn some label that the effects count; empty where each has training rows enough.

    Planted cues are of all labels together: those of the frequent ones suffice to be found.

    Args:
        gold: Codes of the labels of the test rows, (N,).
        train_counts: Training rows of each label, (K,); None where they are not known.
    """
    if train_counts is None:
        return []
    known = np.asarray(train_counts)
    n = int(((np.bincount(gold, minlength=known.size) >= LEAST_ROWS) & (known < LEAST_ROWS)).sum())
    if not n:
        return []
    whose = "A label" if n == 1 else f"{n} labels"
    return [
        Doubt(
            f"{whose} with {LEAST_ROWS} test rows or more {'has' if n == 1 else 'have'} fewer than {LEAST_ROWS} "
            "training rows, from which no reader learns what tells it.",
            "Audit with more training rows of every label.",
        )
    ]


def unheld_doubts(part: str, found: tuple[int, int] | None, threshold: float) -> list[Doubt]:
    """Why nothing can be called sound where the patterns of the training part do not hold in the test part.

    Args:
        part: Of the input.
        found: Test examples with such a pattern, and those where its label is right; None where they hold.
        threshold: The share of its training examples in which a pattern's label is right.
    """
    if found is None:
        return []
    n, right = found
    return [
        Doubt(
            f"Patterns of the {part} that are right in more than {percent(threshold)} of their training examples are "
            f"right in {percent(right / n)} of the {n:,} test examples that have them: the test labels may belong to "
            "other rows, or the two parts are of different kinds, so that training on the one shows nothing of the "
            "other.",
            "Check that each test label belongs to its row; then give training and test rows of one kind.",
        )
    ]


def effect_rule(quantity: str, caution: float, unsound: float) -> str:
    """The rule that a report states next to a verdict by effects and limits of detection."""
    return (
        f"By {quantity}: unsound if the lower end of some interval is at least {percent(unsound)} of what naming one "
        f"label leaves to be gained, caution if at least {percent(caution)}. Lower ends are simultaneous over "
        f"all effects. Sound if the readers would have found a flaw of the limit for unsound by each kind of cue that "
        f"counts, as copies of the rows with such cues show, each label that counts has {LEAST_ROWS} training rows, "
        f"and there are at least {LEAST_CLUSTERS} effective clusters of test rows; else unresolved."
    )
