from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep

from goldassay.core.errors import InputError
from goldassay.shift import generalization_gap, label_constants
from tests.stated import says


def test_accuracy_of_one_run() -> None:
    own, other = np.r_[np.ones(80), np.zeros(20)], np.r_[np.ones(60), np.zeros(60)]
    found = generalization_gap({"SST-2": own, "IMDb": other}, train="SST-2")
    here, there = found.sets
    assert (here.test, here.value, here.gap, here.relative_gap) == ("SST-2", 0.8, 0, 0)
    assert (here.gap_low, here.gap_high) == (0, 0)
    assert (there.value, there.n) == (0.5, 120)
    assert there.gap == pytest.approx(0.3)
    assert there.relative_gap == pytest.approx(0.375)
    newcombe = confint_proportions_2indep(80, 100, 60, 120, method="newcomb", compare="diff")
    assert (there.gap_low, there.gap_high) == pytest.approx(newcombe)
    assert there.relative_low < 0.375 < there.relative_high
    assert "One run" in found.caveats[0]
    assert found["IMDb"] is there
    assert found.to_frame()["test"].to_list() == ["SST-2", "IMDb"]
    assert json.dumps(found.to_dict())
    with pytest.raises(KeyError):
        found["Yelp"]


def test_printed_figures_of_the_paper() -> None:
    # BERT-base trained on MNLI Telephone, in points: gap -.9 on Letters and .6 on Face-to-Face.
    sets = {name: np.arange(1000) < 10 * value for name, value in (("t", 81.4), ("l", 82.3), ("f", 80.8))}
    found = generalization_gap(sets)
    assert [round(100 * row.gap, 1) for row in found.sets] == [0, -0.9, 0.6]


def test_predictions_with_gold() -> None:
    rng = np.random.default_rng(0)
    gold = {"a": rng.integers(0, 3, 50), "b": rng.integers(0, 3, 40)}
    predictions = {name: rng.integers(0, 3, (4, values.size)) for name, values in gold.items()}
    correct = {name: predictions[name] == gold[name] for name in gold}
    named = {name: label_constants(labels) for name, labels in gold.items()}
    assert json.dumps(generalization_gap(predictions, gold=gold, n_draws=50).to_dict()) == json.dumps(
        generalization_gap(correct, constants=named, n_draws=50).to_dict()
    )


@pytest.mark.parametrize(("metric", "plain"), [("pearson", stats.pearsonr), ("spearman", stats.spearmanr)])
def test_correlations_equal_scipy(metric, plain) -> None:
    rng = np.random.default_rng(0)
    gold = {"MSRvid": rng.random(80) * 5, "Headlines": rng.random(60).round(1) * 5}
    predictions = {name: values + rng.normal(0, 1.5, (3, values.size)) for name, values in gold.items()}
    found = generalization_gap(predictions, gold=gold, metric=metric, n_draws=200)
    for row in found.sets:
        by_run = [plain(run, gold[row.test]).statistic for run in predictions[row.test]]
        assert row.value == pytest.approx(np.mean(by_run))
        assert row.sd == pytest.approx(np.std(by_run, ddof=1))
        assert row.low < row.value < row.high
    assert found.sets[1].gap == pytest.approx(found.sets[0].value - found.sets[1].value)


def test_interval_of_a_correlation_is_that_of_plain_resampling() -> None:
    rng = np.random.default_rng(0)
    gold = rng.random(100)
    predictions = gold + rng.normal(0, 0.3, 100)
    found = generalization_gap({"a": predictions}, gold={"a": gold}, metric="pearson", n_draws=2000)["a"]
    rows = rng.integers(0, 100, (2000, 100))
    plain = [stats.pearsonr(predictions[r], gold[r]).statistic for r in rows]
    assert (found.low, found.high) == pytest.approx(np.quantile(plain, [0.025, 0.975]), abs=0.02)


@pytest.mark.parametrize("metric", ["pearson", "spearman"])
def test_a_constant_correlates_with_nothing(metric) -> None:
    gold = {"a": np.arange(10.0), "b": np.arange(8.0), "c": np.ones(5)}
    predictions = {"a": np.arange(10.0) ** 2, "b": np.full(8, 2.5), "c": np.arange(5.0)}
    found = generalization_gap(predictions, gold=gold, metric=metric, n_draws=50)
    constant = found["b"]
    assert math.isnan(constant.value)
    assert math.isnan(constant.gap)
    assert math.isnan(constant.low)
    assert constant.reason == says("predictions on 'b'", "equal", "constant")
    assert "targets of 'c'" in found["c"].reason
    assert sum(found.skipped.values()) == 2
    assert found["a"].reason == ""
    of_two = generalization_gap({"b": [np.full(8, 1.0), np.arange(8.0)]}, gold=gold, metric=metric, n_draws=10)
    assert of_two["b"].reason.startswith("1 of 2 runs' predictions")


def test_nothing_is_relative_to_zero() -> None:
    found = generalization_gap({"a": [0, 0, 0], "b": [1, 0]}, n_draws=20)
    assert found["b"].gap == -0.5
    assert math.isnan(found["b"].relative_gap)
    assert "not significantly above 0" in found["b"].reason


def test_everything_right_keeps_an_interval() -> None:
    found = generalization_gap({"a": np.ones(20), "b": np.ones(10)})["b"]
    assert found.gap_low < -0.1
    assert found.gap_high > 0.2


def test_a_gap_is_not_cut_where_its_sides_are() -> None:
    # Draws of two runs leave [0, 1] on both sides together; their differences are those of any numbers.
    rng = np.random.default_rng(0)
    sets = {"a": rng.random((2, 300)) < [[0.7], [0.95]], "b": rng.random((2, 300)) < [[0.65], [0.9]]}
    shares, numbers = (generalization_gap(sets, metric=metric)["b"] for metric in ("accuracy", "mean"))
    assert numbers.high > 1
    assert shares.high == 1
    assert shares.gap_low not in (0, -1)
    assert (shares.gap_low, shares.gap_high) == pytest.approx((max(numbers.gap_low, -1), min(numbers.gap_high, 1)))
    # Two runs that differ so much may on average be right on nothing, and nothing is relative to that.
    assert math.isnan(shares.relative_high)


def test_runs_are_paired_over_the_sets() -> None:
    rng = np.random.default_rng(0)
    level = np.linspace(0.2, 0.8, 8)[:, None]
    sets = {name: level + 0.01 * rng.normal(size=(8, 400)) - offset for name, offset in (("a", 0), ("b", 0.1))}
    found = generalization_gap(sets, metric="mean", n_draws=500)["b"]
    assert found.gap == pytest.approx(0.1, abs=0.01)
    assert found.high - found.low > 0.2
    assert found.gap_high - found.gap_low < 0.01


def test_sets_are_named_and_ordered() -> None:
    sets = {"x": [1.0, 0.0], "y": [0.5, 1.0], "z": [1.0, 1.0]}
    found = generalization_gap(sets, "y", metric="f1", n_draws=10)
    assert [row.test for row in found.sets] == ["y", "x", "z"]
    assert found.in_distribution == "y"
    assert found.sets[1].gap == 0.25


@given(st.integers(0, 1000), st.integers(1, 3))
def test_identities(seed, n_runs) -> None:
    rng = np.random.default_rng(seed)
    sets = {"a": rng.random((n_runs, 9)), "b": rng.random((n_runs, 7)), "same": None}
    sets["same"] = sets["a"]
    found = generalization_gap(sets, metric="mean", n_draws=20, seed=seed)
    assert found["a"].gap == found["same"].gap == 0
    assert found["b"].gap == pytest.approx(found["a"].value - found["b"].value)
    # The score of two runs that differ may be 0.
    learned = found["a"].excess_low > 0
    relative = 1 - found["b"].value / found["a"].value if learned else math.nan
    assert found["b"].relative_gap == pytest.approx(relative, nan_ok=True)
    assert found["b"].loss == pytest.approx(relative, nan_ok=True)
    assert found.to_dict() == generalization_gap(sets, metric="mean", n_draws=20, seed=seed).to_dict()


@pytest.mark.parametrize(
    ("arguments", "settings", "problem"),
    [
        (({},), {}, "no evaluation set"),
        (({"a": []},), {}, "no scores on 'a'"),
        (({"a": [1, np.nan]},), {}, "not finite"),
        (({"a": [1, 2]},), {}, "reach from 1 to 2"),
        (({"a": [1, 0]}, "b"), {}, "no set 'b'"),
        (({"a": [[1, 0]], "b": [[1], [0]]},), {}, "of 1 runs, 'b' of 2"),
        (({"a": [1, 0]},), {"metric": "peason"}, "no metric 'peason'"),
        (({"a": [1, 0]},), {"metric": "pearson"}, "needs targets"),
        (({"a": [1, 0]},), {"gold": {"a": [1]}}, "2 predictions and 1 targets"),
        (({"a": [1, 0], "b": [1]},), {"gold": {"a": [1, 0]}}, "no targets of 'b'"),
        (({"a": [1, 0]},), {"gold": {"a": [1, 0]}, "metric": "f1"}, "mean of per-example scores"),
        (({"a": [1, 0]},), {"level": 0}, "level is 0"),
        (({"a": [1, 0]},), {"n_draws": 0}, "draws is 0"),
    ],
)
def test_bad_input(arguments, settings, problem) -> None:
    with pytest.raises(InputError, match=problem):
        generalization_gap(*arguments, **settings)


@pytest.mark.parametrize("metric", ["accuracy", "spearman"])
def test_clusters_are_drawn_whole(metric) -> None:
    rng = np.random.default_rng(0)
    once = rng.integers(0, 2, (1, 60)).astype(float)
    values, shared = once.repeat(8, axis=1), np.repeat(np.arange(60), 8)
    gold = None
    if metric == "spearman":
        values = once + rng.random((1, 60))
        gold = {"a": (values[0] + rng.random(60)).repeat(8), "b": rng.random(480)}
        values = values.repeat(8, axis=1)
    scores = {"a": values, "b": rng.random((1, 480)).round() if gold is None else rng.random((1, 480))}
    plain = generalization_gap(scores, gold=gold, metric=metric, n_draws=2000)["a"]
    clustered = generalization_gap(scores, gold=gold, clusters={"a": shared}, metric=metric, n_draws=2000)["a"]
    # Eight copies of an example tell what one tells.
    assert (clustered.high - clustered.low) / (plain.high - plain.low) == pytest.approx(8**0.5, rel=0.25)
    with pytest.raises(InputError, match="no set 'c'"):
        generalization_gap(scores, gold=gold, clusters={"c": shared}, metric=metric)


def test_few_runs_say_so() -> None:
    scores = np.random.default_rng(0).integers(0, 2, (4, 30))
    assert "4 runs" in generalization_gap({"a": scores, "b": scores}).caveats[0]
