from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

from goldassay.errors import InputError
from goldassay.subsets import measure_gap


def made(n_runs=4):
    rng = np.random.default_rng(0)
    classes = rng.choice(["easy", "hard", "conflicting", "uncovered"], 3000, p=[0.2, 0.1, 0.1, 0.6])
    rate = np.select([classes == "easy", classes == "hard"], [0.9, 0.5], 0.7)
    return rng.random((n_runs, 3000)) < rate, classes


def test_definitions():
    correct, classes = made()
    gap = measure_gap(correct, classes)
    assert [row.subset for row in gap.subsets] == ["full", "easy", "hard"]
    assert gap["easy"].accuracy == pytest.approx(correct[:, classes == "easy"].mean())
    assert gap["full"].accuracy == pytest.approx(correct.mean())
    assert gap.delta == pytest.approx(gap["easy"].accuracy - gap["hard"].accuracy)
    assert gap.delta_low < gap.delta < gap.delta_high
    assert gap["hard"].n_examples == (classes == "hard").sum()
    assert gap["hard"].sd == pytest.approx(correct[:, classes == "hard"].mean(axis=1).std(ddof=1))


def test_interval_of_one_run_is_that_of_two_samples():
    correct, classes = made(1)
    gap = measure_gap(correct[0], classes, n_draws=5000)
    easy, hard = (correct[0, classes == name].astype(float) for name in ("easy", "hard"))
    half = 1.96 * math.sqrt(easy.var() / easy.size + hard.var() / hard.size)
    assert (gap.delta_high - gap.delta_low) / 2 == pytest.approx(half, rel=0.07)
    expected = stats.binomtest(int(easy.sum()), easy.size).proportion_ci(method="wilson")
    assert (gap["easy"].accuracy_low, gap["easy"].accuracy_high) == pytest.approx((expected.low, expected.high))
    assert math.isnan(gap["easy"].sd)


def test_a_shift_common_to_both_subsets_does_not_widen_the_gap():
    rng = np.random.default_rng(3)
    classes = np.repeat(["easy", "hard"], 5000)
    rate = np.where(classes == "easy", 0.7, 0.5) + np.linspace(-0.2, 0.2, 6)[:, np.newaxis]
    gap = measure_gap(rng.random((6, 10000)) < rate, classes, n_draws=500)
    assert gap.delta_high - gap.delta_low < 0.3 * (gap["easy"].accuracy_high - gap["easy"].accuracy_low)


def test_empty_subset_is_a_reason():
    correct, classes = made()
    classes[classes == "hard"] = "uncovered"
    gap = measure_gap(correct, classes)
    assert math.isnan(gap.delta)
    assert math.isnan(gap.delta_low)
    assert gap.reason == gap["hard"].reason == "no example is hard"
    assert gap["easy"].accuracy > 0.8
    assert json.loads(json.dumps(gap.to_dict()))["delta"] is None


def test_more_subsets_and_frame():
    correct, classes = made()
    gap = measure_gap(correct, classes, subsets=("easy", "hard", "conflicting", "uncovered"))
    frame = gap.to_frame()
    assert frame["subset"].to_list() == ["full", "easy", "hard", "conflicting", "uncovered"]
    assert frame["n_examples"][1:].sum() == frame["n_examples"][0]
    assert measure_gap(correct, classes) == measure_gap(correct, classes)
    with pytest.raises(KeyError):
        gap["medium"]


@pytest.mark.parametrize(
    ("correct", "classes", "subsets"),
    [
        ([1, 0], ["easy"], ("easy", "hard")),
        ([], [], ("easy", "hard")),
        ([1], ["easy"], ("easy",)),
        ([1], ["a"], ("full", "a")),
    ],
)
def test_refuses(correct, classes, subsets):
    with pytest.raises(InputError):
        measure_gap(correct, classes, subsets=subsets)
