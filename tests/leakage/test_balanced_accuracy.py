"""Balanced accuracy against scikit-learn, its invariants, and the coverage of its interval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

from goldassay import InputError
from goldassay.questions.leakage.measures.single_sentence import balanced_accuracy


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(2, 5))
@settings(max_examples=30)
def test_it_is_the_mean_over_runs_of_scikit_learns(seed: int, n_runs: int, n_labels: int) -> None:
    rng = np.random.default_rng(seed)
    gold = np.concatenate([np.arange(n_labels), rng.integers(0, n_labels, 40)])
    predictions = rng.integers(0, n_labels, (n_runs, gold.size))
    found = balanced_accuracy(predictions == gold, gold, n_draws=10)
    expected = np.mean([balanced_accuracy_score(gold, row) for row in predictions])
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.recalls.shape == (n_labels,)
    assert 0 <= found.low <= found.high <= 1


@pytest.mark.parametrize("share", [0.5, 0.9, 0.98])
def test_naming_one_label_is_worth_one_over_k(share: float) -> None:
    gold = (np.arange(1000) >= 1000 * share).astype(np.int64)
    found = balanced_accuracy(gold == 0, gold)
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_clusters_widen_the_interval() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(60), 20)
    gold = rng.integers(0, 2, groups.size)
    correct = rng.random(60)[groups] > 0.5
    alone, together = (balanced_accuracy(correct, gold, clusters=names) for names in (None, groups))
    assert together.value == alone.value
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_the_interval_covers() -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for draw in range(200):
        gold = (rng.random(600) < 0.1).astype(np.int64)
        correct = rng.random((3, 600)) < np.where(gold == 1, 0.4, 0.9)
        found = balanced_accuracy(correct, gold, seed=draw, n_draws=200)
        covered += found.low <= 0.65 <= found.high
    assert covered >= 180


def test_the_order_of_examples_does_not_matter_to_the_value() -> None:
    rng = np.random.default_rng(2)
    gold, correct = rng.integers(0, 3, 90), rng.random((2, 90)) < 0.6
    order = rng.permutation(90)
    assert balanced_accuracy(correct, gold).value == pytest.approx(
        balanced_accuracy(correct[:, order], gold[order]).value
    )


@pytest.mark.parametrize(
    ("correct", "gold"), [([[1, 0]], [0, 1, 1]), ([2.0, 0.0], [0, 1]), (np.zeros((0, 2)), [0, 1]), ([1, 0], [-1, 0])]
)
def test_what_does_not_fit_is_refused(correct: object, gold: list[int]) -> None:
    with pytest.raises(InputError):
        balanced_accuracy(correct, gold)  # type: ignore[arg-type]
