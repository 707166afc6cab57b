"""The reader of differences: against scikit-learn, antisymmetric, blind to its own fold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from goldassay.readers import pair_probe
from goldassay.readers.pair_probe import cross_fit_pairs, fit_pairs, make_pairs, pair_features, pairs_of


def made(n: int, n_features: int, seed: int, strength: float) -> tuple[sparse.csr_matrix, np.ndarray, np.ndarray]:
    """Features of n pairs, offsets, and which is right: by the first feature so strongly."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((2 * n, n_features))
    gap = features[::2, 0] - features[1::2, 0]
    first = rng.random(n) < 1 / (1 + np.exp(-strength * gap))
    right = np.zeros(2 * n, np.bool_)
    right[::2], right[1::2] = first, ~first
    return sparse.csr_matrix(features), np.arange(0, 2 * n + 1, 2), right


@pytest.mark.parametrize("penalty", [3e-2, 3e-3])
def test_weights_are_those_of_scikit_learn_without_an_offset(monkeypatch: pytest.MonkeyPatch, penalty: float) -> None:
    features, offsets, right = made(400, 4, 0, 1.0)
    monkeypatch.setattr(pair_probe, "PENALTIES", (penalty,))
    monkeypatch.setattr(pair_probe, "_CLOSE", 1e-10)
    rng = np.random.default_rng(0)
    pairs = make_pairs(features, offsets, right, np.arange(400), rng)
    found = fit_pairs(pairs, np.arange(400), np.arange(400), rng)
    better, worse, _, _ = pairs_of(offsets, right, np.arange(400))
    gaps = np.asarray((features[better] - features[worse]).todense())
    x, y = np.vstack([gaps, -gaps]), np.repeat([1, 0], 400)
    fitted = LogisticRegression(C=1 / (penalty * 800), fit_intercept=False, tol=1e-10, max_iter=1000).fit(x, y)
    assert np.allclose(found, fitted.coef_[0], atol=1e-5)


def test_with_more_features_than_pairs_the_loss_is_the_least_that_scipy_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    penalty, n = 3e-3, 150
    rng = np.random.default_rng(5)
    features = sparse.csr_matrix(np.where(rng.random((3 * n, 400)) < 0.05, rng.random((3 * n, 400)), 0.0))
    # Three texts an item: of two pairs of an item each has half the weight.
    right = np.tile([True, False, False], n)
    offsets = np.arange(0, 3 * n + 1, 3)
    monkeypatch.setattr(pair_probe, "PENALTIES", (penalty,))
    pairs = make_pairs(features, offsets, right, np.arange(n), rng)
    gaps = features[np.repeat(np.arange(0, 3 * n, 3), 2)] - features[np.flatnonzero(~right)]

    def loss(w: np.ndarray) -> float:
        return float(np.logaddexp(0, -(gaps @ w)).mean() + penalty / 2 * w @ w)

    def slope(w: np.ndarray) -> np.ndarray:
        return np.asarray(-(gaps.T @ expit(-(gaps @ w))) / (2 * n) + penalty * w)

    least = minimize(loss, np.zeros(400), jac=slope)
    assert loss(fit_pairs(pairs, np.arange(2 * n), np.arange(n), rng)) == pytest.approx(least.fun, abs=1e-5)


def test_weaker_penalties_are_tried_until_other_pairs_are_predicted_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    whole = pair_probe._Fit.minimized

    def minimized(fit: pair_probe._Fit, penalty: float, rng: np.random.Generator) -> np.ndarray:
        tried.append(penalty)
        return whole(fit, penalty, rng)

    monkeypatch.setattr(pair_probe._Fit, "minimized", minimized)
    features, offsets, right = made(300, 40, 3, 0.0)
    pairs = make_pairs(features, offsets, right, np.arange(300), np.random.default_rng(0))
    fit_pairs(pairs, np.arange(300), np.arange(300), np.random.default_rng(0))
    strongest, weaker = pair_probe.PENALTIES[:2]
    assert tried == [strongest, weaker, strongest]


def test_swapping_two_texts_swaps_their_scores() -> None:
    features, offsets, right = made(200, 5, 1, 2.0)
    swap = np.arange(400).reshape(-1, 2)[:, ::-1].ravel()
    one = cross_fit_pairs(features, offsets, right, np.arange(200), 5, [3])[0]
    other = cross_fit_pairs(features[swap], offsets, right[swap], np.arange(200), 5, [3])[0]
    assert np.allclose(one[swap], other, atol=1e-4)


def test_a_cue_is_found_and_noise_is_not() -> None:
    features, offsets, right = made(1000, 10, 2, 3.0)
    scores = cross_fit_pairs(features, offsets, right, np.arange(1000), 5, [0])[0].reshape(-1, 2)
    assert ((scores[:, 0] > scores[:, 1]) == right[::2]).mean() > 0.8
    noise, offsets, right = made(1000, 10, 3, 0.0)
    scores = cross_fit_pairs(noise, offsets, right, np.arange(1000), 5, [0])[0].reshape(-1, 2)
    assert 0.45 < ((scores[:, 0] > scores[:, 1]) == right[::2]).mean() < 0.55


def test_no_item_has_a_part_in_its_own_score() -> None:
    # A feature of one cluster alone tells everything within it, and nothing of others.
    n = 200
    own = np.repeat(np.arange(n // 2), 4)
    rng = np.random.default_rng(0)
    right = np.zeros(2 * n, np.bool_)
    right[np.arange(n) * 2 + rng.integers(0, 2, n)] = True
    features = sparse.csr_matrix((np.where(right, 1.0, -1.0), (np.arange(2 * n), own)), shape=(2 * n, n // 2))
    scores = cross_fit_pairs(features, np.arange(0, 2 * n + 1, 2), right, np.repeat(np.arange(n // 2), 2), 5, [0])[0]
    assert (scores == 0).all()


def test_items_of_several_wrong_texts_weigh_as_much_as_others() -> None:
    right = np.array([True, False, False, False, True, False])
    better, worse, weights, of = pairs_of(np.array([0, 4, 6]), right, np.arange(2))
    assert better.tolist() == [0, 0, 0, 4]
    assert worse.tolist() == [1, 2, 3, 5]
    assert np.allclose(weights, [1 / 3, 1 / 3, 1 / 3, 1])
    assert of.tolist() == [0, 0, 0, 1]


def test_numbers_are_scaled_whatever_their_size() -> None:
    hashed = sparse.csr_matrix(np.eye(4, dtype=np.float32))
    found = pair_features(hashed, np.array([[1000.0, 0], [0, 0], [0, 0], [0, 0]]))
    assert found.shape == (4, 6)
    assert found[0, 4] == pytest.approx(2.0)
    assert found[0, 5] == 0
