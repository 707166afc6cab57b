from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.stats.bootstrap import (
    draw_clusters,
    draw_once,
    drawn_score_interval,
    percentile_interval,
    resample_examples,
    resample_runs,
    score_interval,
)
from goldassay.stats.clusters import cluster_codes


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


def test_one_run_that_is_right_or_wrong_has_wilsons_interval():
    scores = (np.random.default_rng(0).random((1, 90)) < 0.8).astype(float)
    expected = stats.binomtest(int(scores.sum()), 90).proportion_ci(method="wilson")
    found = score_interval(scores)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    codes = np.repeat(np.arange(30), 3)
    assert score_interval(scores, codes) != found
    assert score_interval(scores, scale=(-math.inf, math.inf)).method == "bootstrap"


@pytest.mark.parametrize("clustered", [False, True])
def test_the_interval_of_a_score_has_both_noises(clustered):
    """Many runs and examples: variances add, and the interval is about normal."""
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(200), 3)
    # What examples of a cluster share, and what a run has on all examples.
    level = 0.6 + 0.1 * rng.normal(size=(30, 1)) + 0.2 * rng.normal(size=200)[codes]
    scores = np.clip(level, 0, 1)
    found = score_interval(scores, codes if clustered else None, seed=3, n_draws=4000)
    by_example = scores.mean(axis=0)
    units = by_example.reshape(200, 3).mean(axis=1) if clustered else by_example
    sd = math.sqrt(units.var() / units.size + scores.mean(axis=1).var(ddof=1) / 30)
    assert (found.low + found.high) / 2 == pytest.approx(scores.mean(), abs=0.1 * sd)
    assert found.high - found.low == pytest.approx(2 * stats.norm.ppf(0.975) * sd, rel=0.07)


def test_an_interval_of_a_score_is_cut_at_the_ends_of_its_scale():
    scores = np.array([[1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0]])
    cut, free = score_interval(scores), score_interval(scores, scale=(-math.inf, math.inf))
    assert free.high > cut.high == 1
    assert free.low < cut.low == 0


def test_examples_that_were_drawn_already_give_the_same_interval():
    scores = np.random.default_rng(0).random((4, 60))
    rng = np.random.default_rng(7)
    means = resample_examples(scores, rng, 300)
    state = rng.bit_generator.state
    assert drawn_score_interval(means, rng) == score_interval(scores, seed=7, n_draws=300)
    assert rng.bit_generator.state == state


@pytest.mark.parametrize("at_once", [1, 13, 60])
@pytest.mark.parametrize("n", [1, 7, 300, 9001])
def test_draws_do_not_depend_on_how_many_are_made_at_once(n: int, at_once: int) -> None:
    found = list(draw_clusters(n, 60, np.random.default_rng(3), at_once=at_once))
    assert [row for rows, _ in found for row in range(60)[rows]] == list(range(60))
    rng = np.random.default_rng(3)
    for row in np.concatenate([counts for _, counts in found]):
        assert np.array_equal(row, np.bincount(rng.integers(0, n, n), minlength=n))
    assert np.array_equal(draw_once(n, np.random.default_rng(3)), found[0][1][0])


def test_kinds_are_drawn_as_often_as_their_clusters() -> None:
    kinds = np.array([60, 30, 10])
    ((_, of_kinds),) = draw_clusters(100, 4000, np.random.default_rng(0), kinds=kinds, at_once=4000)
    ((_, counts),) = draw_clusters(100, 4000, np.random.default_rng(1), at_once=4000)
    of_clusters = np.add.reduceat(counts, [0, 60, 90], axis=1)
    assert (of_kinds.sum(axis=1) == 100).all()
    assert of_kinds.mean(axis=0) == pytest.approx(kinds, abs=0.4)
    assert np.cov(of_kinds.T) == pytest.approx(np.cov(of_clusters.T), abs=1.5)
