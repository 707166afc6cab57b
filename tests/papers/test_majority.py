"""What many intervals say together."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.papers.majority import middle_of, standing_of


@pytest.mark.parametrize(
    ("n_for", "n_against", "n", "wanted"),
    [
        (3, 0, 5, "held"),
        (2, 0, 4, "not shown"),
        (0, 3, 5, "did not hold"),
        (0, 2, 4, "not shown"),
        (1, 1, 2, "not shown"),
    ],
)
def test_more_than_half_decide(n_for: int, n_against: int, n: int, wanted: str):
    assert standing_of(n_for, n_against, n) == wanted


@given(st.lists(st.integers(), min_size=1))
def test_the_middle_is_the_upper_median_and_is_called_so(values: list[int]):
    found, called = middle_of(sorted(values), "pair")
    assert found == statistics.median_high(values)
    assert called == ("the pair in the middle" if len(values) % 2 else "the upper of the two pairs in the middle")
