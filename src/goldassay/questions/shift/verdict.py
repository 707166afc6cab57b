"""From gaps and false alarm rates to a verdict, by their intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goldassay.core.figures import NO_QUICK_PROBES
from goldassay.core.numbers import bounds, count, percent, points, signed_points
from goldassay.core.results import Headline, Verdict, Word, not_measurable, severity, unresolved
from goldassay.questions.shift.result import SCORE_NAMES, DetectionRow, GapRow
from goldassay.stats.effects import LEAST_CLUSTERS
from goldassay.stats.verdicts import Doubt, judge_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.core.settings import ShiftLimits

# A set of which more than this share is in the training data, or nearly in the own set, cannot show that a score holds.
_MOST_KNOWN = 0.2
# What the floor of a metric is, in words; of a label's name nothing is known here.
_FLOORS = {
    "accuracy": "always naming its most frequent label gets",
    "exact_match": "the best constant answer gets",
    "f1": "the best constant answer gets",
    "mean": "its declared floor is",
    "pearson": "without any knowledge it is",
    "spearman": "without any knowledge it is",
}


def judge_gaps(rows: Sequence[GapRow], limits: ShiftLimits) -> Verdict:
    """Judge by the largest loss of a metric on another distribution, relative to what it had above its floor.

    The most severe word decides, then the largest loss. Of several metrics of a model the first counts: of two
    correlations Pearson's. A model with a score that is not surely above its floor may know nothing, and what was not
    learned cannot be lost: that is unresolved, whatever the gap.
    """
    first = {row.model: row.metric for row in reversed(rows)}
    rows = [row for row in rows if row.metric == first[row.model]]
    others = [row for row in rows if not row.own]
    if all(math.isnan(row.gap_low) for row in others):
        reasons = "; ".join(dict.fromkeys(row.reason for row in rows if row.reason))
        return not_measurable(
            f"No gap is defined{f': {reasons}' if reasons else ''}.", "Give predictions that vary, on two sets or more."
        )
    own_of = {row.model: row for row in rows if row.own}
    worst, word, doubts = _worst(others, own_of, limits)
    own = own_of[worst.model]
    metric = worst.metric_name
    model = f"{worst.model}: " if len({row.model for row in rows}) > 1 else ""
    rule = (
        f"By the largest loss in {metric}, (own - other)/(own - floor): unsound if the lower end of its interval is at "
        f"least {percent(limits.unsound, 0)}, caution if at least {percent(limits.caution, 0)}, sound if the upper end "
        f"is below {percent(limits.unsound, 0)} and nothing forbids it, else unresolved. Lower ends hold for all "
        "losses at once."
    )
    if doubt_of_skill(own) is not None or math.isnan(worst.loss_low):
        return unresolved(f"{model}{doubts[0].why}", doubts[0].mend, rule)
    at_most = max(_bound_of(row, _judge_gap(own_of[row.model], row, limits)[1]) for row in others)
    notes = [
        f"{metric[:1].upper()}{metric[1:]} is {points(own.value)} on {own.test} and {points(worst.value)} on "
        f"{worst.test}; {_floor_clause(own)} {points(own.floor)} on {own.test}."
    ]
    if worst.n_runs == 1 and worst.trained:
        notes.append("There is one run: another seed may lose more.")
    if left_out := describe_left_out(own, worst):
        notes.append(left_out)
    notes += [doubt.why for doubt in doubts if word == "unresolved"]
    next_step = {
        "sound": f"Report both scores of {called(worst.model)} side by side, as here.",
        "caution": f"Report the score of {called(worst.model)} on the other distribution beside every one on this.",
        "unsound": f"Do not present the score of {called(worst.model)} as one on the task: it holds for texts like "
        "those of the benchmark.",
        "unresolved": doubts[0].mend if doubts else "",
    }[word]
    label = f"lost of what {metric} has above its floor, from {own.test} to {worst.test}"
    headline = Headline(label, worst.loss, worst.loss_low, worst.loss_high, "share")
    return Verdict(word, _headline(worst), headline, next_step, rule, at_most, tuple(notes))


def _headline(worst: GapRow) -> str:
    """What a model loses on other data, in points and relative to what it scores above its floor."""
    who, gains = called(worst.model), worst.gap < 0
    who = f"T{who[1:]}" if who != worst.model else who
    low, high = (-worst.gap_high, -worst.gap_low) if gains else (worst.gap_low, worst.gap_high)
    return (
        f"{who} {'gains' if gains else 'loses'} {points(abs(worst.gap))} points on {worst.test} "
        f"({points(low)} to {points(high)}), {percent(abs(worst.loss))} of its score above the floor."
    )


def judged_gap(rows: Sequence[GapRow], limits: ShiftLimits) -> GapRow | None:
    """The row whose gap the evidence of the verdict gives; None where it gives none."""
    first = {row.model: row.metric for row in reversed(rows)}
    counted = [row for row in rows if row.metric == first[row.model]]
    others = [row for row in counted if not row.own]
    if all(math.isnan(row.gap_low) for row in others):
        return None
    own_of = {row.model: row for row in counted if row.own}
    worst, _, _ = _worst(others, own_of, limits)
    unknown = doubt_of_skill(own_of[worst.model]) is not None or math.isnan(worst.loss_low)
    return None if unknown else worst


def _worst(
    others: Sequence[GapRow], own_of: Mapping[str, GapRow], limits: ShiftLimits
) -> tuple[GapRow, Word, tuple[Doubt, ...]]:
    """The row that decides, its word, and why it is not sound: the most severe word, then the largest loss."""

    def harm(each: tuple[GapRow, Word, tuple[Doubt, ...]]) -> tuple[int, bool, float]:
        row, word, _ = each
        defined = not math.isnan(row.loss)
        return severity(word), defined, row.loss if defined else 0.0

    return max(((row, *_judge_gap(own_of[row.model], row, limits)) for row in others), key=harm)


def _bound_of(row: GapRow, doubts: Sequence[Doubt]) -> float:
    """How much of a metric may be lost to one set; all of it where no loss is defined."""
    high = 1.0 if math.isnan(row.loss_high) else row.loss_high
    return max((0.0, high, *(each.at_most for each in doubts)))


def _judge_gap(own: GapRow, row: GapRow, limits: ShiftLimits) -> tuple[Word, tuple[Doubt, ...]]:
    """The word for one model and set, and why it is not sound where no lower end decides."""
    if (unlearned := doubt_of_skill(own)) is not None:
        return "unresolved", (unlearned,)
    if own.known_share and not own.n_known:
        return "unresolved", (
            Doubt(
                f"All texts of {own.test} but one at most are in the training data: a model that memorized them "
                "shows a loss that is none.",
                "Give an own set that was not trained on.",
            ),
        )
    if math.isnan(row.loss_low):
        why = row.reason or "too few examples or runs vary"
        return "unresolved", (
            Doubt(
                f"No loss from {own.test} to {row.test} is defined: {why}.",
                "Give predictions that vary, or leave this set out.",
            ),
        )
    word = judge_interval(row.loss_low, row.loss_high, limits.caution, limits.unsound)
    if word in ("unsound", "caution"):
        return word, ()
    doubts = []
    if word == "unresolved":
        doubts.append(
            Doubt(
                "These cannot separate a harmless loss from a large one.",
                "Give more examples or more runs of both sets.",
                row.loss_high,
            )
        )
    elif not row.excess_loss_high < limits.unsound:
        doubts.append(_easier_to_guess(own, row))
    if not own.floor_declared:
        doubts.append(
            Doubt(
                "The floor of this score was not declared: above a higher one than 0 more is lost.",
                "Declare what knows nothing scores with --floor, such as --floor 0.",
            )
        )
    doubts += [
        Doubt(
            f"More than a fifth of the texts of {each.test} stand in the training data.",
            "Give a set that was not trained on.",
        )
        for each in (own, row)
        if (each.known_share or 0.0) > _MOST_KNOWN
    ]
    if (row.near_share or 0.0) > _MOST_KNOWN:
        doubts.append(
            Doubt(
                f"{percent(row.near_share)} of the texts of {row.test} are near copies of texts of "
                f"{own.test}: nothing is known of another distribution.",
                f"Give texts that were not made from those of {own.test}.",
            )
        )
    doubts += [
        Doubt(
            f"The examples of {each.test} form {each.effective_clusters:.1f} effective clusters; "
            f"{LEAST_CLUSTERS} are needed.",
            f"Give more examples of {each.test} that share no text.",
            at_most=0.0,
        )
        for each in (own, row)
        if each.effective_clusters < LEAST_CLUSTERS
    ]
    return ("unresolved" if doubts else word), tuple(doubts)


def doubt_of_skill(own: GapRow) -> Doubt | None:
    """Why a model may know nothing of its own distribution; None where it surely knows something."""
    test, metric = own.test, own.metric_name
    if math.isnan(own.value):
        return Doubt(f"The model may know nothing: {own.reason}.", "Give a model that has learned its task.")
    if math.isnan(own.floor):
        return Doubt(
            f"The right labels of {test} are missing: it is not known whether the model exceeds the {metric} of one "
            "constant answer.",
            f"Give the right labels with --test {test}=FILE; a mean score with a declared floor is --metric mean "
            "--floor VALUE.",
        )
    if own.excess_low > 0:
        return None
    if own.floor >= 1:
        return Doubt(
            f"The model may know nothing: all labels of {test} are the same, so that always naming it gets 100.",
            f"Give examples of {test} with other labels.",
        )
    return Doubt(
        f"The model may know nothing: {metric} is {points(own.value)} on {test}, {_floor_clause(own)} "
        f"{points(own.floor)}, and the difference, {signed_points(own.excess, 1)} "
        f"{bounds(own.excess_low, own.excess_high)}, is not significantly above 0. What was not learned is not lost.",
        "Give a model that has learned its task, or more examples of its own distribution.",
    )


def _floor_clause(row: GapRow) -> str:
    return _FLOORS[row.metric] if row.floor_declared else "its floor, which was not declared, was taken as"


def _easier_to_guess(own: GapRow, row: GapRow) -> Doubt:
    """Why equal scores may hide a loss: the other set's floor is higher, or not known."""
    metric = row.metric_name
    if math.isnan(row.floor):
        return Doubt(
            f"Without the right labels of {row.test} its floor is not known.",
            f"Give them with --test {row.test}=FILE.",
        )
    if row.floor >= 1:
        return Doubt(
            f"All labels of {row.test} are the same, so that always naming it gets 100 there.",
            f"Give examples of {row.test} with other labels.",
        )
    return Doubt(
        f"{_FLOORS[row.metric].capitalize()} {points(row.floor)} on {row.test} and {points(own.floor)} on "
        f"{own.test}: each above its floor, {metric} may have lost {percent(row.excess_loss_high)}.",
        f"Give examples of {row.test} with labels in the shares of {own.test}, or more of them.",
        row.excess_loss_high,
    )


def describe_left_out(own: GapRow, row: GapRow) -> str:
    """How many texts of the own set and of another stand in the training data, and both gaps; "" for none."""
    known = [each for each in (own, row) if each.n_known]
    if not known:
        return ""
    sets = " and ".join(
        f"{count(each.n_known)} of the {count(each.n_all)} texts of {each.test} ({percent(each.known_share)})"
        for each in known
    )
    one = sum(each.n_known or 0 for each in known) == 1
    return (
        f"{sets} {'stands' if one else 'stand'} in the training data and {'was' if one else 'were'} left out; with "
        f"{'it' if one else 'them'} the gap is {signed_points(row.gap_with_known, 1)} points "
        f"{bounds(row.gap_with_known_low, row.gap_with_known_high)}."
    )


def called(model: str) -> str:
    """What a sentence calls a model: the probe that is trained here is nobody's model."""
    return "the quick probe" if model == NO_QUICK_PROBES["model"] else model


def judge_detection(rows: Sequence[DetectionRow], limits: ShiftLimits) -> Verdict:
    """Judge by the worst false alarm rate of the score that every classifier has, or of the best one there is."""
    score = next((name for name in SCORE_NAMES if any(row.score == name for row in rows)), None)
    known = [row for row in rows if row.score == score]
    if score is None or not known:
        return not_measurable("No score could be taken.", "Give logits of both sides.")

    chance = known[0].false_alarm_rate_chance
    if chance <= limits.unsound_false_alarms:
        return unresolved(
            f"At {percent(chance, 0)} recall a score that knows nothing has {percent(chance, 0)} of false alarms, not "
            f"above the limit for unsound, {percent(limits.unsound_false_alarms, 0)}: even chance would pass it.",
            "Leave out --recall, or set limits for it in the settings.",
        )

    def word_of(row: DetectionRow) -> Word:
        word = judge_interval(
            row.false_alarm_rate_low,
            row.false_alarm_rate_high,
            limits.caution_false_alarms,
            limits.unsound_false_alarms,
        )
        return "unresolved" if word == "sound" and _is_short(row) else word

    worst = max(known, key=lambda row: (severity(word_of(row)), row.false_alarm_rate))
    word = word_of(worst)
    rate, low, high = worst.false_alarm_rate, worst.false_alarm_rate_low, worst.false_alarm_rate_high
    model = f"{worst.model}: " if len({row.model for row in rows}) > 1 else ""
    against = "worse than chance," if low > chance else "perhaps chance," if high >= chance else "less than chance,"
    evidence = (
        f"{model}Flagging {percent(worst.recall, 0)} of {worst.dataset} by {SCORE_NAMES[score]} also flags "
        f"{percent(rate)} of {worst.in_distribution} ({points(low)} to {points(high)})."
    )
    notes = [f"This is {against} {percent(chance, 0)}."]
    if word == "unresolved" and _is_short(worst):
        notes.append(
            f"There are {count(worst.n_in)} examples of {worst.in_distribution} and {count(worst.n_out)} of "
            f"{worst.dataset}; {LEAST_CLUSTERS} of each are needed."
        )
    next_step = {
        "sound": "Confidence may be trusted to flag texts like these.",
        "caution": "Do not rely on confidence alone to refuse texts from elsewhere.",
        "unsound": "Treat the model's confidence as meaningless off its own distribution.",
    }.get(word, "Give more examples of both sides.")
    rule = (
        f"By the largest false alarm rate of {SCORE_NAMES[score]} at {percent(worst.recall, 0)} recall: unsound if "
        f"the lower end of its interval is at least {percent(limits.unsound_false_alarms, 0)}, caution if at least "
        f"{percent(limits.caution_false_alarms, 0)}, sound if the upper end is below "
        f"{percent(limits.unsound_false_alarms, 0)}, else unresolved."
    )
    headline = Headline(f"false alarms on {worst.dataset}", rate, low, high, "share")
    at_most = max(row.false_alarm_rate_high for row in known)
    return Verdict(word, evidence, headline, next_step, rule, at_most, tuple(notes))


def _is_short(row: DetectionRow) -> bool:
    """Whether one side has too few examples for the word sound."""
    return min(row.n_in, row.n_out) < LEAST_CLUSTERS
