from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import leaves_list, linkage

from goldassay.questions.instability.measures.correlation import leaf_order


def correlations(size: int, seed: int) -> np.ndarray:
    matrix = np.corrcoef(np.random.default_rng(seed).random((size, 30)))
    return (matrix + matrix.T) / 2


def by_scipy(matrix: np.ndarray) -> list[int]:
    return leaves_list(linkage(1 - matrix[np.triu_indices(len(matrix), 1)], method="average")).tolist()


@given(st.integers(3, 60), st.integers(0, 1000))
def test_agrees_with_scipy(size: int, seed: int) -> None:
    matrix = correlations(size, seed)
    assert leaf_order(matrix.copy()).tolist() == by_scipy(matrix)


def test_agrees_with_scipy_for_many() -> None:
    matrix = correlations(900, 0)
    assert leaf_order(matrix.copy()).tolist() == by_scipy(matrix)


@given(st.integers(0, 12), st.integers(0, 1000), st.sampled_from([np.float32, np.float64]))
def test_the_matrix_is_left_as_it_was(size: int, seed: int, kind: type) -> None:
    # Few different values, so that there are many ties, and some that are not there.
    rng = np.random.default_rng(seed)
    upper = rng.choice([-1.0, 0.0, 0.5, 1.0, np.nan], (size, size))
    matrix = np.triu(upper, 1)
    matrix = (matrix + matrix.T).astype(kind)
    np.fill_diagonal(matrix, 1.0)
    before = matrix.copy()
    assert sorted(leaf_order(matrix).tolist()) == list(range(size))
    assert np.array_equal(matrix, before, equal_nan=True)


@pytest.mark.parametrize("size", [63, 64, 65, 130])
def test_all_squares_are_restored(size: int) -> None:
    matrix = correlations(size, 1)
    before = matrix.copy()
    leaf_order(matrix)
    assert np.array_equal(matrix, before)
