"""What was found about shift, in plain sentences, the most important first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import bounds, count, decimal, percent, points, signed_points
from goldassay.questions.shift.verdict import METRIC_NAMES, SCORE_NAMES, describe_left_out, doubt_of_skill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST_WORDS = 6
_MOST_GAPS = 4
_MOST_EXCESSES = 4


def describe_gaps(rows: Sequence[Mapping[str, Any]], judged: Mapping[str, Any] | None = None) -> list[str]:
    """The largest gaps, and what no gap could be told of.

    Args:
        rows: A row a model, set and metric.
        judged: The row that the evidence of the verdict is about: what it says already is not said again.
    """
    said = []
    others = [row for row in rows if not row["own"]]
    # Of two correlations the first says it; the table has both.
    first = {row["model"]: row["metric"] for row in reversed(rows)}
    shown = [row for row in others if row["gap"] == row["gap"] and row["metric"] == first[row["model"]]]
    for row in sorted(shown, key=lambda row: -row["gap"])[:_MOST_GAPS]:
        if row is judged:
            continue
        own = next(
            each for each in rows if each["own"] and each["model"] == row["model"] and each["metric"] == row["metric"]
        )
        known = row["loss"] == row["loss"]
        less = "less" if row["gap"] > 0 else "more"
        lost = f", {percent(abs(row['loss']))} {less} above its floor" if known else ""
        crosses = row["gap_low"] <= 0 <= row["gap_high"]
        said.append(
            f"{row['model']}: {METRIC_NAMES[row['metric']]} {points(own['value'])} on {row_set(own)}, "
            f"{points(row['value'])} on {row_set(row)}: a gap of {signed_points(row['gap'], 1)} points "
            f"{bounds(row['gap_low'], row['gap_high'])}{lost}"
            f"{'; it may be none' if crosses else ''}."
        )
    said += [f"{row['model']} on {row['test']}: {row['reason']}." for row in others if row["gap"] != row["gap"]]
    return list(dict.fromkeys(said))


def describe_unlearned(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which models may know nothing of their own distribution, and why; by the first metric of each."""
    first = {row["model"]: row["metric"] for row in reversed(rows)}
    own = [row for row in rows if row["own"] and row["metric"] == first[row["model"]]]
    return [f"{row['model']}: {doubt.why}" for row in own if (doubt := doubt_of_skill(row)) is not None]


def describe_known(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Which texts of other sets stand in the training data, and both gaps; by the first metric of each model."""
    first = {row["model"]: row["metric"] for row in reversed(rows)}
    return [
        f"{row['model']}: {describe_left_out(row)}"
        for row in rows
        if not row["own"] and row["n_known"] and row["metric"] == first[row["model"]]
    ]


def row_set(row: Mapping[str, Any]) -> str:
    """A set with its size."""
    return f"{row['test']} ({count(row['n'])})"


def describe_overconfidence(calibration: Sequence[Mapping[str, Any]]) -> list[str]:
    """Where confidence exceeds accuracy by more than its interval, out of distribution, the farthest first."""
    said: list[str] = []
    for row in sorted(calibration, key=lambda row: -row["overconfidence"]):
        if len(said) == _MOST_EXCESSES:
            break
        own = next((each for each in calibration if each["model"] == row["model"] and each["own"]), None)
        if row["own"] or own is None or not row["overconfidence_low"] > 0:
            continue
        said.append(
            f"{row['model']} is overconfident on {row['dataset']}: mean confidence {points(row['confidence'])}, "
            f"accuracy {points(row['accuracy'])}, {signed_points(row['overconfidence'], 1)} points "
            f"{bounds(row['overconfidence_low'], row['overconfidence_high'])}; on {own['dataset']} "
            f"{signed_points(own['overconfidence'], 1)}."
        )
    return said


def describe_domains(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """How far the sets lie apart, and by which words."""
    said = []
    for row in rows:
        words = {side: [each["word"] for each in row["words"] if each["side"] == side] for side in ("in", "out")}
        telling = "; ".join(
            f"{name} has more of {', '.join(words[side][:_MOST_WORDS])}"
            for side, name in (("out", row["dataset"]), ("in", row["in_distribution"]))
            if words[side]
        )
        said.append(
            f"Words tell {row['dataset']} from {row['in_distribution']} with an AUROC of {decimal(row['auroc'], 3)} "
            f"{bounds(row['low'], row['high'], 3, 1)}{f': {telling}' if telling else ''}."
        )
    return said


def describe_detection(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each model and other set: false alarms by the first score, and the best one where it is clearly another."""
    said = []
    first_score = rows[0]["score"] if rows else ""
    worst_first = sorted(rows, key=lambda row: (row["score"] != first_score, -row["false_alarm_rate"]))
    pairs = dict.fromkeys((row["model"], row["in_distribution"], row["dataset"]) for row in worst_first)
    for model, own, other in pairs:
        here = [row for row in rows if (row["model"], row["in_distribution"], row["dataset"]) == (model, own, other)]
        first, best = here[0], min(here, key=lambda row: row["false_alarm_rate"])
        low, high, chance = (first[f"false_alarm_rate_{end}"] for end in ("low", "high", "chance"))
        against = "worse than chance" if low > chance else "better than chance" if high < chance else "about chance"
        line = (
            f"{model}, {own} against {other}: false alarms {percent(first['false_alarm_rate'])} {bounds(low, high)} at "
            f"{percent(first['recall'], 0)} recall by {SCORE_NAMES[first['score']]}, {against}; AUROC "
            f"{decimal(first['auroc'], 3)}"
        )
        if best["false_alarm_rate_high"] < low:
            line += f"; least by {SCORE_NAMES[best['score']]}: {percent(best['false_alarm_rate'])}"
        said.append(f"{line}.")
    return said
