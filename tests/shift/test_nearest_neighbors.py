from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from goldassay.core.errors import InputError
from goldassay.questions.shift.measures import scores
from goldassay.shift import score_knn


def normalized(values: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    return values / np.where(lengths > 0, lengths, 1)


def brute(values: np.ndarray, train: np.ndarray, k: int) -> np.ndarray:
    distances = cdist(normalized(values.astype(np.float64)), normalized(train.astype(np.float64)))
    return np.sort(distances, axis=1)[:, k - 1]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 10, 50])
def test_equals_brute_force_and_scikit_learn(dtype, k: int) -> None:
    rng = np.random.default_rng(0)
    train, values = rng.normal(size=(1500, 24)).astype(dtype), rng.normal(size=(1100, 24)).astype(dtype)
    found = score_knn(values, train, k)
    assert found == pytest.approx(brute(values, train, k), abs=1e-12)
    peer = NearestNeighbors(n_neighbors=k).fit(normalized(train.astype(np.float64)))
    assert found == pytest.approx(peer.kneighbors(normalized(values.astype(np.float64)))[0][:, -1], abs=1e-9)


@given(st.integers(1, 40), st.integers(1, 60), st.integers(1, 4), st.integers(0, 1000))
def test_small_sets_with_ties_and_zeros(n, n_train, d, seed) -> None:
    rng = np.random.default_rng(seed)
    values, train = rng.integers(-1, 2, (n, d)).astype(float), rng.integers(-1, 2, (n_train, d)).astype(float)
    k = int(rng.integers(1, n_train + 1))
    assert score_knn(values, train, k) == pytest.approx(brute(values, train, k), abs=1e-12)


def test_rows_that_single_precision_cannot_tell_apart() -> None:
    rng = np.random.default_rng(0)
    center = rng.normal(size=16)
    train = center + 1e-6 * rng.normal(size=(3000, 16))
    values = center + 1e-6 * rng.normal(size=(20, 16))
    found = score_knn(values, train, 5)
    assert found.max() < 1e-5
    assert found == pytest.approx(brute(values, train, 5), rel=1e-6)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    train, values = rng.normal(size=(300, 8)), rng.normal(size=(70, 8))
    whole = score_knn(values, train)
    monkeypatch.setattr(scores, "_ROWS_PER_SEARCH", 7)
    monkeypatch.setattr(scores, "_COLUMNS_AT_ONCE", 11)
    assert score_knn(values, train) == pytest.approx(whole, abs=1e-14)


def test_length_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    train, values = rng.normal(size=(100, 8)), rng.normal(size=(30, 8))
    lengths = 10.0 ** rng.uniform(-150, 150, (30, 1))
    assert score_knn(values * lengths, train, 3) == pytest.approx(score_knn(values, train, 3))
    assert score_knn(train, train, 1) == pytest.approx(np.zeros(100), abs=1e-12)
    assert score_knn([[1.0, 0.0]], [[-2.0, 0.0]], 1).tolist() == [2.0]


@pytest.mark.parametrize(
    ("call", "problem"),
    [
        (lambda: score_knn([[1.0, 2.0]], [[1.0, 2.0]] * 3, 4), "k is 4, and there are 3 training features"),
        (lambda: score_knn([[1.0, 2.0]], [[1.0, 2.0]] * 3, 0), "k is 0"),
        (lambda: score_knn([[1.0, 2.0]], [[1.0, 2.0]] * 3, 1.5), "k is 1.5"),
        (lambda: score_knn([[1.0, 2.0]], [[1.0]] * 20), "2 dimensions, training features 1"),
        (lambda: score_knn([[1.0, np.nan]], [[1.0, 2.0]] * 20), "not finite"),
        (lambda: score_knn(np.array([[1, np.inf]], np.float32), [[1.0, 2.0]] * 20), "not finite"),
        (lambda: score_knn(np.empty((0, 2)), [[1.0, 2.0]] * 20), "no features"),
    ],
)
def test_bad_input(call, problem) -> None:
    with pytest.raises(InputError, match=problem):
        call()
