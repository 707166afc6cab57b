"""Sums and differences of accuracies against plain means, other functions of this project, and what must be so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.lab.papers.artifacts.protocol import EASY, FULL, GAP, HARD, SUBSETS, Accuracies, Trained
from goldassay.stats.intervals import mean_interval
from goldassay.stats.subsets import accuracy_by_subset

A, B = Trained("a"), Trained("b", "0.8", "debias")


def made_up(n: int = 400, n_runs: int = 3, seed: int = 0) -> Accuracies:
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    masks = {FULL: np.ones(n, bool), EASY: kind == 1, HARD: kind == 2}
    chance = 0.5 + 0.3 * masks[EASY] - 0.2 * masks[HARD]
    correct = {model: (rng.random((n_runs, n)) < chance + shift).astype(float) for model, shift in ((A, 0), (B, 0.1))}
    return Accuracies(correct, masks)


def test_values_are_plain_means():
    found = made_up()
    for subset in SUBSETS:
        figure = found.of(A, subset)
        assert figure is not None
        rows = found.correct[A][:, found.masks[subset]]
        assert figure.value == pytest.approx(rows.mean())
        assert figure.sd == pytest.approx(rows.mean(axis=1).std(ddof=1))
        assert figure.low < figure.value < figure.high
        assert figure.n_runs == 3
    gap, easy, hard = (found.of(A, subset) for subset in (GAP, EASY, HARD))
    assert gap.value == pytest.approx(easy.value - hard.value)


def test_a_model_by_itself_is_as_the_gap_of_its_runs():
    found = made_up()
    other = accuracy_by_subset(found.correct[B], found.masks, n_draws=4000, seed=1)
    gap = found.of(B, GAP)
    assert gap.value == pytest.approx(other.delta)
    width = other.delta_high - other.delta_low
    assert gap.low == pytest.approx(other.delta_low, abs=0.15 * width)
    assert gap.high == pytest.approx(other.delta_high, abs=0.15 * width)


def test_differences_and_their_means():
    found = made_up()
    one, other = found.of(A, HARD), found.of(B, HARD)
    difference = found.difference(A, B, HARD)
    assert difference.value == pytest.approx(one.value - other.value)
    assert found.mean_difference([(A, B), (B, A)], HARD).value == pytest.approx(0)
    nothing = found.mean_difference([(A, A)], HARD)
    assert (nothing.value, nothing.low, nothing.high) == (0, 0, 0)
    mean = found.mean_difference([(A, B)], GAP)
    assert (mean.value, mean.low, mean.high) == pytest.approx(
        (found.difference(A, B, GAP).value, found.difference(A, B, GAP).low, found.difference(A, B, GAP).high)
    )


def test_what_examples_share_leaves_the_difference():
    """Two models right on the same examples differ by nothing, however few examples there are."""
    rng = np.random.default_rng(0)
    right = (rng.random((1, 50)) < 0.6).astype(float)
    found = Accuracies({A: right, B: right}, {FULL: np.ones(50, bool), EASY: right[0] > 2, HARD: np.ones(50, bool)})
    difference = found.difference(A, B, HARD)
    assert (difference.value, difference.low, difference.high) == (0, 0, 0)
    assert found.of(A, HARD).low < found.of(A, HARD).high


def test_runs_spread_as_student_says():
    """Where every example of a run is right or wrong alike, only runs vary."""
    values = [0.5, 0.6, 0.6, 0.7]
    correct = np.repeat(np.array(values)[:, np.newaxis], 300, axis=1)
    found = Accuracies({A: correct}, dict.fromkeys(SUBSETS, np.ones(300, bool)))
    figure, student = found.of(A, FULL), mean_interval(values)
    assert (figure.low, figure.high) == pytest.approx((student.low, student.high), abs=0.01)


def test_bounds_are_no_better_than_all_right_and_no_worse_than_all_wrong():
    """Two runs that differ widely have an interval by Student that no accuracy could have."""
    correct = np.repeat(np.array([[0.2], [0.9]]), 90, axis=1)
    thirds = np.arange(90) // 30
    found = Accuracies({A: correct, B: 1 - correct}, {FULL: thirds >= 0, EASY: thirds == 1, HARD: thirds == 2})
    assert (found.of(A, FULL).low, found.of(A, FULL).high) == (0, 1)
    assert (found.difference(A, B, HARD).low, found.difference(A, B, HARD).high) == (-1, 1)


def test_nothing_is_said_of_what_is_not_there():
    found = made_up()
    assert found.of(Trained("c"), FULL) is None
    assert found.difference(A, Trained("c"), FULL) is None
    assert found.mean_difference([], FULL) is None
    empty = Accuracies(found.correct, {**found.masks, HARD: np.zeros(400, bool)})
    assert empty.of(A, HARD) is None
    assert empty.of(A, GAP) is None
    assert empty.of(A, EASY).value == found.of(A, EASY).value


@settings(max_examples=8)
@given(st.integers(0, 5), st.integers(1, 4))
def test_signs_and_seeds(seed: int, n_runs: int):
    found = made_up(60, n_runs, seed)
    again = Accuracies(found.correct, found.masks)
    for subset in (*SUBSETS, GAP):
        forth, back = found.difference(A, B, subset), found.difference(B, A, subset)
        if forth is None:
            assert back is None
            continue
        assert forth.value == pytest.approx(-back.value)
        assert (forth.low, forth.high) == pytest.approx((-back.high, -back.low))
        assert again.difference(A, B, subset) == forth
