"""Calibration against scikit-learn's logistic regression, and what it must not do."""

from __future__ import annotations

import numpy as np
import pytest

from goldassay.leakage import usable_information
from goldassay.stats.calibration import (
    _fit_penalized,
    _log_sum,
    cross_calibrate,
    cross_null,
)


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
    scale, offsets = _fit_penalized(logits, gold)
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


def of_gold(log_p: np.ndarray, gold: np.ndarray) -> np.ndarray:
    return np.exp(log_p[np.arange(gold.size), gold])


@pytest.mark.parametrize("n", [200, 3000])
@pytest.mark.parametrize("shares", [(1 / 3, 1 / 3, 1 / 3), (0.8, 0.15, 0.05), (0.02, 0.08, 0.9)])
def test_a_model_that_reads_nothing_has_no_bits_whatever_the_test_shares(n: int, shares: tuple[float, ...]) -> None:
    rng = np.random.default_rng(0)
    train_gold = rng.choice(3, 5000, p=[0.6, 0.3, 0.1])
    found, credited = [], []
    for _ in range(8):
        gold = rng.choice(3, n, p=shares)
        # Scores as of a probe that learned the training shares, and noise.
        blind = cross_calibrate(np.log([0.6, 0.3, 0.1]) + rng.standard_normal((n, 3)), gold)
        null = of_gold(cross_null(gold, 3), gold)
        found.append(usable_information(of_gold(blind, gold), null, n_draws=1).information)
        against = usable_information(of_gold(blind, gold), gold=gold, train_gold=train_gold, n_draws=1)
        credited.append(against.information)
    assert np.mean(found) == pytest.approx(0, abs=0.02 if n == 200 else 0.003)
    # Against the training shares it would be the divergence of the two.
    divergence = float((np.array(shares) * np.log2(np.array(shares) / [0.6, 0.3, 0.1])).sum())
    if n == 3000:
        assert np.mean(credited) == pytest.approx(divergence, abs=0.03)


@pytest.mark.parametrize("size", [0.5, 1.5, 3.0])
def test_without_a_shift_bits_stay_what_they_were(size: float) -> None:
    logits, gold = case(6000, size=size)
    train_gold = np.random.default_rng(5).choice(3, 50_000, p=[0.5, 0.3, 0.2])
    q = of_gold(cross_calibrate(logits, gold), gold)
    found = usable_information(q, of_gold(cross_null(gold, 3), gold), n_draws=1).information
    assert found == pytest.approx(
        usable_information(q, gold=gold, train_gold=train_gold, n_draws=1).information, abs=5e-3
    )
    # p(c | z) is known here: the mutual information of scores and label, by its definition.
    exact = np.log([0.5, 0.3, 0.2]) + size * logits
    true = np.exp(exact - _log_sum(exact))
    shares = np.array([0.5, 0.3, 0.2])
    mutual = float(np.mean(np.log2(of_gold(np.log(true), gold) / shares[gold])))
    assert found == pytest.approx(mutual, abs=0.01)


def test_what_is_known_without_reading_are_the_shares_of_the_other_half() -> None:
    gold = np.random.default_rng(0).choice(3, 4000, p=[0.7, 0.2, 0.1])
    found = np.exp(cross_null(gold, 3))
    halves = np.random.default_rng(0).permutation(gold.size) % 2
    for half in (0, 1):
        shares = np.bincount(gold[halves != half], minlength=3) / np.sum(halves != half)
        assert found[halves == half] == pytest.approx(np.tile(shares, (int(np.sum(halves == half)), 1)), abs=2e-3)


def test_classes_never_seen_leave_room_for_the_others() -> None:
    logits, gold = case()
    impossible = np.column_stack([logits, np.full(gold.size, -87.0)])
    assert mean_bits(cross_calibrate(impossible, gold), gold) == pytest.approx(
        mean_bits(cross_calibrate(logits, gold), gold), abs=0.02
    )


def test_one_example_and_equal_labels_are_borne() -> None:
    assert np.isfinite(cross_calibrate(np.array([[1.0, 2.0]]), np.array([1]))).all()
    assert np.isfinite(cross_calibrate(np.zeros((6, 2)), np.zeros(6, int))).all()
