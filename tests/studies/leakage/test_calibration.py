"""Calibration against scikit-learn's logistic regression, and what it must not do."""

from __future__ import annotations

import numpy as np
import pytest

from goldassay.studies.leakage.calibration import _fit, _log_sum, cross_calibrate


def case(n: int = 3000, k: int = 3, size: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    gold = rng.choice(k, n, p=[0.5, 0.3, 0.2])
    logits = rng.standard_normal((n, k)) + size * np.eye(k)[gold]
    return logits, gold


def mean_bits(log_p: np.ndarray, gold: np.ndarray) -> float:
    return float(-log_p[np.arange(gold.size), gold].mean() / np.log(2))


def test_a_true_model_is_found_again() -> None:
    # p(c | z) is proportional to share_c exp(1.5 z_c) here.
    logits, gold = case(20_000)
    scale, offsets = _fit(logits, gold)
    assert scale == pytest.approx(1.5, abs=0.06)
    assert offsets - offsets.mean() == pytest.approx(np.log([0.5, 0.3, 0.2]) - np.log([0.5, 0.3, 0.2]).mean(), abs=0.08)


@pytest.mark.parametrize("factor", [0.05, 1, 40])
def test_the_size_of_scores_does_not_matter(factor: float) -> None:
    logits, gold = case()
    found = cross_calibrate(factor * logits, gold)
    assert np.exp(found).sum(axis=1) == pytest.approx(np.ones(gold.size))
    assert mean_bits(found, gold) == pytest.approx(mean_bits(cross_calibrate(logits, gold), gold), abs=1e-3)


def test_scores_that_tell_nothing_give_no_bits() -> None:
    _, gold = case()
    noise = 30 * np.random.default_rng(1).standard_normal((gold.size, 3))
    shares = np.bincount(gold) / gold.size
    entropy = float(-(shares * np.log2(shares)).sum())
    assert mean_bits(noise - _log_sum(noise), gold) > entropy + 5
    assert mean_bits(cross_calibrate(noise, gold), gold) == pytest.approx(entropy, abs=0.01)


def test_classes_never_seen_leave_room_for_the_others() -> None:
    logits, gold = case()
    impossible = np.column_stack([logits, np.full(gold.size, -87.0)])
    assert mean_bits(cross_calibrate(impossible, gold), gold) == pytest.approx(
        mean_bits(cross_calibrate(logits, gold), gold), abs=0.02
    )


def test_one_example_and_equal_labels_are_borne() -> None:
    assert np.isfinite(cross_calibrate(np.array([[1.0, 2.0]]), np.array([1]))).all()
    assert np.isfinite(cross_calibrate(np.zeros((6, 2)), np.zeros(6, int))).all()
