"""Verdicts follow from intervals and stated limits, and from nothing else."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.intervals import sd_interval
from goldassay.core.settings import ArtifactLimits, InstabilityLimits, LeakageLimits
from goldassay.core.verdicts import Verdict, judge_interval
from goldassay.leakage import ConditionAccuracy
from goldassay.questions.artifacts.verdict import judge_artifacts
from goldassay.questions.instability.verdict import Spread, judge_instability, judge_results
from goldassay.questions.leakage.verdict import judge_leakage, leakage_doubts, worst_part

STEADY = Spread("bert on mnli", 10, 9815, 0.0024, 0.0016, 0.0044, 1.86, 5276.0, 0.88, 6.2)
HANS = Spread("bert on hans", 10, 30000, 0.0151, 0.0104, 0.0276, 218.4, 137.4, 103.0, 728.0)


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.05, 0.07, "unsound"),
        (0.049, 0.2, "caution"),
        (0.01, 0.02, "caution"),
        (-0.02, 0.049, "sound"),
        (-0.3, 0.05, "not measurable"),
        (math.nan, math.nan, "not measurable"),
    ],
)
def test_the_interval_decides(low: float, high: float, word: str) -> None:
    assert judge_interval(low, high, caution=0.01, unsound=0.05) == word


@given(st.floats(-0.5, 0.5), st.floats(0, 0.5), st.floats(0, 0.2), st.floats(0, 0.2))
def test_more_harm_is_never_judged_milder(low: float, width: float, caution: float, more: float) -> None:
    order = {"sound": 0, "not measurable": 1, "caution": 2, "unsound": 3}
    first = judge_interval(low, low + width, caution, caution + more)
    second = judge_interval(low + 0.1, low + width + 0.1, caution, caution + more)
    assert order[second] >= order[first]


def artifacts(low: float, is_part: bool = True, n_selected: int = 12, n_mined: int = 900) -> Verdict:
    return judge_artifacts(
        value=low + 0.01,
        low=low,
        high=low + 0.02,
        coverage=0.3,
        precision=0.8,
        n_mined=n_mined,
        min_count=8,
        n_selected=n_selected,
        threshold=0.7,
        majority=1 / 3,
        n_test=2000,
        is_part=is_part,
        limits=ArtifactLimits(),
    )


def test_a_single_text_is_at_most_cautioned_and_says_why() -> None:
    assert artifacts(0.2).verdict == "unsound"
    single = artifacts(0.2, is_part=False)
    assert single.verdict == "caution"
    assert "the task itself" in single.evidence


def test_no_pattern_is_said_in_words() -> None:
    verdict = artifacts(0.0, n_selected=0)
    assert verdict.verdict == "sound"
    assert "No word pattern" in verdict.evidence


def test_evidence_has_true_minus_signs() -> None:
    assert "−4.0 points of accuracy (−5.0 to −3.0)" in artifacts(-0.05).evidence


def test_leakage_names_the_part_that_tells_most() -> None:
    verdict = judge_leakage(
        condition="hypothesis_only",
        accuracy=0.58,
        majority=0.343,
        improvement=0.237,
        low=0.224,
        high=0.249,
        n_seeds=5,
        n_test=9824,
        n_shared=0,
        limits=LeakageLimits(),
    )
    assert verdict.verdict == "unsound"
    assert "only the hypothesis" in verdict.evidence
    assert "+23.7 points" in verdict.evidence
    assert "7.9 points" in verdict.rule


def part(condition: str, departure: float, n_runs: int = 5, n_constant: int = 0) -> ConditionAccuracy:
    return ConditionAccuracy(
        condition=condition, n_runs=n_runs, accuracy=0.34, accuracy_low=0.33, accuracy_high=0.35, sd=0.001,
        departure=departure, n_constant=n_constant, majority=0.34, improvement=0.0, improvement_low=-0.01,
        improvement_high=0.01, recovered=0.5, recovered_low=0.4, recovered_high=0.6, reason="",
    )  # fmt: skip


def judged(improvement: float, *parts: ConditionAccuracy) -> Verdict:
    limits = LeakageLimits()
    return judge_leakage(
        condition=parts[0].condition, accuracy=0.34 + improvement, majority=0.34, improvement=improvement,
        low=improvement - 0.01, high=improvement + 0.01, n_seeds=parts[0].n_runs, n_test=9824, n_shared=0,
        limits=limits, doubts=leakage_doubts(parts, limits),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("departure", "n_constant", "said"), [(0.0, 5, "for every example"), (0.11, 1, "for nearly every example")]
)
def test_models_of_one_label_pass_nothing_as_sound(departure: float, n_constant: int, said: str) -> None:
    sure, idle = part("premise_only", 0.5), part("hypothesis_only", departure, n_constant=n_constant)
    assert judged(0.0, sure, part("hypothesis_only", 0.13)).verdict == "sound"
    for parts in ((sure, idle), (idle, sure), (idle,)):
        verdict = judged(0.0, *parts)
        assert verdict.verdict == "not measurable"
        assert f"Models of the hypothesis name one label {said}" in verdict.evidence
        assert "trained to the end" in verdict.next_step


def test_the_part_that_decides_is_the_most_severe_not_the_one_that_tells_most() -> None:
    sound = replace(part("premise_only", 0.5), improvement=0.02, improvement_low=0.01, improvement_high=0.03)
    unknown = replace(part("hypothesis_only", 0.5), improvement=0.01, improvement_low=-0.1, improvement_high=0.12)
    assert worst_part([sound, unknown], LeakageLimits()) is unknown
    assert worst_part([unknown, sound], LeakageLimits()) is unknown
    assert worst_part([sound, replace(sound, improvement=0.03)], LeakageLimits()).improvement == 0.03


def test_what_one_part_gives_away_stands_whatever_another_part_leaves_open() -> None:
    verdict = judged(0.2, part("hypothesis_only", 0.5), part("premise_only", 0.0, n_constant=5))
    assert verdict.verdict == "unsound"
    assert "one label" not in verdict.evidence


def test_one_seed_is_never_worth_more_than_two() -> None:
    assert judged(0.0, part("hypothesis_only", 0.5, n_runs=2)).verdict == "sound"
    verdict = judged(0.0, part("hypothesis_only", 0.5, n_runs=1))
    assert verdict.verdict == "not measurable"
    assert "there is one run" in verdict.evidence
    assert "several seeds" in verdict.next_step
    found = judged(0.2, part("hypothesis_only", 0.5, n_runs=1))
    assert found.verdict == "unsound"
    assert "One run: another seed may move it further." in found.evidence


def test_where_nothing_could_be_searched_nothing_is_said() -> None:
    verdict = artifacts(0.0, n_selected=0, n_mined=0)
    assert verdict.verdict == "not measurable"
    assert "too small to search" in verdict.evidence


@pytest.mark.parametrize(("majority", "word"), [(0.99, "unsound"), (1 / 3, "sound")])
def test_a_point_above_the_majority_counts_by_what_is_left_to_gain(majority: float, word: str) -> None:
    verdict = judge_leakage(
        condition="hypothesis_only",
        accuracy=majority + 0.01,
        majority=majority,
        improvement=0.01,
        low=0.005,
        high=0.015,
        n_seeds=5,
        n_test=9824,
        n_shared=0,
        limits=LeakageLimits(),
    )
    assert verdict.verdict == word


def test_two_runs_that_happen_to_agree_are_not_taken_for_a_steady_score() -> None:
    spread = replace(STEADY, n_runs=2, sd=0.001, sd_low=0.0004, sd_high=0.032)
    assert judge_instability([spread], InstabilityLimits()).verdict == "not measurable"


def test_instability_is_judged_by_the_least_stable() -> None:
    verdict = judge_instability([STEADY, HANS], InstabilityLimits())
    assert verdict.verdict == "unsound"
    assert "bert on hans" in verdict.evidence
    assert "137 independent" in verdict.evidence
    assert judge_instability([STEADY], InstabilityLimits()).verdict == "sound"


def test_runs_that_happen_to_agree_are_not_steady() -> None:
    equal = replace(STEADY, n_runs=3, n_examples=60, sd=0.0, sd_low=0.0, sd_high=0.0, design_effect=math.nan)
    verdict = judge_instability([equal], InstabilityLimits())
    assert verdict.verdict == "not measurable"
    assert (
        f"Equal scores may hide a true SD of up to {100 * sd_interval(1 / 60, 3).high:.2f} points" in verdict.evidence
    )
    assert judge_instability([replace(equal, n_runs=10, n_examples=9815)], InstabilityLimits()).verdict == "sound"


def test_sentences_follow_the_interval_of_the_design_effect() -> None:
    unsteady = judge_instability([HANS], InstabilityLimits())
    assert "137 independent" in unsteady.evidence
    assert "find the groups of examples that flip together" in unsteady.next_step
    apart = replace(HANS, design_effect=0.9, effective_size=33333.0, design_effect_low=0.6, design_effect_high=1.8)
    steady = judge_instability([apart], InstabilityLimits())
    assert "no tendency to flip together" in steady.evidence
    open_ = replace(HANS, design_effect=0.9, effective_size=33333.0, design_effect_low=0.3, design_effect_high=7.4)
    unknown = judge_instability([open_], InstabilityLimits())
    assert "leave open whether its examples flip together" in unknown.evidence
    for verdict in (steady, unknown):
        assert verdict.verdict == "unsound"
        assert "groups" not in verdict.next_step


def result(condition: str, spread: Spread, n_runs: int | None = None) -> dict[str, Any]:
    row = {"model": "m", "dataset": "d", "condition": condition, "name": condition, **spread.to_dict()}
    return {**row, "name": condition, "n_runs": spread.n_runs if n_runs is None else n_runs}


@pytest.mark.parametrize("whole", ["paired", "text"])
def test_a_part_of_the_input_never_decides_on_instability(whole: str) -> None:
    limits = InstabilityLimits()
    rows = [result("premise_only", HANS), result(whole, STEADY), result("shuffled", HANS)]
    assert judge_results(rows, limits).verdict == "sound"
    assert judge_results(rows, limits).evidence.startswith(f"{whole}: accuracy moves by 0.24 points")
    assert judge_results([result("premise_only", STEADY), result(whole, HANS)], limits).verdict == "unsound"
    parts = judge_results([result("premise_only", HANS), result("shuffled", HANS)], limits)
    assert parts.verdict == "not measurable"
    assert "only of premise_only, shuffled" in parts.evidence


def test_a_model_of_one_run_is_not_sound_beside_a_steady_one() -> None:
    limits = InstabilityLimits()
    beside = judge_results([result("paired", STEADY), result("paired", STEADY, n_runs=1)], limits)
    assert beside.verdict == "not measurable"
    assert "Only one run was given of paired" in beside.evidence
    assert judge_results([result("paired", HANS), result("paired", STEADY, n_runs=1)], limits).verdict == "unsound"


def test_a_large_design_effect_alone_is_a_reason_for_caution() -> None:
    assert judge_instability([replace(STEADY, design_effect=10.4)], InstabilityLimits()).verdict == "caution"


def test_few_runs_and_infinite_sizes_are_said_or_left_out() -> None:
    few = judge_instability([replace(HANS, n_runs=3, effective_size=math.inf)], InstabilityLimits())
    assert "From 3 runs" in few.evidence
    assert "inf" not in few.evidence
