from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.instability import compare, examples_to_exceed, score_above_constant
from goldassay.stats.intervals import t_interval


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(2, 4))
def test_it_is_the_least_of_the_comparisons_with_each_constant(seed: int, n_runs: int, n_labels: int) -> None:
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, n_labels, 60)
    scores = (rng.random((n_runs, 60)) < rng.random(60)).astype(float)
    found = score_above_constant(scores, gold)
    shares = np.bincount(gold) / 60
    assert found.constant == shares.argmax()
    assert found.constant_score == shares.max()
    lows = []
    for label in range(len(shares)):
        # A constant answer has no noise of runs: matched with equal runs, the differences have that of the model.
        constant = np.repeat((gold == label)[np.newaxis].astype(float), n_runs, axis=0)
        pair = compare(scores, constant, matched=True, n_draws=1)
        lows.append(t_interval(pair.difference, pair.var_total, pair.degrees_of_freedom, 0.95).low)
    assert found.low == pytest.approx(min(lows), abs=1e-9)


def test_a_model_that_guesses_is_seldom_above_every_constant() -> None:
    rng, above = np.random.default_rng(0), 0
    for _ in range(1000):
        gold = rng.integers(0, 3, 200)
        above += score_above_constant((rng.integers(0, 3, (5, 200)) == gold).astype(float), gold).low > 0
    assert above <= 35


def test_edges() -> None:
    gold = np.zeros(50, dtype=int)
    assert score_above_constant(np.ones((5, 50)), gold).low == 0
    balanced = np.arange(50) % 2
    assert score_above_constant(np.ones((5, 50)), balanced).low > 0.3
    nothing = score_above_constant(np.zeros((5, 50)))
    assert (nothing.constant, nothing.constant_score, nothing.low) == (None, 0, 0)
    assert score_above_constant(np.full((5, 50), 0.2)).low == pytest.approx(0.2)
    with pytest.raises(InputError, match="one example"):
        score_above_constant(np.ones((2, 1)))
    with pytest.raises(InputError, match="gold has shape"):
        score_above_constant(np.ones((2, 5)), np.zeros(4, dtype=int))


def test_as_many_examples_as_are_asked_for_would_do() -> None:
    gold = np.arange(100) % 2
    scores = np.repeat((np.arange(100) % 25 < 14)[np.newaxis].astype(float), 2, axis=0)
    found = score_above_constant(scores, gold)
    assert found.low < 0 < found.score - found.constant_score
    needed = examples_to_exceed(found)
    assert needed is not None
    for factor, enough in ((0.9, False), (1.15, True)):
        times = round(factor * needed / 100)
        more = score_above_constant(np.tile(scores, times), np.tile(gold, times))
        assert (more.low > 0) == enough
    assert examples_to_exceed(score_above_constant(np.zeros((2, 100)), gold)) is None
    assert examples_to_exceed(score_above_constant(np.ones((2, 100)), gold)) == 100
