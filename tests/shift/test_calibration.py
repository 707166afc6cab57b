from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from goldassay.core.errors import InputError
from goldassay.shift import measure_calibration


def calibrated(n: int = 3000, k: int = 3, sharpen: float = 1.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(k), n)
    gold = (p.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    q = p**sharpen
    return q / q.sum(axis=1, keepdims=True), gold


def plain_ece(p: np.ndarray, gold: np.ndarray, n_bins: int) -> float:
    """By array_split, for confidences without ties and a number of examples that the bins divide."""
    order = np.argsort(p.max(axis=1))
    right = (p.argmax(axis=1) == gold)[order]
    bins = zip(np.split(p.max(axis=1)[order], n_bins), np.split(right, n_bins), strict=True)
    return sum(len(c) * abs(c.mean() - r.mean()) for c, r in bins) / len(p)


@pytest.mark.parametrize("n_bins", [1, 5, 15])
def test_equals_a_plain_loop_and_scikit_learn(n_bins: int) -> None:
    p, gold = calibrated(sharpen=3)
    found = measure_calibration(p, gold, n_bins=n_bins, n_draws=20)
    assert found.ece == pytest.approx(plain_ece(p, gold, n_bins))
    assert found.brier == pytest.approx(brier_score_loss(gold, p, labels=[0, 1, 2], scale_by_half=False))
    assert [row.n for row in found.bins] == [3000 // n_bins] * n_bins
    assert found.accuracy == (p.argmax(axis=1) == gold).mean()
    assert found.overconfidence == pytest.approx(found.confidence - found.accuracy)
    assert found.to_frame().columns == ["low", "high", "n", "confidence", "accuracy"]


def test_calibrated_and_overconfident() -> None:
    fair = measure_calibration(*calibrated())
    assert fair.ece in fair.ece_if_calibrated
    assert fair.ece_if_calibrated.low > 0
    assert 0 in fair.overconfidence_interval
    boastful = measure_calibration(*calibrated(sharpen=5))
    assert boastful.ece > boastful.ece_if_calibrated.high
    assert boastful.overconfidence_interval.low > 0
    assert boastful.brier_interval.low > fair.brier_interval.high


@given(st.integers(0, 1000), st.integers(1, 12))
def test_order_changes_nothing_even_with_ties(seed, n_bins) -> None:
    rng = np.random.default_rng(seed)
    p = np.round(rng.uniform(0, 1, 20), 1)
    p, gold = np.stack([p, 1 - p], axis=1), rng.integers(0, 2, 20)
    found = measure_calibration(p, gold, n_bins=n_bins, n_draws=2)
    order = rng.permutation(20)
    again = measure_calibration(p[order], gold[order], n_bins=n_bins, n_draws=2)
    assert again.ece == pytest.approx(found.ece)
    assert len(found.bins) <= n_bins
    assert sum(row.n for row in found.bins) == 20
    assert abs(found.overconfidence) - 1e-12 <= found.ece <= 1
    assert 0 <= found.brier <= 2


def test_extremes() -> None:
    right = measure_calibration([[1.0, 0.0], [0.0, 1.0]], [0, 1], n_draws=5)
    assert (right.ece, right.brier) == (0, 0)
    wrong = measure_calibration([[1.0, 0.0], [0.0, 1.0]], [1, 0], n_draws=5)
    assert (wrong.ece, wrong.brier) == (1, 2)


@pytest.mark.parametrize(
    ("p", "gold", "settings", "problem"),
    [
        ([[0.5, 0.6]], [0], {}, "do not sum to 1"),
        ([[0.5, 0.5]], [0, 1], {}, "one label code each"),
        ([[0.5, 0.5]], [0.0], {}, "kind float64"),
        ([[0.5, 0.5]], [2], {}, "of 2 classes"),
        ([[np.nan, 0.5]], [0], {}, "not finite"),
        ([[0.5, 0.5]], [0], {"n_bins": 0}, "bins is 0"),
    ],
)
def test_bad_input(p, gold, settings, problem) -> None:
    with pytest.raises(InputError, match=problem):
        measure_calibration(p, gold, **settings)
