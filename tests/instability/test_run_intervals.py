"""Closed-form intervals over runs against scipy and plain leaving-out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from goldassay.instability import decompose_variance
from goldassay.questions.instability.measures.intervals import (
    independent_interval,
    slope_intervals,
    spread_intervals,
    sum_of_variances_interval,
)


def scores(n_runs: int = 6, n_examples: int = 60, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    level = rng.normal(0, 0.2, (n_runs, 1))
    return (rng.random((n_runs, n_examples)) < np.clip(rng.random(n_examples) + level, 0, 1)).astype(float)


@given(st.integers(3, 8), st.integers(0, 99))
def test_the_jackknife_leaves_out_each_run_in_turn(n_runs: int, seed: int) -> None:
    values = scores(n_runs, seed=seed)
    whole, interval = independent_interval(values, 0.9)
    assert whole == pytest.approx(decompose_variance(values).independent)
    without = [decompose_variance(np.delete(values, run, axis=0)).independent for run in range(n_runs)]
    error = math.sqrt((n_runs - 1) * np.var(without))
    reach = stats.t.ppf(0.95, n_runs - 1) * error / whole
    assert (interval.low, interval.high) == pytest.approx((whole * math.exp(-reach), whole * math.exp(reach)))


def test_one_column_has_the_chi_square_interval_of_its_variance() -> None:
    column = np.random.default_rng(0).normal(size=(7, 1))
    whole, interval = sum_of_variances_interval(column, 0.95)
    assert whole == pytest.approx(column.var(ddof=1))
    expected = whole * 6 / stats.chi2.ppf([0.975, 0.025], 6)
    assert (interval.low, interval.high) == pytest.approx(expected)


def test_more_independent_columns_have_more_degrees_of_freedom() -> None:
    rng = np.random.default_rng(1)
    common, alone = rng.normal(size=(6, 1)).repeat(20, axis=1), rng.normal(size=(6, 20))
    widths = [(found.high / found.low) for _, found in (sum_of_variances_interval(x, 0.95) for x in (common, alone))]
    assert widths[0] == pytest.approx(np.divide(*stats.chi2.ppf([0.975, 0.025], 5)))
    assert widths[1] < 0.8 * widths[0]


def test_shares_are_slopes_with_a_slopes_interval() -> None:
    rng = np.random.default_rng(2)
    parts = rng.normal(size=(8, 3))
    whole = parts.sum(axis=1)
    low, high = slope_intervals(parts, whole, 0.95)
    for column in range(3):
        line = stats.linregress(whole, parts[:, column])
        half = stats.t.ppf(0.975, 6) * line.stderr
        assert (low[column], high[column]) == pytest.approx((line.slope - half, line.slope + half))
    assert np.isnan(slope_intervals(parts, np.ones(8), 0.95)).all()
    assert np.isnan(slope_intervals(parts[:2], whole[:2], 0.95)).all()


@given(st.integers(2, 8), st.integers(0, 99))
def test_intervals_hold_what_was_measured(n_runs: int, seed: int) -> None:
    values = scores(n_runs, seed=seed)
    plain = decompose_variance(values)
    found = spread_intervals(values, 0.95)
    assert values.mean() in found["mean"]
    for name in ("total", "covariance", "design_effect"):
        low, high = found[name].low, found[name].high
        assert low * (1 - 1e-9) <= getattr(plain, name) <= high * (1 + 1e-9) or plain.total < 1e-15
    assert math.isnan(found["independent"].low) == (n_runs == 2)


def test_nothing_varies() -> None:
    found = spread_intervals(np.ones((3, 4)), 0.95)
    assert (found["total"].high, found["independent"].high) == (0, 0)
    assert math.isnan(found["design_effect"].low)
    # Runs that differ by single examples but not in their mean.
    balanced = spread_intervals(np.array([[1.0, 0], [0, 1], [1, 0]]), 0.95)
    assert (balanced["design_effect"].low, balanced["design_effect"].high) == (0, 0)
