"""From what readers of a part of the input gain to a verdict, of labelled texts and of items with choices."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import percent, percents_apart, points
from goldassay.core.results import NOT_ASKED, Verdict, not_measurable
from goldassay.data.kinds.kind import CHOICES, ItemKind
from goldassay.questions.cross_validated import read_words, within_doubts
from goldassay.questions.effect_sentences import (
    describe_gain,
    describe_judged,
    describe_unseen,
    effect_rule,
    headline_of,
    rewrite_part,
    scarce_doubts,
    skill_limits,
    unheld_doubts,
)
from goldassay.questions.example_clusters import cluster_doubts
from goldassay.questions.leakage.choices import BY_SUBJECT
from goldassay.questions.leakage.partial_input import (
    PROBES,
    QUICK,
    PartialInputRuns,
    form_readings,
    interaction_readings,
    leaning_word_readings,
    limits_of_parts,
    part_name,
    quick_readings,
    readings_of,
    word_readings,
)
from goldassay.questions.leakage.result import OF_PLACES, RULE, Information
from goldassay.questions.provenance import left_out_doubts
from goldassay.readers.conditions import TEXT, is_part
from goldassay.readers.interactions import INTERACTIONS
from goldassay.stats.effects import (
    BALANCED,
    LEAST_CLUSTERS,
    Effect,
    Effects,
    Measure,
    ReaderPredictions,
    measure_effects,
)
from goldassay.stats.effects import Limits as EffectLimits
from goldassay.stats.verdicts import Doubt, judge_effects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Steps
    from goldassay.core.settings import LeakageLimits, Settings
    from goldassay.questions.artifacts.readings import PatternReadings
    from goldassay.questions.leakage.measures.single_sentence import ConditionAccuracy, SingleSentenceReport
    from goldassay.readers.conditions import DataSplit

# From this share of the test rows on, those that stand in training too are named beside the verdict.
SHARED_WORTH_NAMING = 0.01
# Draws for readers of which only the ordinary upper ends count.
TELLING_DRAWS = 500
# Places of right choices are called uneven below this p of all of them together, where one gains the limit of caution.
UNEVEN = 0.001
# Rules that pick by length, and those whose name goes before what they pick.
_OF_LENGTH = ("longest", "shortest", "longer", "shorter", "most words", "fewest words", "more words", "fewer words")
_ADJECTIVES = (*_OF_LENGTH[:4], "first", "second", "most specific", "least specific", "more specific", "less specific")
QUANTITY = "the accuracy skill and the balanced skill of readers of a part of the input"


def judge(
    evidence: PartialInputRuns,
    report: SingleSentenceReport,
    patterns: Sequence[PatternReadings],
    further: Sequence[ReaderPredictions],
    settings: Settings,
    steps: Steps,
    information: Sequence[Information] = (),
) -> tuple[Verdict, Effects | None, list[ReaderPredictions]]:
    """Judge what all readers of all parts gain.

    Args:
        evidence: Runs of the conditions.
        report: Accuracy of each condition.
        patterns: What guessing by patterns names for each example.
        further: What other readers of these parts name.
        settings: Limits and seed.
        steps: Progress.
        information: Bits that each condition tells, where probabilities are known.

    Returns:
        The verdict, the effects that it follows from (None where no part was read), and what the readers name.
    """
    parts, limits, seed, codes = part_rows(report), settings.verdicts.leakage, settings.seed, evidence.clusters
    of_patterns = [reading for each in patterns for reading in each.readings]
    if not parts:
        return _without_predictions(evidence, information), None, of_patterns
    readings = readings_of(evidence, codes)
    shown = {each.part for each in readings}
    readings += [each for each in of_patterns if each.part in shown]
    readings += [each for each in further if each.part in shown]
    split = evidence.split
    if split is not None and can_plant(evidence):
        of_roles = [f"{role}_only" for role in split.test.text_columns]
        conditions = [row.condition for row in parts if row.condition in of_roles]
        with steps.step("reading the form of the texts"):
            readings += form_readings(split, conditions, seed)
        with steps.step("adding up words"):
            readings += word_readings(split, conditions)
        known = {each.part for each in readings if each.reader == INTERACTIONS}
        if unread := [each for each in conditions if part_name(each) not in known]:
            with steps.step("reading interactions of words"):
                readings += interaction_readings(split, unread, seed)
        if evidence.source != PROBES:
            with steps.step("training quick probes") as progress:
                readings += quick_readings(split, conditions, seed, progress)
    with steps.step("measuring the effects"):
        effects = measure_readings(readings, evidence, codes, limits, seed)
    doubts = [
        *evidence.doubts,
        *(single_run_doubts(parts) if evidence.fold_codes is None else ()),
        *cluster_doubts(evidence.grouping),
        *scarce_doubts(evidence.gold, evidence.train_counts),
        *left_out_doubts(evidence.train, evidence.test),
        *(
            doubt
            for each in patterns
            if each.part in shown
            for doubt in unheld_doubts(each.part, each.unheld, each.threshold)
        ),
    ]
    if not can_plant(evidence):
        names = " and ".join(dict.fromkeys(each.part for each in readings))
        doubts.append(
            Doubt(
                f"No cues could be planted in the {names}, since the texts are not at hand: it is not known "
                "whether these models could have found a flaw.",
                "Give the training part and the test part, so that quick probes read them too.",
            )
        )
    elif evidence.planted is not None:
        with steps.step("planting cues"):
            effects = replace(effects, limits=evidence.planted(effects, tuple({each.part for each in readings})))
    elif split is not None:
        with steps.step("planting cues") as progress:
            # What artifacts read of the same rows need not be read again.
            together = {
                each.part: each.read_together for each in patterns if each.written.codes.size == split.codes.size
            }
            effects = replace(
                effects, limits=limits_of_parts(split, together, readings, effects, codes, seed, progress)
            )
    if evidence.untrained is not None:
        doubts += evidence.untrained(limits.unsound)
    if split is not None and judge_effects(effects, doubts).word == "sound":
        with steps.step("adding up telling words"):
            doubts += leaning_word_doubts(split, evidence, [each.part for each in readings], codes, limits, seed)
    reads_itself = evidence.fold_codes is not None or evidence.chance is not None
    if evidence.test is not None and not reads_itself and judge_effects(effects, doubts).word == "sound":
        with steps.step("reading the test part by itself"):
            doubts += test_part_doubts(evidence, [each.part for each in readings], codes, limits, seed)
    if evidence.chance is not None:
        return judge_choices(effects, doubts, evidence, limits), effects, readings
    verdict = judge_leakage(
        effects,
        max(parts, key=lambda row: row.improvement),
        doubts,
        n_test=report.n_examples,
        n_shared=_shared_rows(evidence),
        limits=limits,
        by_folds=evidence.fold_codes is not None,
    )
    return verdict, effects, readings


def _without_predictions(evidence: PartialInputRuns, information: Sequence[Information]) -> Verdict:
    """What is said where no reader names a label from a part of the input."""
    if TEXT in evidence.conditions:
        why = "Not asked: leakage. Each example is a single text, of which no part can be left out."
        return Verdict(NOT_ASKED, why, None, "", "")
    told = [each for each in information if is_part(each.condition) and each.h_yb > 0]
    why = "There are no predictions of a model that sees only a part of the input."
    if told:
        most = max(told, key=lambda each: each.information / each.h_yb)
        why = (
            f"The {part_name(most.condition)} gives {percent(most.information / most.h_yb)} of the label's information "
            f"({most.information:.3f} of {most.h_yb:.3f} bits). The labels that the model named are not at hand, and "
            "what a part gains is judged by these."
        )
    return not_measurable(why, "Give the predictions of a part, or a training set to train on.")


def _shared_rows(evidence: PartialInputRuns) -> int:
    """Test rows whose texts all stand together in a training row."""
    if evidence.train is None or evidence.test is None or evidence.fold_codes is not None:
        return 0
    roles = list(evidence.test.text_columns)
    known = evidence.train.examples.select(roles).unique()
    return evidence.test.examples.select(roles).join(known, on=roles, how="semi").height


def part_rows(report: SingleSentenceReport) -> list[ConditionAccuracy]:
    """The rows of conditions that show a part of the input."""
    return [row for row in report.conditions if is_part(row.condition)]


def limits_of(limits: LeakageLimits) -> dict[Measure, EffectLimits]:
    """Limits of the measures."""
    return skill_limits(limits.caution, limits.unsound)


def measure_readings(
    readings: Sequence[ReaderPredictions],
    evidence: PartialInputRuns,
    codes: NDArray[Any] | None,
    limits: LeakageLimits,
    seed: int,
) -> Effects:
    """What each reader of each part gains, with intervals over clusters of test rows."""
    return measure_effects(
        readings,
        evidence.gold,
        len(evidence.label_names),
        limits_of(limits),
        train_counts=evidence.train_counts,
        clusters=codes,
        seed=seed,
        label_names=evidence.label_names,
    )


def can_plant(evidence: PartialInputRuns) -> bool:
    """Whether the texts and labels of both parts are at hand, so that words can be planted in copies of them."""
    return evidence.planted is not None or (evidence.test is not None and evidence.train_counts is not None)


def leaning_word_doubts(
    split: DataSplit,
    evidence: PartialInputRuns,
    parts: Sequence[str],
    codes: NDArray[Any] | None,
    limits: LeakageLimits,
    seed: int,
) -> list[Doubt]:
    """Why some part cannot be called sound: words that lean to a label by themselves may give as much as the limit.

    A reader that weighs all words misses a part of what one word tells of a rare label: at 90/10 and 5,000 rows a
    word that gives 12 % came out below the limit in 11 of 100 sets. These readers have no say in the effects, since
    each further one widens the intervals of all; they forbid the word sound where one of their upper ends does.
    """
    conditions = [f"{role}_only" for role in split.test.text_columns if part_name(f"{role}_only") in parts]
    found = measure_effects(
        leaning_word_readings(split, conditions),
        evidence.gold,
        len(evidence.label_names),
        limits_of(limits),
        train_counts=evidence.train_counts,
        clusters=codes,
        seed=seed,
        n_draws=TELLING_DRAWS,
    )
    doubts = []
    for part in dict.fromkeys(each.part for each in found.effects):
        # Of accuracy too few rows of a rare label can be gained for its upper end to be near.
        own = (each for each in found.of(part) if each.measurable and each.measure == BALANCED)
        worst = max(own, key=lambda each: each.high, default=None)
        if worst is not None and worst.high >= limits.unsound:
            gained, limit = percents_apart(worst.high, limits.unsound)
            doubts.append(
                Doubt(
                    f"{worst.reader[0].upper()}{worst.reader[1:]} may gain {gained} from the {part} "
                    f"({worst.measure}, upper end), not below {limit}.",
                    "Audit with more training and test rows.",
                    worst.high,
                )
            )
    return doubts


def test_part_doubts(
    evidence: PartialInputRuns,
    parts: Sequence[str],
    codes: NDArray[Any] | None,
    limits: LeakageLimits,
    seed: int,
) -> list[Doubt]:
    """Why some part cannot be called sound: what words of the test rows tell of other test rows."""
    test = evidence.test
    assert test is not None
    texts = {name: test.examples[role] for role in test.text_columns if (name := part_name(role)) in parts}
    return within_doubts(
        texts, evidence.gold, len(evidence.label_names), codes, (limits.caution, limits.unsound), read_words, seed
    )


def single_run_doubts(parts: Sequence[ConditionAccuracy]) -> list[Doubt]:
    """Of a single run nobody knows what another one would have read."""
    alone = [row for row in parts if row.n_runs == 1]
    if not alone:
        return []
    names = ", ".join(part_name(row.condition) for row in alone)
    return [
        Doubt(
            f"Of the {names} there is one run: its interval is over examples alone, another seed may read more.",
            "Measure with several seeds: two at least, better five.",
            at_most=0.0,
        )
    ]


def judge_leakage(
    effects: Effects,
    best: ConditionAccuracy,
    doubts: Sequence[Doubt],
    *,
    n_test: int,
    n_shared: int,
    limits: LeakageLimits,
    by_folds: bool = False,
) -> Verdict:
    """Judge how much of the label a part of the input tells.

    A flaw that one reader found is there, but one that some readers did not find may be: doubts take back a word
    of soundness, and no other.

    Args:
        effects: Of all readers of all parts.
        best: The partial condition that gains most accuracy.
        doubts: Why nothing could have been found, of all parts.
        n_test: Test examples.
        n_shared: Those that stand in the training part too, and can be known by heart.
        limits: When to say caution or unsound.
        by_folds: Every fold has a reader of its own.
    """
    judged = judge_effects(effects, doubts)
    decisive = judged.decisive
    said = "" if decisive is None else describe_gain(decisive, f"The {decisive.part} alone gives", decisive.reader)
    evidence, notes = describe_judged(judged, effects, said)
    if n_shared >= SHARED_WORTH_NAMING * n_test:
        notes += (f"{n_shared:,} of the test rows also occur in the training part and can be memorized.",)
    if best.n_runs == 1 and not by_folds and judged.word in ("unsound", "caution"):
        notes += ("There is one run: another seed may gain more.",)
    worst = part_name(best.condition) if decisive is None else decisive.part
    next_step = {
        "sound": "Keep the report with the dataset; a stronger model may still find more.",
        "caution": "Report the score of a partial-input model next to every score on this benchmark.",
        "unsound": rewrite_part(worst),
    }.get(judged.word, judged.mend)
    rule = effect_rule(QUANTITY, limits.caution, limits.unsound) + " Sound takes two runs of every part."
    headline = None if decisive is None else headline_of(decisive)
    return Verdict(
        judged.word, evidence, headline, next_step, rule, judged.bound, notes, describe_unseen(judged, effects)
    )


def judge_choices(
    effects: Effects, doubts: Sequence[Doubt], evidence: PartialInputRuns, limits: LeakageLimits
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
        flaw = of_rules if of_rules.word == "unsound" else replace(judged, word="caution")
        judged = replace(flaw, at_most=judged.at_most)
    places = evidence.positions
    uneven = places is not None and places.p < UNEVEN and places.skill >= limits.caution
    kind = evidence.kind or CHOICES
    further: tuple[str, ...] = ()
    if places is not None and uneven and judged.word not in ("caution", "unsound"):
        judged = replace(judged, word="caution", decisive=_of_place(effects), doubts=())
        further = (places.sentence,)
    decisive, headline = judged.decisive, None
    if decisive is not None:
        if judged.word == "caution" and decisive.low >= decisive.unsound and not is_rule(decisive):
            further = ("What only a trained reader finds is a caution.",)
        label = f"accuracy above chance, {decisive.part if is_reader(decisive) else decisive.reader}"
        headline = replace(headline_of(decisive), label=label)
    said = "" if decisive is None else describe_pick(decisive, kind)
    found, notes = describe_judged(judged, effects, said, kind)
    next_step = {
        "sound": "Keep the report with the items; a stronger model may still find more.",
        "caution": f"Report the score of a model that sees the {kind.options} alone next to every score on these "
        "items.",
        "unsound": f"Rewrite the {kind.options} of the items that the rule gets right, or report scores without these "
        "items.",
    }.get(judged.word, judged.mend)
    if decisive is not None and judged.word in ("caution", "unsound"):
        next_step = mend_of_place(decisive, kind) or mend_of_length(decisive, kind) or next_step
    rule, unseen = _rule(limits, kind), describe_unseen(judged, effects, kind)
    return Verdict(judged.word, found, headline, next_step, rule, judged.bound, (*notes, *further), unseen)


def _of_place(effects: Effects) -> Effect | None:
    """The effect of naming the place that gains most."""
    named = [each for each in effects.effects if each.reader.startswith(OF_PLACES)]
    return max(named, key=lambda each: each.value, default=None)


def is_rule(effect: Effect) -> bool:
    """Whether it is of a rule without parameters."""
    return effect.reader.startswith(RULE)


def is_reader(effect: Effect) -> bool:
    """Whether it is of a model that reads a part."""
    return not is_rule(effect) and effect.reader != BY_SUBJECT


def mend_of_place(effect: Effect | None, kind: ItemKind) -> str:
    """What to do about places that a rule or the question names; "" for every other reader."""
    if effect is None or not (effect.reader.startswith(OF_PLACES) or effect.part == kind.question):
        return ""
    return f"Shuffle the {kind.options} of every item; no text needs a change."


def mend_of_length(effect: Effect | None, kind: ItemKind) -> str:
    """What to do about a rule on lengths; "" for every other reader."""
    if effect is None or not effect.reader.endswith(_OF_LENGTH):
        return ""
    return f"Rewrite {kind.options} so that the {kind.right} one is as long as the others."


def describe_pick(effect: Effect, kind: ItemKind) -> str:
    """What picking by a rule, or by what reads a part, gets right, against chance."""
    rule = effect.reader.removeprefix(RULE)
    if not is_rule(effect):
        who = (
            "In each subject, the rule that does best on its other items" if effect.reader == BY_SUBJECT
            else f"A quick probe of the {effect.part} alone" if effect.reader == QUICK
            else f"Reading {effect.reader} of the {effect.part}"
        )  # fmt: skip
    elif rule.startswith("position "):
        who = rule.capitalize()
    elif rule in _ADJECTIVES:
        who = f"The {rule} {kind.option}"
    else:
        who = f"The {kind.option} picked by “{rule}”"
    low, high = (effect.baseline + end for end in (effect.gain.low, effect.gain.high))
    chance = "the most frequent position is right in" if effect.part == kind.question else "chance is"
    return (
        f"{who} is right in {percent(effect.score)} of the items ({points(low)} to {points(high)}); {chance} "
        f"{percent(effect.baseline)}."
    )


def _rule(limits: LeakageLimits, kind: ItemKind) -> str:
    return (
        f"By the accuracy skill of rules without training and of readers of the {kind.part} or the {kind.question} "
        f"alone: unsound if the lower end of some rule is at least {percent(limits.unsound)}, caution if that of some "
        f"rule or reader is at least {percent(limits.caution)}, or a position gains as much and all positions together "
        f"differ from chance by p < {UNEVEN:g}. Lower ends are corrected for multiple comparisons. Sound if the "
        "readers would have found a flaw of the limit for unsound by one, ten or fifty words or by form, as copies of "
        f"the items with such cues show, and there are at least {LEAST_CLUSTERS} effective clusters of items; else "
        "unresolved."
    )
