"""Folds: who teaches whom, and how rows are dealt."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.stats.clusters import Folds, deal_evenly


@given(st.lists(st.integers(0, 4), min_size=1, max_size=40), st.sets(st.integers(0, 4), min_size=1))
def test_no_row_that_is_read_teaches_its_own_fold(codes: list[int], read: set[int]) -> None:
    folds = Folds(np.array(codes), tuple(sorted(read & set(codes))))
    places = []
    for each in folds.rounds():
        assert not set(each.teaching) & set(each.reading)
        assert sorted([*each.teaching, *each.reading]) == list(range(len(codes)))
        assert (folds.codes[each.reading] == each.fold).all()
        np.testing.assert_array_equal(folds.rows[each.places], each.reading)
        places += each.places.tolist()
    assert sorted(places) == list(range(folds.rows.size))


def test_parts_are_two_folds_of_which_the_second_is_read() -> None:
    (only,) = Folds.of_parts(3, 2).rounds()
    assert only.teaching.tolist() == [0, 1, 2]
    assert only.reading.tolist() == [3, 4]
    assert only.places.tolist() == [0, 1]


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 2)), min_size=1, max_size=60), st.integers(0, 3))
def test_units_stay_whole_and_no_fold_is_larger_by_more_than_a_unit(rows: list[tuple[int, int]], seed: int) -> None:
    units, labels = np.array(rows).T
    found = deal_evenly(units, labels, 5, seed)
    assert all(np.unique(found[units == unit]).size == 1 for unit in units)
    sizes = np.bincount(found, minlength=5)
    assert sizes.max() - sizes.min() <= 2 * np.bincount(units).max()
    np.testing.assert_array_equal(found, deal_evenly(units, labels, 5, seed))


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.98, 0.02), (0.6, 0.3, 0.1)])
def test_labels_are_dealt_evenly(shares: tuple[float, ...]) -> None:
    labels = np.repeat(np.arange(len(shares)), np.round(1000 * np.array(shares)).astype(int))
    one, other = (deal_evenly(np.arange(labels.size), labels, 5, seed) for seed in (0, 1))
    for label in range(len(shares)):
        counts = np.bincount(one[labels == label], minlength=5)
        assert counts.max() - counts.min() <= 2
    assert (one != other).any()
