"""Floors and losses against brute force, resampling and other references."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.shift import generalization_gap, label_constants
from goldassay.stats.effects import (
    ACCURACY,
    BALANCED,
    INFORMATION,
    Limits,
    ReaderPredictions,
    measure_effects,
)
from tests.stated import says

LIMITS = {name: Limits(0.03, 0.12) for name in (ACCURACY, BALANCED, INFORMATION)}


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60))
def test_the_best_constant_is_the_most_frequent_label(labels: list[int]) -> None:
    constants = label_constants(labels)
    by_hand = max(sum(label == each for label in labels) / len(labels) for each in labels)
    assert constants.mean(axis=1).max() == pytest.approx(by_hand)
    # Whatever label is named, if it is left out it is right at most half as often as the best.
    assert all(
        2 * labels.count(label) <= max(labels.count(each) for each in labels)
        for label in set(labels)
        if not any(np.array_equal(row, np.array(labels) == label) for row in constants)
    )


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.1), (0.34, 0.33, 0.33), (0.6, 0.3, 0.1)])
@pytest.mark.parametrize("accuracy", [0.55, 0.92])
def test_the_excess_of_accuracy_is_the_skill_of_leakage(shares: tuple[float, ...], accuracy: float) -> None:
    rng = np.random.default_rng(7)
    gold = rng.choice(len(shares), 800, p=shares)
    said = np.where(rng.random(800) < accuracy, gold, (gold + 1) % len(shares))
    (row,) = generalization_gap({"a": said}, gold={"a": gold}, n_draws=2000).sets
    effects = measure_effects([ReaderPredictions("all", "model", said[np.newaxis])], gold, len(shares), LIMITS)
    skill = effects.effects[0]
    largest = np.bincount(gold).max() / gold.size
    assert row.floor == pytest.approx(np.bincount(gold)[list(effects.contenders)].mean() / gold.size)
    assert row.excess_low == pytest.approx(skill.ordinary_low * (1 - largest), abs=0.006)
    assert row.excess_high == pytest.approx(skill.high * (1 - largest), abs=0.006)


def test_the_ends_of_an_excess_are_those_of_every_label_by_hand() -> None:
    """The lower end is the least over all labels, each by plain resampling of paired differences."""
    rng = np.random.default_rng(1)
    gold = rng.integers(0, 3, 400)
    said = np.where(rng.random(400) < 0.6, gold, rng.integers(0, 3, 400))
    (row,) = generalization_gap({"a": said}, gold={"a": gold}, n_draws=4000).sets
    differences = [(said == gold) * 1.0 - (gold == label) for label in range(3)]
    drawn = rng.integers(0, 400, (4000, 400))
    lows = [each.mean() - 1.96 * each[drawn].mean(axis=1).std() for each in differences]
    assert row.excess_low == pytest.approx(min(lows), abs=0.006)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.1), (0.34, 0.33, 0.33)])
def test_a_guesser_is_hardly_ever_taken_for_a_model_that_knows(shares: tuple[float, ...]) -> None:
    rng = np.random.default_rng(3)
    sure = 0
    for _ in range(300):
        gold = rng.choice(len(shares), 300, p=shares)
        (row,) = generalization_gap({"a": rng.permutation(gold)}, gold={"a": gold}, n_draws=100).sets
        sure += row.excess_low > 0
    # One-sided 2.5 % at most; 16 of 300 is its upper 99.9 % bound.
    assert sure <= 16


@pytest.mark.parametrize("metric", ["pearson", "spearman"])
@pytest.mark.parametrize("n_runs", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_correlations_of_nothing_are_hardly_ever_above_zero(metric: str, n_runs: int) -> None:
    rng = np.random.default_rng(5)
    rows = [
        generalization_gap({"a": rng.random((n_runs, 40))}, gold={"a": rng.random(40)}, metric=metric, n_draws=60)["a"]  # type: ignore[arg-type]
        for _ in range(200)
    ]
    assert {row.floor for row in rows} == {0.0}
    assert sum(row.excess_low > 0 for row in rows) <= 12


@pytest.mark.slow
def test_losses_cover_the_truth() -> None:
    """Accuracy .8 on own, .7 on other, balanced: a third of what lies above the floor is lost."""
    rng = np.random.default_rng(11)
    covered, below = 0, 0
    for seed in range(200):
        gold = {name: np.arange(600) % 2 for name in ("own", "far")}
        said = {
            name: np.where(rng.random((3, 600)) < accuracy, labels, 1 - labels)
            for (name, labels), accuracy in zip(gold.items(), (0.8, 0.7), strict=True)
        }
        row = generalization_gap(said, gold=gold, seed=seed, n_draws=200)["far"]
        covered += row.loss_low <= 1 / 3 <= row.loss_high
        below += row.loss_high < 1 / 3
        assert row.loss == pytest.approx(row.gap / (said["own"] == gold["own"]).mean() * 1 / (1 - 0.5 / (
            said["own"] == gold["own"]).mean()))  # fmt: skip
    assert covered >= 184
    assert below <= 10


def test_labels_that_are_easier_to_guess_make_up_for_nothing() -> None:
    """Right on 90 % of both sets; on the second always naming one label is right as often."""
    rng = np.random.default_rng(2)
    own, far = np.arange(2000) % 2, (np.arange(2000) % 10 == 0).astype(int)
    said = {"own": np.where(rng.random(2000) < 0.9, own, 1 - own), "far": np.zeros(2000, dtype=int)}
    row = generalization_gap(said, gold={"own": own, "far": far})["far"]
    assert abs(row.loss) < 0.1
    assert row.excess == 0
    assert row.excess_loss == pytest.approx(1)
    assert row.excess_loss_high > 0.9


def test_no_loss_is_given_of_what_was_not_learned() -> None:
    rng = np.random.default_rng(0)
    gold = {name: np.arange(300) % 2 for name in ("own", "far")}
    guessed = {name: rng.integers(0, 2, 300) for name in gold}
    row = generalization_gap(guessed, gold=gold)["far"]
    for name in ("loss", "loss_low", "loss_high", "excess_loss", "relative_gap", "relative_low", "relative_high"):
        assert math.isnan(getattr(row, name)), name
    assert math.isfinite(row.gap)
    assert row.reason == says("accuracy on 'own'", "not significantly above", "50.0")


def test_without_labels_the_floor_is_not_known() -> None:
    row = generalization_gap({"own": np.arange(100) < 80, "far": np.arange(100) < 60})["far"]
    assert math.isnan(row.floor)
    assert math.isnan(row.loss)
    assert row.relative_gap == pytest.approx(0.25)


def test_the_lower_ends_of_several_losses_hold_at_once() -> None:
    rng = np.random.default_rng(0)
    gold = {name: np.arange(500) % 2 for name in ("own", "far", "farther")}
    said = {name: np.where(rng.random(500) < 0.8, each, 1 - each) for name, each in gold.items()}
    alone, both, many = (generalization_gap(said, gold=gold, together=n)["far"] for n in (1, 2, 40))
    assert many.loss_low < both.loss_low < alone.loss_low
    assert many.loss_high == both.loss_high == alone.loss_high
    assert generalization_gap(said, gold=gold)["far"] == both


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_a_floor_never_exceeds_the_best_constant_and_ends_are_in_order(seed: int, n_runs: int) -> None:
    rng = np.random.default_rng(seed)
    gold = {name: rng.integers(0, 3, 40) for name in ("own", "far")}
    said = {name: np.where(rng.random((n_runs, 40)) < 0.8, each, 0) for name, each in gold.items()}
    for row in generalization_gap(said, gold=gold, n_draws=50).sets:
        assert row.floor <= np.bincount(gold[row.test]).max() / 40 + 1e-12
        assert row.excess_low <= row.excess <= row.excess_high
        if not math.isnan(row.loss_low):
            assert row.loss_low <= row.loss <= row.loss_high


def test_a_declared_floor_of_a_mean_moves_the_loss_and_not_the_gap() -> None:
    rng = np.random.default_rng(0)
    scores = {"own": rng.uniform(4, 5, 300), "far": rng.uniform(3.9, 4.9, 300)}
    undeclared, declared = (
        generalization_gap(scores, metric="mean", constants=constants, n_draws=200)["far"]
        for constants in (None, {name: np.full(300, 3.0) for name in scores})
    )
    assert (declared.floor, undeclared.floor) == (3, 0)
    assert declared.gap == undeclared.gap
    own = scores["own"].mean()
    assert declared.loss == pytest.approx(declared.gap / (own - 3))
    assert undeclared.loss == pytest.approx(declared.gap / own)
    assert declared.excess_low < declared.excess == pytest.approx(scores["far"].mean() - 3)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"constants": {"a": [[1, 0]]}}, "'a' has 3 scores and 2 of constant answers"),
        ({"constants": {"a": [2, 0, 0]}}, "no fractions"),
        ({"constants": {"a": [1, 0]}, "metric": "mean"}, "'a' has 3 scores and 2 of constant answers"),
        ({"together": 0}, "together is 0"),
    ],
)
def test_bad_input(given: dict[str, object], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        generalization_gap({"a": [1, 0, 1]}, **given)  # type: ignore[arg-type]
