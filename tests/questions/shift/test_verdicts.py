"""Verdicts on shift: what decides them, and what must not."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from goldassay.core.settings import ShiftLimits
from goldassay.questions.shift.overlaps import near_copies
from goldassay.questions.shift.page import describe_generalization
from goldassay.questions.shift.result import DetectionRow, DomainRow, GapRow
from goldassay.questions.shift.verdict import judge_detection, judge_gaps
from goldassay.shift import measure_detection
from tests.stated import Fact, says, stated_by, states
from tests.typed import filled


def gap(model: str, low: float, high: float, **given: Any) -> list[GapRow]:
    """The two rows of a model with these ends of its loss: its own set, of which `own_...` is, and another."""
    middle = (low + high) / 2
    common = {
        "model": model, "metric": "accuracy", "n_runs": 3, "n": 900, "trained": True, "reason": "", "floor": 0.5,
        "effective_clusters": 900.0, "n_known": None, "known_share": None, "excess_loss_high": high,
        "floor_declared": True,
    }  # fmt: skip
    own = {
        **common, "test": "ID", "own": True, "value": 0.8, "gap": 0.0, "gap_low": 0.0, "gap_high": 0.0, "loss": 0.0,
        "excess": 0.3, "excess_low": 0.27, "excess_high": 0.33,
    }  # fmt: skip
    lost = {"gap": 0.3 * middle, "gap_low": 0.3 * low, "gap_high": 0.3 * high}
    other = {
        **common, **lost, "test": "far", "own": False, "value": 0.8 - 0.3 * middle, "loss": middle, "loss_low": low,
        "loss_high": high,
    }  # fmt: skip
    own |= {key.removeprefix("own_"): value for key, value in given.items() if key.startswith("own_")}
    other |= {key: value for key, value in given.items() if not key.startswith("own_")}
    return [filled(GapRow, own), filled(GapRow, other)]


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.1, 0.2, "unsound"),
        (0.02, 0.2, "caution"),
        (-0.2, 0.0999, "sound"),
        (-0.2, 0.1, "unresolved"),
    ],
)
def test_a_loss_is_judged_by_its_interval(low: float, high: float, word: str) -> None:
    judged = judge_gaps(gap("a", low, high), ShiftLimits())
    assert judged.verdict == word
    assert judged.headline is not None
    assert (judged.headline.value, judged.headline.low, judged.headline.high) == ((low + high) / 2, low, high)


UNLEARNED = {"own_value": 0.51, "own_excess": 0.01, "own_excess_low": -0.02, "own_excess_high": 0.04}


@pytest.mark.parametrize("ends", [(-0.2, 0.05), (0.12, 0.2)])
def test_what_was_never_learned_is_not_measurable_whatever_the_gap(ends: tuple[float, float]) -> None:
    judged = judge_gaps(gap("guesser", *ends, **UNLEARNED), ShiftLimits())
    assert judged.verdict == "unresolved"
    assert judged.headline is None
    assert judged.evidence == says("know nothing", "51.0 on ID", "most frequent label", "50.0", "+1.0 [−2.0, 4.0]", 0)


def test_a_model_that_knows_nothing_does_not_hide_another_that_does() -> None:
    guesser = gap("guesser", -0.2, 0.05, **UNLEARNED)
    assert judge_gaps([*gap("taught", -0.2, 0.05), *guesser], ShiftLimits()).verdict == "unresolved"
    assert judge_gaps([*gap("taught", 0.03, 0.2), *guesser], ShiftLimits()).verdict == "caution"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"own_floor": 1.0, "own_excess_low": 0.0}, ("labels of ID", "the same")),
        ({"own_floor": math.nan}, ("labels of ID", "not known", "accuracy")),
        ({"own_value": math.nan, "own_reason": "all predictions are equal"}, "nothing: all predictions are equal."),
        ({"excess_loss_high": 0.4, "floor": 0.7}, ("70.0 on far", "50.0 on ID", "above its floor")),
        ({"excess_loss_high": 1.0, "floor": 1.0}, ("labels of far", "the same", 100)),
        ({"excess_loss_high": math.nan, "floor": math.nan}, ("labels of far", "floor", "not known")),
        ({"effective_clusters": 19.9}, ("of far", "19.9 effective clusters", 20)),
        ({"own_effective_clusters": 7.0}, ("of ID", "7.0 effective clusters", 20)),
    ],
)  # fmt: skip
def test_each_reason_against_sound_has_its_sentence(given: dict[str, Any], said: Fact) -> None:
    assert judge_gaps(gap("a", -0.2, 0.05), ShiftLimits()).verdict == "sound"
    judged = judge_gaps(gap("a", -0.2, 0.05, **given), ShiftLimits())
    assert judged.verdict == "unresolved"
    assert states(stated_by(judged), said)
    assert judged.next_step


@pytest.mark.parametrize(("share", "word"), [(0.2, "sound"), (0.201, "unresolved")])
def test_a_set_of_which_more_than_a_fifth_was_trained_on_is_never_sound(share: float, word: str) -> None:
    known = {"n_known": round(900 * share / (1 - share)), "known_share": share, "gap_with_known": -0.2,
             "gap_with_known_low": -0.3, "gap_with_known_high": -0.1}  # fmt: skip
    judged = judge_gaps(gap("a", -0.2, 0.05, **known), ShiftLimits())
    assert judged.verdict == word
    assert states(stated_by(judged), "with them the gap", "−20.0 points [−30.0, −10.0]")
    assert judge_gaps(gap("a", 0.03, 0.2, **known), ShiftLimits()).verdict == "caution"


@pytest.mark.parametrize(("share", "word"), [(None, "sound"), (0.2, "sound"), (0.201, "unresolved")])
def test_a_set_of_which_more_than_a_fifth_are_near_copies_is_never_sound(share: float | None, word: str) -> None:
    assert judge_gaps(gap("a", -0.2, 0.05, near_share=share), ShiftLimits()).verdict == word
    assert judge_gaps(gap("a", 0.03, 0.2, near_share=share), ShiftLimits()).verdict == "caution"


def test_near_copies_are_counted_by_text() -> None:
    own = ["A man is sleeping on the green bench in the park today", "Two dogs run after a red ball on the wide beach"]
    assert near_copies(own, ["a man is sleeping on the green bench in the park todays"] * 3) == 3
    assert near_copies(own, ["nobody wrote this sentence before", own[1].replace("red", "rod"), ""]) == 1
    assert near_copies(own, []) == 0


def test_a_gap_that_is_not_defined_is_never_sound() -> None:
    nothing = {"loss": math.nan, "reason": "its predictions are constant"}
    sound, lost = gap("a", -0.2, 0.05), gap("b", math.nan, math.nan, **nothing)
    judged = judge_gaps([*sound, *lost], ShiftLimits())
    assert judged.verdict == "unresolved"
    assert states(stated_by(judged), "b: No loss", "ID to far", "constant")
    assert judge_gaps([*gap("a", 0.03, 0.2), *lost], ShiftLimits()).verdict == "caution"


def detection(inside: Any, outside: Any, recall: float = 0.95) -> list[DetectionRow]:
    """The row of a model, other set and score."""
    found = measure_detection(inside, outside, recall, n_draws=200)
    interval = found.intervals["false_alarm_rate"]
    row = {
        "model": "a", "in_distribution": "ID", "dataset": "far", "score": "max_softmax", "recall": recall,
        "false_alarm_rate": found.false_alarm_rate, "false_alarm_rate_low": interval.low,
        "false_alarm_rate_high": interval.high, "false_alarm_rate_chance": found.chance["false_alarm_rate"],
        "n_in": found.n_in, "n_out": found.n_out,
    }  # fmt: skip
    return [filled(DetectionRow, row)]


@pytest.mark.parametrize(
    ("n_in", "n_out", "word"),
    [(400, 300, "sound"), (20, 300, "sound"), (19, 300, "unresolved"), (400, 5, "unresolved")],
)
def test_a_handful_of_examples_is_never_sound(n_in: int, n_out: int, word: str) -> None:
    rows = detection(np.linspace(0, 1, n_in), np.linspace(5, 6, n_out))
    assert judge_detection(rows, ShiftLimits()).verdict == word


def test_one_own_example_is_never_unsound() -> None:
    assert judge_detection(detection([9.0], np.linspace(0, 1, 300)), ShiftLimits()).verdict == "unresolved"


@pytest.mark.parametrize("recall", [0.3, 0.5, 0.8])
def test_limits_tell_nothing_at_a_recall_where_chance_is_not_above_them(recall: float) -> None:
    rng = np.random.default_rng(0)
    rows = detection(rng.normal(size=500), rng.normal(size=500), recall)
    judged = judge_detection(rows, ShiftLimits())
    assert judged.verdict == "unresolved"
    assert "a score that knows nothing" in stated_by(judged)
    assert judge_detection(rows, ShiftLimits(unsound_false_alarms=0.25, caution_false_alarms=0.1)).verdict == "unsound"


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(0.951, 0.99, "worse than"), (0.95, 0.99, "perhaps"), (0.9, 0.95, "perhaps"), (0.9, 0.949, "less than")],
)
def test_a_rate_is_held_against_chance_by_both_ends(low: float, high: float, said: str) -> None:
    """At 95 % recall a score that knows nothing has 95 % of false alarms."""
    (row,) = detection(np.linspace(0, 1, 40), np.linspace(0, 1, 40))
    row = replace(row, false_alarm_rate_low=low, false_alarm_rate_high=high)
    assert f"This is {said} chance, 95" in judge_detection([row], ShiftLimits()).notes[0]


def test_nothing_is_judged_without_rows() -> None:
    assert judge_detection([], ShiftLimits()).verdict == "not measurable"


@pytest.mark.parametrize(("auroc", "low", "tells"), [(0.147, 0.1, False), (0.55, 0.49, False), (0.7, 0.6, True)])
def test_words_tell_sets_apart_where_they_surely_do_better_than_chance(auroc: float, low: float, tells: bool) -> None:
    row = filled(
        DomainRow,
        {"in_distribution": "near", "dataset": "far", "auroc": auroc, "low": low, "high": 2 * auroc - low, "words": ()},
    )
    (said,) = describe_generalization([], [], [row], ShiftLimits())
    assert said.startswith("Words separate far from near") is tells
    assert said.startswith("Words do not separate far from near") is not tells


@pytest.mark.parametrize(("model", "name"), [("bert", "bert"), ("quick_probe", "the quick probe")])
@pytest.mark.parametrize(("low", "high"), [(0.2, 0.4), (0.03, 0.05), (-0.01, 0.01)])
def test_what_is_said_of_a_score_names_its_model(model: str, name: str, low: float, high: float) -> None:
    assert f"of {name} " in judge_gaps(gap(model, low, high), ShiftLimits()).next_step


def test_an_own_set_that_was_trained_on_decides_nothing() -> None:
    known = gap("a", 0.5, 0.6, own_n_known=0, own_known_share=1.0)
    verdict = judge_gaps(known, ShiftLimits())
    assert verdict.verdict == "unresolved"
    assert states(stated_by(verdict), "texts of ID", "training data")
    part = gap("a", -0.01, 0.01, own_n_known=300, own_known_share=0.25, gap_with_known=0.1, gap_with_known_low=0.05,
               gap_with_known_high=0.15, n_known=0, known_share=0.0)  # fmt: skip
    verdict = judge_gaps(part, ShiftLimits())
    assert verdict.verdict == "unresolved"
    assert states(stated_by(verdict), "300 of the 1,200 texts of ID")
    assert states(stated_by(verdict), "More than a fifth of the texts of ID")


def test_the_bound_is_that_of_the_set_that_leaves_most_open() -> None:
    limits = ShiftLimits()
    assert judge_gaps(gap("a", -0.2, 0.05), limits).at_most == 0.05
    both = [*gap("a", 0.03, 0.06), *gap("b", -0.2, 0.4)]
    judged = judge_gaps(both, limits)
    assert (judged.verdict, judged.at_most) == ("caution", 0.4)
    lost = gap("b", math.nan, math.nan, loss=math.nan, reason="its predictions are constant")
    assert judge_gaps([*gap("a", 0.03, 0.06), *lost], limits).at_most == 1.0
    # A gain bounds the loss by nothing less than 0.
    assert judge_gaps(gap("a", -0.2, -0.1), limits).at_most == 0.0
