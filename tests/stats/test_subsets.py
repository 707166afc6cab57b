from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.stats.subsets import accuracy_by_subset


def made(n_runs=4):
    rng = np.random.default_rng(0)
    classes = rng.choice(["easy", "hard", "uncovered"], 3000, p=[0.2, 0.2, 0.6])
    rate = np.select([classes == "easy", classes == "hard"], [0.9, 0.5], 0.7)
    subsets = {"full": np.full(3000, True), **{name: classes == name for name in ("easy", "hard")}}
    return rng.random((n_runs, 3000)) < rate, subsets


def test_definitions():
    correct, subsets = made()
    gap = accuracy_by_subset(correct, subsets)
    assert [row.subset for row in gap.subsets] == ["full", "easy", "hard"]
    assert gap["easy"].accuracy == pytest.approx(correct[:, subsets["easy"]].mean())
    assert gap["full"].accuracy == pytest.approx(correct.mean())
    assert gap.delta == pytest.approx(gap["easy"].accuracy - gap["hard"].accuracy)
    assert gap.delta_low < gap.delta < gap.delta_high
    assert gap["hard"].n == subsets["hard"].sum()
    assert gap["hard"].sd == pytest.approx(correct[:, subsets["hard"]].mean(axis=1).std(ddof=1))


def test_interval_of_one_run_is_that_of_two_samples():
    correct, subsets = made(1)
    gap = accuracy_by_subset(correct[0], subsets, n_draws=5000)
    easy, hard = (correct[0, subsets[name]].astype(float) for name in ("easy", "hard"))
    half = 1.96 * math.sqrt(easy.var() / easy.size + hard.var() / hard.size)
    assert (gap.delta_high - gap.delta_low) / 2 == pytest.approx(half, rel=0.07)
    expected = stats.binomtest(int(easy.sum()), easy.size).proportion_ci(method="wilson")
    assert (gap["easy"].low, gap["easy"].high) == pytest.approx((expected.low, expected.high))
    assert math.isnan(gap["easy"].sd)


def test_a_shift_common_to_both_subsets_does_not_widen_the_gap():
    rng = np.random.default_rng(3)
    classes = np.repeat(["easy", "hard"], 5000)
    rate = np.where(classes == "easy", 0.7, 0.5) + np.linspace(-0.2, 0.2, 6)[:, np.newaxis]
    subsets = {name: classes == name for name in ("easy", "hard")}
    gap = accuracy_by_subset(rng.random((6, 10000)) < rate, subsets, n_draws=500)
    assert gap.delta_high - gap.delta_low < 0.3 * (gap["easy"].high - gap["easy"].low)


def test_empty_subset_is_a_reason():
    correct, subsets = made()
    subsets["hard"] = np.full(3000, False)
    gap = accuracy_by_subset(correct, subsets)
    assert math.isnan(gap.delta)
    assert math.isnan(gap.delta_low)
    assert gap.reason == gap["hard"].reason == "no example is hard"
    assert gap["easy"].accuracy > 0.8
    assert json.loads(json.dumps(gap.to_dict()))["delta"] is None


def test_other_subsets_and_frame():
    correct, subsets = made()
    subsets = {"long": subsets["easy"], "short": ~subsets["easy"]}
    result = accuracy_by_subset(correct, subsets, gap=("short", "long"))
    frame = result.to_frame()
    assert frame.columns == ["subset", "n", "accuracy", "low", "high", "sd", "reason"]
    assert frame["subset"].to_list() == ["long", "short"]
    assert frame["n"].sum() == 3000
    assert result.delta == pytest.approx(result["short"].accuracy - result["long"].accuracy)
    assert accuracy_by_subset(correct, subsets, gap=("short", "long")) == result
    with pytest.raises(KeyError):
        result["medium"]


@pytest.mark.parametrize(
    ("correct", "subsets", "problem"),
    [
        ([1, 0], {"easy": [True], "hard": [False]}, "shape"),
        ([], {"easy": [], "hard": []}, "one or more"),
        ([1, 0], {"easy": [True, False]}, "'hard'"),
        ([1, 0], {"easy": [True, False], "hard": [True, True]}, "overlap"),
    ],
)
def test_refuses(correct, subsets, problem):
    with pytest.raises(InputError, match=problem):
        accuracy_by_subset(correct, subsets)


def test_clusters_are_drawn_whole_and_for_both_subsets():
    rng = np.random.default_rng(0)
    easy = np.arange(1000) % 2 == 0
    subsets = {"easy": easy, "hard": ~easy}
    # Five easy and five hard examples of a premise, which is understood or not.
    premise = np.arange(1000) // 10
    correct = (rng.random((1, 100)) < 0.6).repeat(10, axis=1).astype(float)
    alone = accuracy_by_subset(correct, subsets, clusters=np.arange(1000))
    together = accuracy_by_subset(correct, subsets, clusters=premise)
    standard_error = correct[0, ::10].std() / 10
    assert together["easy"].high - together["easy"].low == pytest.approx(2 * 1.96 * standard_error, rel=0.1)
    assert alone["easy"].high - alone["easy"].low == pytest.approx(2 * 1.96 * standard_error / 5**0.5, rel=0.1)
    # Understanding a premise helps both alike, so the gap is certain.
    assert (together.delta_low, together.delta_high) == pytest.approx((0, 0), abs=1e-12)
    assert alone.delta_high - alone.delta_low > 0.1
    assert "clusters" in together.interval_method


def test_few_runs_say_so():
    correct, subsets = made()
    assert "2 runs" in accuracy_by_subset(np.repeat(np.atleast_2d(correct)[:1], 2, axis=0), subsets).caveats[0]
    assert not accuracy_by_subset(np.atleast_2d(correct)[:1], subsets).caveats
