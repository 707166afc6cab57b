from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import special, stats

from goldassay.core.errors import InputError
from goldassay.shift import (
    logits_of,
    score_energy,
    score_entropy,
    score_max_logit,
    score_max_softmax,
    score_sides,
)

LOGITS = hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(2, 5)), elements=st.floats(-50, 50))


def test_golden_values() -> None:
    z = [[2.0, 1.0, 0.0]]
    assert score_max_softmax(z)[0] == pytest.approx(-0.665241, abs=1e-6)
    assert score_energy(z)[0] == pytest.approx(-2.407606, abs=1e-6)
    assert score_entropy(z)[0] == pytest.approx(0.832396, abs=1e-6)
    assert score_max_logit(z)[0] == -2


@given(LOGITS, st.sampled_from([0.5, 1.0, 3.0]))
def test_equals_scipy(z, temperature) -> None:
    p = special.softmax(z / temperature, axis=1)
    assert score_max_softmax(z, temperature=temperature) == pytest.approx(-p.max(axis=1))
    log = score_max_softmax(z, temperature=temperature, scale="log")
    assert log == pytest.approx(-special.log_softmax(z / temperature, axis=1).max(axis=1), abs=1e-14)
    energy = -temperature * special.logsumexp(z / temperature, axis=1)
    assert score_energy(z, temperature=temperature) == pytest.approx(energy, abs=1e-12)
    assert score_entropy(z, temperature=temperature) == pytest.approx(stats.entropy(p, axis=1), abs=1e-12)


@given(LOGITS)
def test_bounds_and_shifts(z) -> None:
    n_classes = z.shape[1]
    assert (score_max_softmax(z) <= -1 / n_classes + 1e-12).all()
    entropy = score_entropy(z)
    assert (entropy >= 0).all()
    assert (entropy <= np.log(n_classes) + 1e-12).all()
    assert score_energy(z + 5) == pytest.approx(score_energy(z) - 5)
    assert score_max_softmax(z + 5, scale="log") == pytest.approx(score_max_softmax(z, scale="log"), abs=1e-12)


def test_the_log_scale_does_not_saturate() -> None:
    margins = np.array([1.0, 30, 40, 50, 300, 700])
    z = np.stack([np.zeros(6), margins], axis=1)
    assert len(np.unique(score_max_softmax(z))) < 6
    log = score_max_softmax(z, scale="log")
    assert (np.diff(log) < 0).all()
    assert (log > 0).all()
    assert log[1:] == pytest.approx(np.exp(-margins[1:]))
    assert (np.diff(score_entropy(z)) < 0).all()
    half = score_max_softmax(z.astype(np.float16), scale="log")
    assert half == pytest.approx(log)


def test_large_logits_do_not_overflow() -> None:
    z = np.array([[1e4, 0.0, -1e4], [-1e4, -1e4, -1e4]])
    assert score_max_softmax(z).tolist() == pytest.approx([-1, -1 / 3])
    assert score_energy(z).tolist() == pytest.approx([-1e4, 1e4 - np.log(3)])
    assert score_entropy(z).tolist() == pytest.approx([0, np.log(3)])


def test_two_classes_rank_by_their_difference_at_any_temperature() -> None:
    z = np.random.default_rng(0).normal(0, 3, (100, 2))
    order = np.argsort(-np.abs(z[:, 0] - z[:, 1]))
    for temperature in (0.5, 1, 10):
        assert np.array_equal(np.argsort(score_max_softmax(z, temperature=temperature, scale="log")), order)


def test_several_runs_and_probabilities() -> None:
    z = np.random.default_rng(0).normal(0, 3, (3, 20, 4))
    for score in (score_max_softmax, score_max_logit, score_energy, score_entropy):
        assert score(z).shape == (3, 20)
        assert np.array_equal(score(z)[1], score(z[1]))
    p = special.softmax(z, axis=-1)
    assert score_max_softmax(logits_of(p)) == pytest.approx(-p.max(axis=-1))
    assert score_entropy(logits_of([[1.0, 0.0]]))[0] == pytest.approx(0, abs=1e-300)
    assert score_energy(logits_of(p)) == pytest.approx(np.zeros((3, 20)), abs=1e-12)


def test_both_sides_at_once() -> None:
    rng = np.random.default_rng(0)
    inside, outside = rng.normal(0, 3, (50, 3)), rng.normal(0, 1, (40, 3))
    found = score_sides(inside, outside)
    assert list(found) == ["max_softmax", "max_logit", "energy", "entropy"]
    assert np.array_equal(found["max_softmax"][0], score_max_softmax(inside, scale="log"))
    assert np.array_equal(found["entropy"][1], score_entropy(outside))
    with pytest.raises(InputError, match="of 3 classes, out-of-distribution logits of 2"):
        score_sides(inside, outside[:, :2])


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: score_energy([[1.0], [2.0]]), "one class"),
        (lambda: score_energy([1.0, 2.0]), "shape"),
        (lambda: score_max_logit([[np.nan, 1.0]]), "not finite"),
        (lambda: score_entropy(np.empty((0, 3))), "no logits"),
        (lambda: score_energy([[1.0, 2.0]], temperature=0), "temperature is 0"),
        (lambda: score_max_softmax([[1.0, 2.0]], scale="bits"), "no scale 'bits'"),
        (lambda: logits_of([[0.5, 0.6]]), "do not sum to 1"),
        (lambda: logits_of([[1.5, -0.5]]), "do not sum to 1"),
    ],
)
def test_bad_input(call, problem) -> None:
    with pytest.raises(InputError, match=problem):
        call()
