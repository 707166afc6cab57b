"""Verdicts on shift: what decides them, and what must not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from goldassay.core.settings import ShiftLimits
from goldassay.questions.shift.verdicts import judge_detection, judge_gaps
from goldassay.shift import measure_detection


def gap(model: str, low: float, high: float) -> list[dict[str, Any]]:
    """The two rows of a model: its own set, and another."""
    middle = (low + high) / 2
    common = {"model": model, "metric": "accuracy", "n_runs": 3, "trained": True, "reason": ""}
    own = {**common, "test": "ID", "own": True, "value": 0.8, "gap": 0.0, "gap_low": 0.0, "gap_high": 0.0}
    other = {**common, "test": "far", "own": False, "value": 0.8 - middle, "gap": middle}
    return [own, {**other, "gap_low": low, "gap_high": high}]


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.12, 0.2, "unsound"),
        (0.03, 0.2, "caution"),
        (-0.2, 0.05, "sound"),
        (-0.2, 0.2, "not measurable"),
    ],
)
def test_a_gap_is_judged_by_its_interval(low: float, high: float, word: str) -> None:
    assert judge_gaps(gap("a", low, high), ShiftLimits()).verdict == word


def test_a_score_that_was_never_learned_does_not_hold() -> None:
    sound, loss = gap("taught", -0.2, 0.05), gap("guesser", -0.2, 0.05)
    assert judge_gaps(loss, ShiftLimits()).verdict == "sound"
    judged = judge_gaps(loss, ShiftLimits(), {"guesser"})
    assert judged.verdict == "not measurable"
    assert "what was not learned is not lost" in judged.evidence
    assert judge_gaps([*sound, *loss], ShiftLimits(), {"guesser"}).verdict == "not measurable"
    assert judge_gaps(gap("guesser", 0.12, 0.2), ShiftLimits(), {"guesser"}).verdict == "unsound"


def test_a_gap_that_is_not_defined_is_never_sound() -> None:
    sound, lost = gap("a", -0.2, 0.05), {**gap("b", math.nan, math.nan)[1], "reason": "its predictions are constant"}
    judged = judge_gaps([*sound, *gap("b", math.nan, math.nan)[:1], lost], ShiftLimits())
    assert judged.verdict == "not measurable"
    assert "b's own distribution to far is defined: its predictions are constant" in judged.evidence
    assert judge_gaps([*gap("a", 0.03, 0.2), lost], ShiftLimits()).verdict == "caution"


def detection(inside: Any, outside: Any, recall: float = 0.95) -> list[dict[str, Any]]:
    """The row of a model, other set and score."""
    found = measure_detection(inside, outside, recall, n_draws=200)
    interval = found.intervals["false_alarm_rate"]
    return [
        {
            "model": "a", "in_distribution": "ID", "dataset": "far", "score": "max_softmax", "recall": recall,
            "false_alarm_rate": found.false_alarm_rate, "false_alarm_rate_low": interval.low,
            "false_alarm_rate_high": interval.high, "false_alarm_rate_chance": found.chance["false_alarm_rate"],
        }
    ]  # fmt: skip


@pytest.mark.parametrize(("n_in", "n_out", "word"), [(400, 300, "sound"), (400, 5, "not measurable")])
def test_a_handful_of_examples_is_never_sound(n_in: int, n_out: int, word: str) -> None:
    rows = detection(np.linspace(0, 1, n_in), np.linspace(5, 6, n_out))
    assert judge_detection(rows, ShiftLimits()).verdict == word


def test_one_own_example_is_never_unsound() -> None:
    assert judge_detection(detection([9.0], np.linspace(0, 1, 300)), ShiftLimits()).verdict == "not measurable"


@pytest.mark.parametrize("recall", [0.3, 0.5, 0.8])
def test_limits_tell_nothing_at_a_recall_where_chance_is_not_above_them(recall: float) -> None:
    rng = np.random.default_rng(0)
    rows = detection(rng.normal(size=500), rng.normal(size=500), recall)
    judged = judge_detection(rows, ShiftLimits())
    assert judged.verdict == "not measurable"
    assert "a score that knows nothing" in judged.evidence
    assert judge_detection(rows, ShiftLimits(unsound_false_alarms=0.25, caution_false_alarms=0.1)).verdict == "unsound"


def test_nothing_is_judged_without_rows() -> None:
    assert judge_detection([], ShiftLimits()).verdict == "not measurable"
