"""Two one-sided tests against statsmodels, their words, and how often they are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from goldassay.core.errors import InputError
from goldassay.instability import compare, equivalent_within


@pytest.mark.parametrize("margin", [0.01, 0.05, 0.2])
def test_p_is_that_of_statsmodels(margin):
    rng = np.random.default_rng(0)
    a, b = rng.random((1, 300)), rng.random((1, 300))
    found = compare(a, b)
    ours = equivalent_within(found.difference, found.var_total, found.degrees_of_freedom, margin)
    p, *_ = DescrStatsW((a - b)[0]).ttost_mean(-margin, margin)
    assert ours.p_value == pytest.approx(p)
    low, high = DescrStatsW((a - b)[0]).tconfint_mean(alpha=0.1)
    assert (ours.interval.low, ours.interval.high) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("difference", "error", "word"),
    [
        (0.05, 0.01, "beyond the margin"),
        (0.03, 0.013, "open"),
        (0.005, 0.001, "within the margin"),
        (0.0, 0.002, "equivalent"),
        (-0.05, 0.01, "beyond the margin"),
        (-0.005, 0.001, "within the margin"),
        (0.005, 0.01, "open"),
        (0.0, 0.0, "equivalent"),
        (0.005, 0.0, "within the margin"),
        (0.01, 0.0, "open"),
        (-0.02, 0.0, "beyond the margin"),
    ],
)
def test_words(difference, error, word):
    assert equivalent_within(difference, error**2, 100.0, 0.01).word == word


def test_what_is_not_told_apart_lies_beyond_no_margin():
    """A correction for several pairs takes back what a single test finds, and an interval beyond the margin with it."""
    found = equivalent_within(0.05, 0.01**2, 100.0, 0.01, apart=False)
    assert found.outside
    assert found.word == "open"
    assert equivalent_within(0.005, 0.001**2, 100.0, 0.01, apart=False).word == "equivalent"


@given(st.floats(-1, 1), st.floats(1e-6, 1), st.floats(1, 1000), st.floats(1e-3, 1))
def test_within_is_where_the_interval_is_within(difference, variance, df, margin):
    found = equivalent_within(difference, variance, df, margin)
    inside = -margin < found.interval.low and found.interval.high < margin
    if abs(found.p_value - 0.05) > 1e-6:
        assert (found.p_value < 0.05) == inside
    mirrored = equivalent_within(-difference, variance, df, margin)
    assert mirrored.p_value == pytest.approx(found.p_value)


def test_a_difference_as_large_as_the_margin_is_called_within_in_one_of_twenty():
    rng = np.random.default_rng(1)
    within = 0
    for _ in range(1000):
        shared = rng.random(400)
        a, b = (shared < 0.65).astype(float)[np.newaxis], (rng.random(400) < 0.6).astype(float)[np.newaxis]
        within += of_counts(compare(a, b, n_draws=0), 0.05).p_value <= 0.05
    # 5 % of 1,000: more than 73 has a chance below .001.
    assert within <= 73


def of_counts(found, margin):
    return equivalent_within(found.difference, found.var_total, found.degrees_of_freedom, margin, counts=found.counts)


@pytest.mark.parametrize("n", [10, 30, 500])
def test_two_runs_that_never_differ_are_as_far_apart_as_so_many_examples_leave_open(n):
    """Equal on ten examples is no proof of a margin of a point: the upper end is z²/(n + z²)."""
    found = compare(np.ones((1, n)), np.ones((1, n)))
    z = stats.t.ppf(0.95, n - 1) if n < 20 else stats.norm.ppf(0.95)
    open_to = z**2 / (n + z**2)
    ours = of_counts(found, 0.01)
    assert (ours.interval.low, ours.interval.high) == pytest.approx((-open_to, open_to), abs=1e-9)
    assert ours.word == ("equivalent" if open_to < 0.01 else "open")
    assert of_counts(found, open_to * 1.001).word == "equivalent"
    assert of_counts(found, open_to * 0.999).word == "open"


@pytest.mark.parametrize("margin", [0.0, -1.0, np.nan, np.inf])
def test_a_margin_is_above_zero(margin):
    with pytest.raises(InputError, match="the margin is"):
        equivalent_within(0.0, 1.0, 10.0, margin)


@pytest.mark.parametrize("level", [0.0, 0.5, 1.0])
def test_a_level_is_below_one_half(level):
    with pytest.raises(InputError, match="the level is"):
        equivalent_within(0.0, 1.0, 10.0, 0.1, level)
