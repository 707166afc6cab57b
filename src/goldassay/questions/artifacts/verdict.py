"""From what patterns gain on a test set to a verdict, and the sentences that support it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goldassay.core.numbers import percent
from goldassay.core.results import Headline, Verdict
from goldassay.questions.artifacts.readings import BY_SHARE, PatternReadings, WrittenTexts
from goldassay.questions.cross_validated import within_doubts
from goldassay.questions.detection_limits import largest_limits
from goldassay.questions.effect_sentences import (
    describe_gain,
    describe_judged,
    describe_unseen,
    effect_rule,
    headline_of,
    scarce_doubts,
    skill_limits,
    unheld_doubts,
)
from goldassay.readers.interactions import INTERACTIONS
from goldassay.stats.effects import Effects, measure_effects
from goldassay.stats.verdicts import Doubt, judge_effects

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

    from goldassay.core.settings import ArtifactLimits
    from goldassay.questions.artifacts.measures.difficulty import Giveaway
    from goldassay.stats.clusters import Folds

QUANTITY = "the accuracy skill and the balanced skill of patterns, form and interactions of words on the test set"


def measure_patterns(
    readings: Sequence[PatternReadings], clusters: NDArray[np.int64] | None, limits: ArtifactLimits, seed: int
) -> Effects:
    """What each reader gains, with intervals over clusters of test rows, and the limits of detection."""
    effects = measure_effects(
        [reading for each in readings for reading in each.readings],
        readings[0].gold,
        readings[0].train_counts.size,
        skill_limits(limits.caution, limits.unsound),
        train_counts=readings[0].train_counts,
        clusters=clusters,
        seed=seed,
        label_names=readings[0].label_names,
    )
    return replace(effects, limits=largest_limits(each.limits(effects, clusters) for each in readings))


def judge_artifacts(
    effects: Effects,
    readings: Sequence[PatternReadings],
    given: Giveaway,
    *,
    clusters: NDArray[np.int64] | None,
    doubts: Sequence[Doubt],
    shown: str,
    is_part: bool,
    limits: ArtifactLimits,
) -> Verdict:
    """Judge how far surface patterns give the label away.

    Args:
        effects: Those of `measure_patterns`.
        readings: What they are effects of, of each text.
        given: Precision, coverage and accuracy gained by share, of the text that is shown.
        clusters: Of the test rows.
        doubts: Why nothing can be called sound, whatever the effects.
        shown: The text that `given` is of.
        is_part: A text that was searched is a part of the input, so that it should not tell the label at all. Where it
            is the whole input a telling word may be the task itself, and the verdict is at most caution.
        limits: When to say caution or unsound.
    """
    first = readings[0]
    found = [
        *doubts,
        *scarce_doubts(first.gold, first.train_counts),
        *(doubt for each in readings for doubt in unheld_doubts(each.part, each.unheld, each.threshold)),
    ]
    judged = judge_effects(effects, found, BY_SHARE)
    if judged.word == "sound" and not first.by_folds:
        judged = judge_effects(
            effects, [doubt for each in readings for doubt in _own_doubts(each, clusters, limits)], BY_SHARE
        )
    word = judged.word
    decisive = judged.decisive
    said, number = "", None
    if decisive is not None:
        whose = f" of the {decisive.part}" if is_part else ""
        said, number = describe_gain(decisive, f"Reading {decisive.reader}{whose} gives"), headline_of(decisive)
        if decisive.reader == BY_SHARE and decisive.part == shown and given.n_decided:
            right, named = given.precision, given.n_decided / given.n_examples
            said = (
                f"Patterns{whose} name the label of {percent(named)} of the rows and are right in "
                f"{percent(right.value)} of these."
            )
            label = f"right where patterns{whose} name the label of a row"
            number = Headline(label, right.value, right.low, right.high, "share")
    evidence, notes = describe_judged(judged, effects, said)
    if not is_part and word == "unsound":
        word = "caution"
    if not is_part and word == "caution":
        notes += ("In a single text such a word may be the task itself: read the table before you judge.",)
    next_step = {
        "sound": "Keep the report with the dataset.",
        "caution": "Read the strongest patterns; report scores on the easy and the hard subset side by side.",
        "unsound": "Rewrite or drop the examples behind the strongest patterns, and report scores on the hard subset.",
    }.get(word, judged.mend)
    if decisive is not None and decisive.reader == INTERACTIONS and word in ("caution", "unsound"):
        next_step = (
            f"Report scores only next to a model that sees the {decisive.part} alone."
            if is_part
            else "Read rows of each label: no table lists pairs of words."
        )
    rule = effect_rule(QUANTITY, limits.caution, limits.unsound)
    rule += "" if is_part else " For a single text at most caution."
    unseen = describe_unseen(judged, effects)
    return Verdict(word, evidence, number, next_step, rule, judged.bound, notes, unseen)


def _own_doubts(readings: PatternReadings, clusters: NDArray[np.int64] | None, limits: ArtifactLimits) -> list[Doubt]:
    """Why one text cannot be called sound: words or features of the form of other test rows may tell as much."""

    def read(texts: pl.Series, codes: NDArray[np.int64], n_classes: int, folds: Folds) -> NDArray[np.int64]:
        written = WrittenTexts(texts, codes, folds, tuple(map(str, range(n_classes))))
        return written.reader(readings.min_count, readings.q)(written.forms + " " + texts.str.to_lowercase())

    return within_doubts(
        {readings.part: readings.texts},
        readings.gold,
        readings.train_counts.size,
        clusters,
        (limits.caution, limits.unsound),
        read,
        readings.seed,
    )
