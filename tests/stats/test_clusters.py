from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.stats.clusters import (
    cluster_rows,
    cluster_sums,
    connected_rows,
    dense_codes,
    effective_clusters,
    variance_of_mean,
)
from tests.stated import says, states

CODES = st.integers(0, 6).flatmap(
    lambda n: st.lists(st.tuples(st.integers(-1, 6), st.integers(-1, 6)), min_size=n, max_size=40)
)


def brute_force(rows: list[tuple[int, int]]) -> list[set[int]]:
    """Merge rows that share a value until nothing changes."""
    parts = [{i} for i in range(len(rows))]
    for column in (0, 1):
        for i, left in enumerate(rows):
            for j, right in enumerate(rows[:i]):
                if left[column] == right[column] >= 0:
                    one = next(part for part in parts if i in part)
                    other = next(part for part in parts if j in part)
                    if one is not other:
                        parts.remove(other)
                        one |= other
    return parts


@given(CODES)
def test_components_are_those_of_a_brute_force(rows: list[tuple[int, int]]) -> None:
    found = connected_rows(np.array(rows, np.int64).reshape(len(rows), 2))
    parts = {frozenset(np.flatnonzero(found == code).tolist()) for code in set(found.tolist())}
    assert parts == set(map(frozenset, brute_force(rows)))
    # Numbered in the order of first appearance.
    assert list(dict.fromkeys(found.tolist())) == list(range(len(parts)))


@given(CODES)
def test_columns_that_are_alike_link_across(rows: list[tuple[int, int]]) -> None:
    codes = np.array(rows, np.int64).reshape(len(rows), 2)
    found = connected_rows(codes, n_alike=2)
    # As many columns as there are values, each with the rows that have it anywhere.
    values = [value for value in set(codes.ravel().tolist()) if value >= 0]
    columns = [np.where((codes == value).any(axis=1), 0, -1) for value in values] or [np.full(len(rows), -1)]
    assert found.tolist() == connected_rows(np.stack(columns, axis=1)).tolist()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60))
def test_effective_clusters_lie_between_one_and_their_number(codes: list[int]) -> None:
    dense = np.unique(codes, return_inverse=True)[1]
    found = effective_clusters(dense)
    sizes = [codes.count(code) for code in set(codes)]
    assert found == pytest.approx(len(codes) ** 2 / sum(size**2 for size in sizes))
    assert 1 <= found <= len(sizes) + 1e-9


def test_equal_clusters_are_worth_their_number_and_no_rows_nothing() -> None:
    assert effective_clusters(np.repeat(np.arange(7), 5)) == pytest.approx(7)
    assert np.isnan(effective_clusters([]))


def test_rows_are_joined_by_every_column() -> None:
    # Rows 0 and 1 share a premise, 1 and 2 a hypothesis.
    premise = np.array([0, 0, 1, *range(2, 20)])
    hypothesis = np.array([0, 1, 1, *range(2, 20)])
    found = cluster_rows({"premise": premise, "hypothesis": hypothesis}, 21)
    assert found.codes.tolist() == [0, 0, 0, *range(1, 19)]
    assert found.taken == says("premise or hypothesis", "19 clusters of 21 rows")
    assert found.columns == ("premise", "hypothesis")
    assert found.codes_if_any is not None


def test_a_component_of_more_than_a_fifth_is_replaced_by_the_largest_column_that_fits() -> None:
    # A chain of hypotheses joins all premises; premises have 4 rows each, writers hold a quarter each.
    n = 100
    premise, hypothesis, writer = np.arange(n) // 4, (np.arange(n) + 2) // 4, np.arange(n) % 4
    both = {"premise": premise, "hypothesis": hypothesis, "writer": writer}
    found = cluster_rows(both, n)
    assert found.columns == ("premise",)
    assert found.codes.tolist() == premise.tolist()
    assert states(found.taken, "25 clusters of 100 rows", ..., "premise, hypothesis and writer", "100 %")
    # A fifth is allowed, one row more is not.
    assert cluster_rows({"a": np.repeat(np.arange(5), 20)}, n).n_clusters == 5
    over = np.repeat(np.arange(5), [21, 19, 20, 20, 20])
    assert cluster_rows({"a": over}, n).codes_if_any is None
    assert "21 % of the rows" in cluster_rows({"a": over}, n).taken


def test_columns_that_a_user_chose_are_joined_whatever_they_make() -> None:
    over = np.repeat(np.arange(2), 50)
    found = cluster_rows({"a": over}, 100, chosen=True)
    assert (found.n_clusters, found.effective) == (2, 2)
    with pytest.raises(InputError, match="all rows are one cluster when joined by a and b"):
        cluster_rows({"a": over, "b": np.zeros(100, np.int64)}, 100, chosen=True)


def test_where_nothing_recurs_each_row_counts_by_itself() -> None:
    found = cluster_rows({"text": np.arange(9)}, 9)
    assert found.codes_if_any is None
    assert found.taken == says("No two rows share", "by itself")
    assert cluster_rows({}, 3).taken == "Each row counts by itself."
    assert cluster_rows({}, 3).effective == 3


def test_columns_whose_values_are_too_large_are_named() -> None:
    passages, own = np.repeat(np.arange(4), 25), np.arange(100)
    found = cluster_rows({"passage": passages, "question": own}, 100)
    assert found.ignored == ("passage",)
    assert found.n_clusters == 100
    assert cluster_rows({"question": own, "genre": passages}, 100).ignored == ()
    # What all rows share makes none more alike.
    assert cluster_rows({"prompt": np.zeros(100, int), "question": own}, 100).ignored == ()
    assert cluster_rows({"passage": np.repeat(np.arange(20), 5), "question": own}, 100).ignored == ()


def test_codes_without_holes() -> None:
    assert dense_codes(None, 3).tolist() == [0, 1, 2]
    assert dense_codes([7, 2, 7], 3).tolist() == [1, 0, 1]
    assert dense_codes(["b", "a", "b"], 3).tolist() == [1, 0, 1]


def test_sums_of_clusters_are_those_of_their_examples() -> None:
    values = np.arange(8.0).reshape(2, 4)
    assert cluster_sums(values, np.array([0, 1, 0, 1])).tolist() == [[2, 4], [10, 12]]
    assert cluster_sums(values, np.array([0, 0, 0, 0]), 2).tolist() == [[6, 0], [22, 0]]
    assert cluster_sums(values, None) is values


def test_variance_of_a_mean_by_hand() -> None:
    x = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    assert variance_of_mean(x) == pytest.approx(0.3 / 6)
    # Sums of the deviations of 1/2: 0, 1, -1; G/(G-1) = 3/2.
    assert variance_of_mean(x, np.array([0, 0, 1, 1, 2, 2])) == pytest.approx(1.5 * 2 / 36)
    assert variance_of_mean(x, np.arange(6)) == pytest.approx(variance_of_mean(x))
    assert np.isnan(variance_of_mean(x, np.zeros(6, int)))
