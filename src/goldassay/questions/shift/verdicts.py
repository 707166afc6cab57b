"""From gaps and false alarm rates to a verdict, by their intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import bounds, percent, points, signed_points
from goldassay.core.severity import severity
from goldassay.core.verdicts import Headline, Verdict, judge_interval, not_measurable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from goldassay.core.settings import ShiftLimits
    from goldassay.core.severity import Word

METRIC_NAMES = {
    "accuracy": "accuracy",
    "exact_match": "exact match",
    "f1": "F1",
    "mean": "score",
    "pearson": "Pearson's r",
    "spearman": "Spearman's ρ",
}
SCORE_NAMES = {
    "max_softmax": "max softmax",
    "max_logit": "max logit",
    "energy": "energy",
    "entropy": "entropy",
    "mahalanobis": "Mahalanobis",
    "knn": "k-th neighbor",
}


def judge_gaps(rows: Sequence[Mapping[str, Any]], limits: ShiftLimits, untaught: Collection[str] = ()) -> Verdict:
    """Judge by the largest loss of a metric on another distribution: the most severe word first, then the largest gap.

    Of several metrics the first decides: of two correlations Pearson's. That the score of a model holds which may have
    learned nothing, one of those untaught, says nothing.
    """
    rows = [row for row in rows if row["metric"] == rows[0]["metric"]]
    others = [row for row in rows if not row["own"]]
    if all(math.isnan(row["gap_low"]) for row in others):
        reasons = "; ".join(dict.fromkeys(str(row["reason"]) for row in rows if row["reason"]))
        return not_measurable(
            f"No gap is defined{f': {reasons}' if reasons else ''}.", "Give predictions that vary, on two sets or more."
        )

    def word_of(row: Mapping[str, Any]) -> Word:
        word = judge_interval(row["gap_low"], row["gap_high"], limits.caution, limits.unsound)
        return "not measurable" if word == "sound" and row["model"] in untaught else word

    def harm(row: Mapping[str, Any]) -> tuple[int, bool, float]:
        defined = not math.isnan(row["gap_low"])
        return severity(word_of(row)), defined, row["gap"] if defined else 0.0

    worst = max(others, key=harm)
    word = word_of(worst)
    if math.isnan(worst["gap_low"]):
        return not_measurable(
            f"No gap from {worst['model']}'s own distribution to {worst['test']} is defined: {worst['reason']}.",
            "Give predictions that vary, or leave this set out.",
        )
    unlearned = worst["model"] in untaught and word == "not measurable"
    metric = METRIC_NAMES[worst["metric"]]
    own = next(
        row for row in rows if row["own"] and row["model"] == worst["model"] and row["metric"] == worst["metric"]
    )
    model = f"{worst['model']}: " if len({row["model"] for row in rows}) > 1 else ""
    evidence = (
        f"{model}{metric} is {points(own['value'])} on {own['test']} and "
        f"{points(worst['value'])} on {worst['test']}, a gap of {signed_points(worst['gap'], 1)} points "
        f"{bounds(worst['gap_low'], worst['gap_high'])}."
    )
    if worst["n_runs"] == 1 and worst["trained"]:
        evidence += " One run: another seed may move it further."
    if unlearned:
        evidence += " The model may be no better than the most frequent label, and what was not learned is not lost."
    next_step = {
        "sound": "Report both scores side by side, as here.",
        "caution": "Report the score on the other distribution beside every score on this one.",
        "unsound": "Do not present the score as one on the task: it holds for texts like those of the benchmark.",
        "not measurable": "Give more examples or more runs: from these a harmless gap cannot be told from a large one.",
    }[word]
    if unlearned:
        next_step = "Give a model that has learned its task."
    rule = (
        f"By the largest gap in {metric}: unsound if the lower end of its interval is at least "
        f"{points(limits.unsound)} points, caution if at least {points(limits.caution)}, sound if the upper end is "
        f"below {points(limits.unsound)}, else not measurable."
    )
    label = f"lost in {metric} from {own['test']} to {worst['test']}"
    headline = Headline(label, worst["gap"], worst["gap_low"], worst["gap_high"], "difference")
    return Verdict(word, evidence, headline, next_step, rule)


def judge_detection(rows: Sequence[Mapping[str, Any]], limits: ShiftLimits) -> Verdict:
    """Judge by the worst false alarm rate of the score that every classifier has, or of the best one there is."""
    score = next((name for name in SCORE_NAMES if any(row["score"] == name for row in rows)), None)
    known = [row for row in rows if row["score"] == score]
    if score is None or not known:
        return not_measurable("No score could be taken.", "Give logits of both sides.")

    chance = float(known[0]["false_alarm_rate_chance"])
    if chance <= limits.unsound_false_alarms:
        return not_measurable(
            f"At {percent(chance, 0)} recall a score that knows nothing has {percent(chance, 0)} of false alarms, not "
            f"above the limit for unsound, {percent(limits.unsound_false_alarms, 0)}: by that limit nothing is told.",
            "Leave out --recall, or set limits for it in the settings.",
        )

    def word_of(row: Mapping[str, Any]) -> Word:
        return judge_interval(
            row["false_alarm_rate_low"],
            row["false_alarm_rate_high"],
            limits.caution_false_alarms,
            limits.unsound_false_alarms,
        )

    worst = max(known, key=lambda row: (severity(word_of(row)), row["false_alarm_rate"]))
    word = word_of(worst)
    rate, low, high = (worst[f"false_alarm_rate{end}"] for end in ("", "_low", "_high"))
    model = f"{worst['model']}: " if len({row["model"] for row in rows}) > 1 else ""
    against = "worse than chance," if low > chance else "which may be chance," if high >= chance else "chance is"
    evidence = (
        f"{model}to flag {percent(worst['recall'], 0)} of {worst['dataset']} by {SCORE_NAMES[score]}, "
        f"{percent(rate)} {bounds(low, high)} of {worst['in_distribution']} are flagged too ({against} "
        f"{percent(chance, 0)})."
    )
    next_step = {
        "sound": "Confidence may be trusted to flag texts like these.",
        "caution": "Do not rely on confidence alone to refuse texts from elsewhere.",
        "unsound": "Treat the model's confidence as meaningless off its own distribution.",
        "not measurable": "Give more examples of both sides.",
    }[word]
    rule = (
        f"By the largest false alarm rate of {SCORE_NAMES[score]} at {percent(worst['recall'], 0)} recall: unsound if "
        f"the lower end of its interval is at least {percent(limits.unsound_false_alarms, 0)}, caution if at least "
        f"{percent(limits.caution_false_alarms, 0)}, sound if the upper end is below "
        f"{percent(limits.unsound_false_alarms, 0)}, else not measurable."
    )
    headline = Headline(f"false alarms on {worst['dataset']}", rate, low, high, "share")
    return Verdict(word, evidence, headline, next_step, rule)
