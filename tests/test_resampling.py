from __future__ import annotations

import math

import numpy as np
import pytest

from goldassay.resampling import percentile_interval, resample_examples, resample_runs


def test_examples_have_the_variance_of_a_mean():
    rng = np.random.default_rng(0)
    values = rng.random((3, 400))
    draws = resample_examples(values, rng, 6000)
    assert draws.shape == (6000, 3)
    assert draws.mean(axis=0) == pytest.approx(values.mean(axis=1), abs=2e-3)
    assert draws.std(axis=0) == pytest.approx(values.std(axis=1) / 20, rel=0.05)


def test_rows_are_drawn_together():
    values = np.random.default_rng(0).random((1, 50))
    draws = resample_examples(np.vstack([values, 1 - values]), np.random.default_rng(1), 70)
    assert draws.sum(axis=1) == pytest.approx(np.ones(70))


@pytest.mark.parametrize("n_runs", [2, 5, 10])
def test_runs_have_the_unbiased_variance_of_a_mean(n_runs):
    rng = np.random.default_rng(n_runs)
    values = rng.random(n_runs)
    weights = resample_runs(n_runs, rng, 20000)
    assert weights.sum(axis=1) == pytest.approx(np.ones(20000))
    assert (weights @ values).std() == pytest.approx(values.std(ddof=1) / np.sqrt(n_runs), rel=0.04)


def test_one_run_has_no_noise():
    assert (resample_runs(1, np.random.default_rng(0), 4) == 1).all()


def test_interval_leaves_nan_out():
    interval = percentile_interval(np.array([np.nan, *range(101)]), 0.9)
    assert (interval.low, interval.high) == pytest.approx((5, 95))
    assert math.isnan(percentile_interval(np.array([np.nan]), 0.9).low)
