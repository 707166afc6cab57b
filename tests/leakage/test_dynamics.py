"""Confidence, variability and correctness over epochs: golden values, trainings apart, bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from goldassay.core.errors import InputError
from goldassay.questions.leakage.measures.information import training_dynamics

P = np.array([0.2, 0.6, 0.9, 0.7, 0.8])
Q = np.array([1, 0, 1, 1, 0])


def test_golden_values():
    found = training_dynamics(P[:, None], Q[:, None])
    assert found.confidence == pytest.approx([0.64])
    assert found.variability == pytest.approx([0.241661], abs=1e-6)
    assert found.correctness == pytest.approx([3 / 5])
    assert (found.n_runs, found.n_epochs) == (1, 5)


def test_variability_is_within_a_training():
    """Two seeds that differ and never change vary by nothing; pooled they would by .3."""
    constant = np.array([[0.2], [0.2]]), np.array([[0.8], [0.8]])
    found = training_dynamics(np.stack(constant))
    assert found.confidence == pytest.approx([0.5])
    assert found.variability == pytest.approx([0.0])
    assert np.concatenate(constant).std() == pytest.approx(0.3)


@given(arrays(np.float64, (2, 4, 3), elements=st.floats(0, 1)))
def test_bounds(probabilities: np.ndarray):
    found = training_dynamics(probabilities, probabilities > 0.5)
    assert ((found.variability >= 0) & (found.variability <= 0.5 + 1e-12)).all()
    assert (found.variability**2 <= found.confidence * (1 - found.confidence) + 1e-9).all()
    assert found.correctness == pytest.approx((probabilities > 0.5).mean(axis=(0, 1)))


def test_one_epoch_has_no_variability():
    found = training_dynamics(P[None])
    assert np.isnan(found.variability).all()
    assert found.correctness is None


@pytest.mark.parametrize(
    ("probabilities", "right", "message"),
    [
        (P, None, r"probabilities have shape \(5,\)"),
        (np.full((2, 3), 1.5), None, "a probability is not in"),
        (np.full((2, 3), np.nan), None, "a probability is not in"),
        (np.full((2, 3), 0.5), np.ones((2, 2)), r"right has shape \(2, 2\)"),
    ],
)
def test_what_is_no_dynamics_is_refused(probabilities: np.ndarray, right: np.ndarray | None, message: str):
    with pytest.raises(InputError, match=message):
        training_dynamics(probabilities, right)
