"""Entries of rows against the sparse matrix of the same features."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from goldassay.readers import softmax_kernels, softmax_regression
from goldassay.readers.softmax_kernels import count_entries, gather, in_parts
from goldassay.readers.softmax_regression import Problem, fit_penalties, fit_penalty
from tests.lab.models.made_features import features_of, made


def matrix_of(entries, n_lines: int) -> np.ndarray:
    begins, lines, values, _ = entries
    n = int(begins[-1])
    return sparse.csr_matrix((values[:n], lines[:n], begins), shape=(begins.size - 1, n_lines)).toarray()


@given(
    widths=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    used=st.integers(0, 15),
    n=st.integers(1, 20),
    share=st.sampled_from([0.0, 0.3, 1.0]),
    seed=st.integers(0, 1000),
)
def test_entries_are_the_matrix_and_a_constant(widths, used, n, share, seed):
    rng = np.random.default_rng(seed)
    features = features_of(
        [rng.random((n, width)) < share for width in widths], [(f"text {b}",) for b in range(len(widths))]
    )
    roles = [f"text {b}" for b in range(len(widths)) if used >> b & 1]
    rows = rng.integers(0, n, n)
    own = features.widths(roles)
    found = gather(features, own, rows)
    expected = np.hstack([features.matrix(roles).toarray()[rows], np.ones((n, 1))])
    assert matrix_of(found, int(own.sum()) + 1) == pytest.approx(expected, rel=1e-6)
    assert found[3] == pytest.approx((expected**2).sum(axis=1), rel=1e-5)
    assert np.array_equal(count_entries(features.sizes, own, rows), np.diff(found[0]))
    # Loops look at entries behind the last one.
    assert (found[1][found[0][-1] :] == 0).all()
    assert found[1].size == found[0][-1] + softmax_kernels.AHEAD


def test_columns_beyond_a_blocks_width_are_left_out():
    rng = np.random.default_rng(0)
    features = features_of([rng.random((30, 8)) < 0.5, rng.random((30, 5)) < 0.5])
    widths = np.array([3, 5])
    found = matrix_of(gather(features, widths, np.arange(30)), 9)
    whole = features.matrix().toarray()
    assert found[:, :8] == pytest.approx(whole[:, [0, 1, 2, 8, 9, 10, 11, 12]], rel=1e-6)
    assert (found[:, 8] == 1).all()


def test_rows_of_very_many_features_have_length_one():
    features = features_of([np.ones((2, 2000), bool)])
    assert matrix_of(gather(features, features.widths(), np.arange(2)), 2001)[:, :-1] == pytest.approx(2000**-0.5)


@pytest.mark.parametrize("at_once", [1, 7, 40, 10_000])
def test_parts_are_all_rows_in_turn(monkeypatch, at_once):
    monkeypatch.setattr(softmax_kernels, "ENTRIES_AT_ONCE", at_once)
    features, _ = made(3, 50)
    rows = np.random.default_rng(1).permutation(50)
    parts = list(in_parts(features, features.widths(), rows))
    assert np.concatenate([np.arange(50)[part] for part, _ in parts]).tolist() == list(range(50))
    longest = int(count_entries(features.sizes, features.widths(), rows).max())
    assert all(entries[0][-1] <= at_once + longest for _, entries in parts)
    whole = matrix_of(gather(features, features.widths(), rows), features.widths().sum() + 1)
    assert np.array_equal(np.vstack([matrix_of(each, whole.shape[1]) for _, each in parts]), whole)


def test_no_rows_have_no_parts():
    features, _ = made(3, 5)
    assert list(in_parts(features, features.widths(), np.arange(0))) == []


@pytest.mark.parametrize("n_classes", [2, 3, 9])
def test_fits_have_the_same_bits_whether_entries_are_kept_or_not(monkeypatch, n_classes):
    features, labels = made(n_classes, 300)
    rows = np.arange(300)
    problem = Problem(features, features.widths(), rows, labels, np.ones(300, np.float32), n_classes)

    def fits() -> list[np.ndarray]:
        path = fit_penalties(problem, (9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 1.0), 3, np.random.default_rng(0))
        one = fit_penalty(problem, 2.0, 3, np.random.default_rng(0))
        return [path.table, path.duals, path.margins(rows), one.table, one.margins(features, rows)]

    kept = fits()
    monkeypatch.setattr(softmax_regression, "KEPT_ENTRIES", 0)
    monkeypatch.setattr(softmax_kernels, "ENTRIES_AT_ONCE", 100)
    for one, other in zip(kept, fits(), strict=True):
        assert np.array_equal(one, other)
