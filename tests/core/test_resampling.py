from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.core.resampling import cluster_codes, percentile_interval, resample_examples, resample_runs


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


@pytest.mark.parametrize("n_runs", [2, 3, 5, 10])
def test_runs_weighted_spread_as_student_says(n_runs):
    rng = np.random.default_rng(n_runs)
    values = rng.random(n_runs)
    weights = resample_runs(n_runs, rng, 40000)
    assert weights.sum(axis=1) == pytest.approx(np.ones(40000))
    quantiles = [0.05, 0.25, 0.5, 0.75, 0.95]
    expected = stats.t.ppf(quantiles, n_runs - 1, values.mean(), stats.sem(values))
    assert np.quantile(weights @ values, quantiles) == pytest.approx(expected, abs=0.05 * np.ptp(expected))


def test_clusters_are_drawn_whole():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(80), rng.integers(1, 6, 80))
    effects = rng.normal(size=80)[codes]
    draws = resample_examples(np.stack([effects, np.ones(codes.size)]), rng, 4000, codes)
    assert draws[:, 1] == pytest.approx(np.ones(4000))
    sums, sizes = np.bincount(codes, effects), np.bincount(codes)
    linear = (sums - sizes * effects.mean()) / sizes.mean()
    assert draws[:, 0].std() == pytest.approx(linear.std() / np.sqrt(80), rel=0.06)
    alone = resample_examples(effects[np.newaxis], np.random.default_rng(1), 40)
    same = resample_examples(effects[np.newaxis], np.random.default_rng(1), 40, np.arange(codes.size))
    assert alone == pytest.approx(same)


def test_one_run_has_no_noise():
    assert (resample_runs(1, np.random.default_rng(0), 4) == 1).all()


def test_interval_leaves_nan_out():
    interval = percentile_interval(np.array([np.nan, *range(101)]), 0.9)
    assert (interval.low, interval.high) == pytest.approx((5, 95))
    assert math.isnan(percentile_interval(np.array([np.nan]), 0.9).low)


def test_cluster_codes():
    assert cluster_codes(None, 3) is None
    assert cluster_codes([2, 10, 2], 3).tolist() == [1, 0, 1]
    with pytest.raises(InputError, match="one for each of the 3"):
        cluster_codes(["a", "b"], 3)
    with pytest.raises(InputError, match="one cluster"):
        cluster_codes(["a"] * 3, 3)
