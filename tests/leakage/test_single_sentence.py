from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.leakage import ConditionAccuracy, single_sentence_report, withhold_shares


def made(seed: int = 0, n: int = 2000, n_runs: int = 5, rates=None):
    rng = np.random.default_rng(seed)
    gold = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    rates = rates or {"paired": 0.8, "premise_only": 0.5, "hypothesis_only": 0.65}
    return {name: rng.random((n_runs, n)) < rate for name, rate in rates.items()}, gold


def test_definitions():
    correct, gold = made()
    report = single_sentence_report(correct, gold, label_names=("a", "b", "c"))
    majority = (gold == 0).mean()
    assert report.majority == majority
    assert report.majority_label == "a"
    assert [row.condition for row in report.conditions] == list(correct)
    for row in report.conditions:
        assert row.accuracy == pytest.approx(correct[row.condition].mean())
        assert row.improvement == pytest.approx(correct[row.condition].mean() - majority)
        assert row.recovered == pytest.approx(correct[row.condition].mean() / correct["paired"].mean())
        assert row.sd == pytest.approx(correct[row.condition].mean(axis=1).std(ddof=1))
        assert row.n_runs == 5
        assert row.reason == ""
    assert report.maximum is report["hypothesis_only"]
    assert report["paired"].recovered == report["paired"].recovered_low == report["paired"].recovered_high == 1


@pytest.mark.parametrize(
    ("paired", "majority", "single", "recovered", "improvement"),
    [(0.878, 0.560, 0.600, 0.683, 0.040), (0.906, 0.338, 0.716, 0.790, 0.378), (0.500, 0.334, 0.481, 0.962, 0.147)],
    ids=["SICK", "SNLI", "ANLI A2"],
)
def test_rows_of_the_corrected_table(paired, majority, single, recovered, improvement):
    def share(rate):
        return np.arange(1000) < round(1000 * rate)

    gold = np.where(share(majority), 0, 1 + np.arange(1000) % 2)
    report = single_sentence_report({"paired": share(paired), "hypothesis_only": share(single)}, gold)
    row = report["hypothesis_only"]
    assert row.recovered == pytest.approx(recovered, abs=6e-4)
    assert row.improvement == pytest.approx(improvement, abs=1e-9)


def test_single_run_has_a_wilson_interval():
    correct, gold = made(n_runs=1)
    row = single_sentence_report(correct, gold)["premise_only"]
    k = int(correct["premise_only"].sum())
    expected = stats.binomtest(k, gold.size).proportion_ci(method="wilson")
    assert (row.accuracy_low, row.accuracy_high) == pytest.approx((expected.low, expected.high))
    assert math.isnan(row.sd)
    assert single_sentence_report({n: c[0] for n, c in correct.items()}, gold)["premise_only"].accuracy == row.accuracy


def test_interval_of_improvement_agrees_with_the_normal_one_for_one_run():
    correct, gold = made(n_runs=1, n=4000)
    row = single_sentence_report(correct, gold, n_draws=4000)["hypothesis_only"]
    difference = correct["hypothesis_only"][0].astype(float) - (gold == 0)
    half = 1.96 * difference.std(ddof=1) / np.sqrt(gold.size)
    assert row.improvement_high - row.improvement == pytest.approx(half, rel=0.1)
    assert row.improvement - row.improvement_low == pytest.approx(half, rel=0.1)


def test_ends_of_gains_by_hand():
    """Whatever examples are drawn, always naming the majority gains 0."""
    gold = np.array([0] * 6 + [1] * 4)
    correct = {"paired": [np.ones(10)] * 2, "always": [gold == 0] * 2, "never": [np.zeros(10)] * 2}
    report = single_sentence_report(correct, gold)
    gains = {row.condition: (row.improvement, row.improvement_low, row.improvement_high) for row in report.conditions}
    assert gains["always"] == pytest.approx((0, 0, 0))
    # Right on all: 1 - majority; of ten draws of a label with share .6 between 3 and 9 are it in 95 of 100: .1 to .7.
    assert gains["paired"] == pytest.approx((0.4, 0.1, 0.7))
    assert gains["never"] == pytest.approx((-0.6, -0.9, -0.3))


def test_interval_covers_the_noise_of_seeds():
    # Each run is right or wrong on everything alike: the spread over seeds is all the noise there is.
    rng = np.random.default_rng(1)
    rates = np.array([0.5, 0.6, 0.7, 0.8, 0.55, 0.75])
    correct = {"hypothesis_only": rng.random((6, 5000)) < rates[:, np.newaxis]}
    gold = rng.integers(0, 3, 5000)
    row = single_sentence_report(correct, gold, n_draws=4000)["hypothesis_only"]
    # Of six runs, whose own spread is uncertain: the quantile of t with 5 degrees of freedom.
    standard_error = correct["hypothesis_only"].mean(axis=1).std(ddof=1) / np.sqrt(6)
    assert (row.accuracy_high - row.accuracy_low) / 2 == pytest.approx(2.571 * standard_error, rel=0.1)


def test_coverage_with_new_examples_and_new_seeds():
    hits = 0
    for trial in range(60):
        rng = np.random.default_rng(trial)
        rates = np.clip(rng.beta(6, 4, 300) + rng.normal(0, 0.03, (5, 1)), 0, 1)
        correct = rng.random((5, 300)) < rates
        row = single_sentence_report({"hypothesis_only": correct}, rng.integers(0, 2, 300), n_draws=300)
        hits += row.conditions[0].accuracy_low <= 0.6 <= row.conditions[0].accuracy_high
    assert hits >= 50


def test_missing_and_zero_paired_accuracy_are_reasons():
    correct, gold = made()
    del correct["paired"]
    row = single_sentence_report(correct, gold)["premise_only"]
    assert math.isnan(row.recovered)
    assert "no paired" in row.reason
    correct["paired"] = np.zeros((2, gold.size))
    row = single_sentence_report(correct, gold)["premise_only"]
    assert math.isnan(row.recovered)
    assert "0" in row.reason


def test_recovered_may_exceed_one():
    correct, gold = made(rates={"paired": 0.4, "hypothesis_only": 0.6})
    assert single_sentence_report(correct, gold)["hypothesis_only"].recovered > 1


def test_single_texts_say_what_does_not_apply():
    correct, gold = made(rates={"text": 0.7})
    report = single_sentence_report(correct, gold)
    assert report.maximum is None
    assert "does not apply" in report.note
    assert math.isnan(report["text"].recovered)
    assert report["text"].improvement == pytest.approx(correct["text"].mean() - report.majority)


def test_train_majority_may_differ():
    correct, gold = made()
    report = single_sentence_report(correct, gold, train_gold=[2, 2, 1], label_names=("a", "b", "c"))
    assert report.train_majority_label == "c"
    assert report.train_majority_accuracy == (gold == 2).mean()
    without = single_sentence_report(correct, gold)
    assert without.train_majority_label is None
    assert math.isnan(without.train_majority_accuracy)


def test_frame_and_json():
    correct, gold = made()
    report = single_sentence_report(correct, gold)
    frame = report.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == [field.name for field in dataclasses.fields(ConditionAccuracy)]
    assert json.loads(json.dumps(report.to_dict()))["conditions"][1]["condition"] == "premise_only"


def test_same_seed_same_report():
    correct, gold = made()
    first, again, other = (single_sentence_report(correct, gold, seed=seed) for seed in (3, 3, 4))
    assert first.to_dict() == again.to_dict()
    assert first["paired"].accuracy_low != other["paired"].accuracy_low


@given(
    st.integers(1, 30).flatmap(
        lambda n: st.tuples(
            hnp.arrays(np.int64, n, elements=st.integers(0, 2)),
            st.integers(1, 4).flatmap(lambda r: hnp.arrays(np.bool_, (r, n))),
            st.integers(1, 4).flatmap(lambda r: hnp.arrays(np.bool_, (r, n))),
        )
    )
)
def test_always_within_bounds(case):
    gold, paired, single = case
    report = single_sentence_report({"paired": paired, "hypothesis_only": single}, gold, n_draws=40)
    for row in report.conditions:
        assert 0 <= row.accuracy_low <= row.accuracy_high <= 1
        assert row.improvement_low <= row.improvement_high
        assert row.accuracy - 1 <= row.improvement <= row.accuracy
        assert math.isnan(row.recovered) == bool(row.reason)


@pytest.mark.parametrize(
    ("correct", "gold", "problem"),
    [
        ({}, [0, 1], "no condition"),
        ({"paired": [1, 0, 1]}, [0, 1], "shape"),
        ({"paired": [1, 2]}, [0, 1], "outside"),
        ({"paired": [1, float("nan")]}, [0, 1], "outside"),
        ({"paired": [1, 0]}, [0, -1], "negative"),
        ({"paired": []}, [], "at least one"),
        ({"paired": [1.0]}, [0.5], "whole numbers"),
    ],
)
def test_refuses(correct, gold, problem):
    with pytest.raises(InputError, match=problem):
        single_sentence_report(correct, gold)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"correct": None}, "of no condition"),
        ({"correct": {"paired": ["a", "b"]}}, "hold <U1, no real numbers"),
        ({"n_draws": 0}, "n_draws is 0"),
        ({"n_draws": 1.5}, "n_draws is 1.5"),
        ({"seed": -1}, "seed is -1"),
        ({"level": 2}, "level is 2"),
        ({"label_names": []}, "code 0 is there, and 0 label names"),
        ({"train_gold": [7], "label_names": ["a", "b"]}, "code 7 is there, and 2 label names"),
    ],
)
def test_settings_out_of_range_are_named(settings, problem):
    with pytest.raises(InputError, match=problem):
        single_sentence_report(**{"correct": {"paired": [1, 0]}, "gold": [0, 1], **settings})


def test_unknown_condition_is_a_key_error():
    correct, gold = made()
    with pytest.raises(KeyError):
        single_sentence_report(correct, gold)["context_only"]


def test_clusters_are_drawn_whole():
    rng = np.random.default_rng(0)
    premise = np.arange(1000) // 10
    correct = {"part": (rng.random((1, 100)) < 0.6).repeat(10, axis=1)}
    gold = rng.integers(0, 3, 1000)
    row = single_sentence_report(correct, gold, clusters=premise)["part"]
    standard_error = correct["part"][0, ::10].std() / 10
    assert row.accuracy_high - row.accuracy_low == pytest.approx(2 * 1.96 * standard_error, rel=0.1)
    assert "clusters" in single_sentence_report(correct, gold, clusters=premise).interval_method


def test_few_runs_say_so():
    gold = np.arange(30) % 3
    many, few = np.ones((8, 30)), np.ones((3, 30))
    assert "3 runs" in single_sentence_report({"paired": many, "part": few}, gold).caveats[0]
    (said,) = single_sentence_report({"paired": many, "part": few[:1]}, gold).caveats
    assert said.startswith("One run of part")
    assert not single_sentence_report({"paired": many, "part": few[:1]}, gold, fixed=["part"]).caveats
    assert not single_sentence_report({"paired": many, "part": many}, gold).caveats


def departure_by_loops(decided, gold):
    """Of decisions on two labels, the plain definition."""
    found = []
    for label in set(gold.tolist()):
        own = [d != label for d, g in zip(decided, gold, strict=True) if g == label]
        other = [d != label for d, g in zip(decided, gold, strict=True) if g != label]
        found.append(max(sum(own) / len(own), sum(other) / len(other) if other else 0.0))
    return min(found)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.02, 0.3, 0.5, 0.9, 1.0]))
def test_departure_is_that_of_the_decisions(seed, rate):
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 2, 40)
    decided = (rng.random((3, 40)) < rate).astype(int)
    row = single_sentence_report({"part": decided == gold}, gold, n_draws=2)["part"]
    expected = [departure_by_loops(run, gold) for run in decided]
    assert row.departure == pytest.approx(np.mean(expected))
    assert row.n_constant == sum(len(set(run.tolist())) == 1 for run in decided)


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_no_improvement_goes_beyond_the_departure(seed, rate):
    rng = np.random.default_rng(seed)
    gold = rng.choice(4, 60, p=[0.4, 0.3, 0.2, 0.1])
    decided = np.where(rng.random((3, 60)) < rate, gold, rng.integers(0, 4))
    row = single_sentence_report({"part": decided == gold}, gold, n_draws=2)["part"]
    assert row.improvement <= row.departure * (1 - row.majority) + 1e-12


def test_a_model_of_one_label_recovers_no_share():
    correct, gold = made()
    constant = np.tile(gold == 1, (5, 1))
    report = single_sentence_report({**correct, "hypothesis_only": constant}, gold)
    row = report["hypothesis_only"]
    assert (row.departure, row.n_constant) == (0, 5)
    assert math.isnan(row.recovered)
    assert "one label only" in row.reason
    assert report["premise_only"].reason == ""
    assert any("hypothesis_only: 5 of 5 runs" in said for said in report.caveats)
    some = np.vstack([constant[:2], correct["hypothesis_only"][:3]])
    partly = single_sentence_report({**correct, "hypothesis_only": some}, gold)
    assert partly["hypothesis_only"].n_constant == 2
    assert partly["hypothesis_only"].recovered > 0
    assert any("2 of 5 runs" in said for said in partly.caveats)


def test_of_a_pair_model_of_one_label_no_share_is_recovered():
    correct, gold = made()
    report = single_sentence_report({**correct, "paired": np.tile(gold == 0, (5, 1))}, gold)
    assert all(math.isnan(row.recovered) and "paired model names one label" in row.reason for row in report.conditions)


def test_shares_of_an_idle_pair_model_are_withheld():
    correct, gold = made(rates={"paired": 0.505, "hypothesis_only": 0.6})
    report = single_sentence_report(correct, gold)
    assert report["paired"].improvement_low < 0
    assert report["hypothesis_only"].recovered > 1
    assert any("so shares recovered say nothing" in said for said in report.caveats)
    told = withhold_shares(report)
    assert all(math.isnan(row.recovered) and row.reason for row in told.conditions)
    assert told["hypothesis_only"].accuracy == report["hypothesis_only"].accuracy
    assert told.maximum is told["hypothesis_only"]
    sure = single_sentence_report(made()[0], gold)
    assert withhold_shares(sure) is sure
