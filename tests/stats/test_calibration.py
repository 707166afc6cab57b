"""Calibration against scipy, and what it must never give."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax

from goldassay.stats.calibration import (
    LEAST_PROBABILITY,
    Calibration,
    calibrate,
    fit_calibration,
    mean_loss,
)


def case(scale: float = 1.0, shifts: tuple[float, ...] = (0.0, 0.0, 0.0), n: int = 4000, seed: int = 0):
    """Margins of which softmax(scale z + shifts) is the true distribution of the labels."""
    rng = np.random.default_rng(seed)
    margins = rng.standard_normal((n, len(shifts))).astype(np.float32) * 2
    true = np.exp(log_softmax(scale * margins + np.array(shifts), axis=1))
    labels = (rng.random((n, 1)) > true.cumsum(axis=1)).sum(axis=1)
    return margins, np.minimum(labels, len(shifts) - 1), np.ones(n)


def loss(margins, labels, weights, scale, shifts) -> float:
    log_p = log_softmax(scale * margins.astype(float) + shifts, axis=1)
    return float(np.average(-log_p[np.arange(labels.size), labels], weights=weights))


@pytest.mark.parametrize("true", [0.2, 1.0, 3.0])
def test_the_scale_is_scipys(true):
    margins, labels, _ = case(true)
    weights = np.random.default_rng(1).integers(0, 3, labels.size).astype(float)
    scale, shifts = fit_calibration(margins, labels, weights, 0)
    found = minimize_scalar(
        lambda a: loss(margins, labels, weights, a, 0), bounds=(0.01, 10), method="bounded", options={"xatol": 1e-8}
    )
    assert scale == pytest.approx(found.x, rel=1e-3)
    assert not shifts.any()
    assert mean_loss(margins, labels, weights, scale, shifts) == pytest.approx(found.fun, rel=1e-6)


def test_scale_and_shifts_lower_the_loss_to_scipys():
    margins, labels, weights = case(0.5, (0.0, 1.0, -1.0))
    found = minimize(lambda v: loss(margins, labels, weights, v[0], np.array([0, *v[1:]])), np.array([1.0, 0, 0]))
    losses = [
        mean_loss(margins, labels, weights, *fit_calibration(margins, labels, weights, n)) for n in (0, 1, 2, 5, 60)
    ]
    assert all(after <= before for before, after in pairwise(losses))
    assert losses[3] == pytest.approx(found.fun, rel=0.02)
    assert losses[4] == pytest.approx(found.fun, rel=1e-4)


@pytest.mark.parametrize(
    ("scale", "shifts", "expected"),
    [(1.0, (0.0, 0.0, 0.0), "plain"), (0.3, (0.0, 0.0, 0.0), "scale"), (0.5, (0.0, 2.0, -2.0), "shifts")],
)
def test_the_simplest_that_serves_is_chosen(scale, shifts, expected):
    found = calibrate(*case(scale, shifts), np.random.default_rng(0))
    assert (found.scale == 1) == (expected == "plain")
    # A shift that luck chose is next to none.
    assert (np.abs(found.shifts).max() > 0.1) == (expected == "shifts")
    if expected != "plain":
        assert found.scale == pytest.approx(scale, rel=0.15)


def test_calibrated_probabilities_are_nearer_to_shares_of_new_rows():
    margins, labels, weights = case(0.25)
    new, gold, _ = case(0.25, seed=1)
    found = calibrate(margins, labels, weights, np.random.default_rng(0)).log_probabilities(new)
    plain = Calibration(1.0, np.zeros(3)).log_probabilities(new)

    def apart(log_p: np.ndarray) -> float:
        sure = np.exp(log_p.max(axis=1))
        right = log_p.argmax(axis=1) == gold
        tenth = np.minimum((10 * sure).astype(int), 9)
        return sum(abs((right - sure)[tenth == b].sum()) for b in range(10)) / gold.size

    assert apart(found) < 0.03
    assert apart(plain) > 0.15


@pytest.mark.parametrize("n", [0, 1, 2, 19])
def test_few_rows_leave_margins_as_they_are(n):
    margins, labels, weights = case(0.1, n=20)
    found = calibrate(margins[:n], labels[:n], weights[:n], np.random.default_rng(0))
    assert found.scale == 1
    assert not found.shifts.any()


def test_weights_of_zero_on_one_side_leave_margins_as_they_are():
    margins, labels, weights = case(0.1, n=100)
    weights[1:] = 0
    assert calibrate(margins, labels, weights, np.random.default_rng(0)).scale == 1


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 6),
    st.integers(1, 60),
    st.sampled_from([0.0, 1e-6, 1.0, 1e3, 1e6]),
    st.integers(0, 1000),
)
def test_no_probability_is_0_or_1_and_decisions_of_a_scale_stay(k, n, size, seed):
    rng = np.random.default_rng(seed)
    margins = (size * rng.standard_normal((n, k))).astype(np.float32)
    labels = rng.integers(0, k, n)
    log_p = calibrate(margins, labels, np.ones(n), rng).log_probabilities(margins)
    for p in (np.exp(log_p), np.exp(log_p.astype(np.float32))):
        assert (p > 0).all()
        assert (p < 1).all()
        assert p.min() > LEAST_PROBABILITY / 2
    assert np.exp(log_p).sum(axis=1) == pytest.approx(np.ones(n))
