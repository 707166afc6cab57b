"""What several figures say together, and how that is said."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from goldassay.core.pooling import pool_estimates
from goldassay.papers.pooling import Figure, pool_claim

Z = float(stats.norm.ppf(0.975))


def test_ratios_are_pooled_as_logarithms():
    figures: list[Figure] = [(2.0, 2.0 / 1.5, 2.0 * 1.5), (4.0, 4.0 / 1.2, 4.0 * 1.2), (3.0, 2.0, 4.5)]
    found = pool_claim(figures, {"sets": "abc"}, what="sets", unit="ratio", scale="log")
    assert found is not None
    wanted = pool_estimates(np.log([2, 4, 3]), np.log([1.5, 1.2, 1.5]) / Z)
    ends = tuple(math.exp(each) for each in (wanted.value, wanted.low, wanted.high))
    assert (found.value, found.low, found.high) == pytest.approx(ends)
    assert (found.standing(1.0), found.standing(100.0)) == ("held", "did not hold")
    assert found.said.startswith("Pooled over 3 sets in 3 sets, between which ")


def test_the_longer_side_gives_the_error():
    found = pool_claim([(9.0, 0.9, 18.0)], {"sets": "a"}, what="sets", unit="ratio", scale="log")
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.9, 90.0))
    # Where the lower side has no end, the upper one gives it.
    found = pool_claim([(9.0, -1.0, 18.0)], {"sets": "a"}, what="sets", unit="ratio", scale="log")
    assert found is not None
    assert (found.low, found.high) == pytest.approx((4.5, 18.0))
    assert pool_claim([(-1.0, -2.0, 18.0)], {"sets": "a"}, what="sets", unit="ratio", scale="log") is None


def test_correlations_are_pooled_by_fisher():
    found = pool_claim([(0.5, 0.2, 0.7)] * 3, {"sets": "abc"}, what="sets", unit="correlation", scale="fisher")
    assert found is not None
    assert found.value == pytest.approx(0.5)
    assert -1 < found.low < 0.5 < found.high < 1


def test_what_has_no_interval_is_left_out_and_counted():
    figures: list[Figure] = [
        (0.1, 0.05, 0.15),
        (0.2, None, 0.3),
        (None, None, None),
        (0.12, 0.07, 0.17),
        (0.1, 0.1, 0.1),
    ]
    found = pool_claim(figures, {"sets": "abcde"}, what="parts", unit="difference")
    assert found is not None
    assert found.pooled.n_estimates == 2
    assert "Pooled over 2 parts (3 without an interval left out) in 2 sets" in found.said
    assert pool_claim(figures[1:3], {"sets": "ab"}, what="parts", unit="difference") is None


def test_one_family_says_nothing_of_others():
    found = pool_claim([(0.1, 0.05, 0.15)] * 3, {"sets": "aaa"}, what="parts", unit="difference")
    assert found is not None
    assert (
        found.said
        == "Pooled over 3 parts, which are not independent of each other; how far others differ is not known."
    )
    assert (found.low, found.high) == pytest.approx((0.05, 0.15))


def test_a_half_does_not_flip_a_conclusion():
    """Ten of twenty surely above and twelve of twenty say the same where the figures do."""
    for n_sure in (10, 12):
        figures: list[Figure] = [(0.05, 0.001 if i < n_sure else -0.001, 0.1) for i in range(20)]
        found = pool_claim(figures, {"sets": range(20)}, what="pairs", unit="difference")
        assert found is not None
        assert found.standing() == "held"


@pytest.mark.parametrize(
    ("unit", "figures", "ends"),
    [
        ("difference", [(0.4, 0.3, 0.5), (0.9, 0.8, 1.0)], (-1.0, 1.0)),
        ("share", [(0.1, 0.05, 0.15), (0.8, 0.7, 0.9)], (0.0, 1.0)),
        ("points", [(0.1, 0.05, 0.15), (0.8, 0.7, 0.9)], (0.0, 1.0)),
    ],
)
def test_intervals_are_cut_to_what_is_possible(unit: str, figures: list[Figure], ends: tuple[float, float]):
    """Two families give intervals that name accuracies more than 100 points apart."""
    uncut = pool_claim(figures, {"sets": "ab"}, what="sets", unit=unit, within=(-math.inf, math.inf))
    found = pool_claim(figures, {"sets": "ab"}, what="sets", unit=unit)
    assert uncut is not None
    assert found is not None
    assert uncut.low < ends[0]
    assert uncut.high > ends[1]
    assert (found.low, found.high) == ends
    assert found.value == uncut.value
    assert "103" not in found.said
    wide = pool_claim(figures, {"sets": "ab"}, what="sets", unit=unit, within=(-2.0, 2.0))
    assert wide is not None
    assert (wide.low, wide.high) == (max(uncut.low, -2.0), min(uncut.high, 2.0))
