from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from goldassay.core.errors import InputError
from goldassay.instability import score_one_run


@pytest.mark.parametrize(("right", "n"), [(730, 1000), (5000, 10_000), (9990, 10_000)])
def test_many_independent_examples_have_wilsons_interval(right: int, n: int) -> None:
    """Student's allowance for few clusters vanishes, and n* is N - 1."""
    scores = np.repeat([1.0, 0.0], [right, n - right])
    found = score_one_run(scores).interval
    wanted = binomtest(right, n).proportion_ci(method="wilson")
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high), abs=2e-4)


def test_the_standard_error_is_that_of_a_clustered_regression() -> None:
    statsmodels = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(40), rng.integers(1, 9, 40))
    scores = (rng.random(clusters.size) < rng.beta(2, 1, 40)[clusters]).astype(float)
    fitted = statsmodels.OLS(scores, np.ones(scores.size)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    found = score_one_run(scores, clusters)
    assert found.standard_error == pytest.approx(float(fitted.bse[0]), rel=1e-12)
    assert (found.n_examples, found.n_clusters) == (scores.size, 40)


def test_clusters_of_one_example_are_none_at_all() -> None:
    scores = np.random.default_rng(0).random(50)
    assert score_one_run(scores, np.arange(50)[::-1]) == score_one_run(scores)


def test_copies_of_examples_count_once() -> None:
    once = np.random.default_rng(0).integers(0, 2, 60).astype(float)
    copies = score_one_run(np.repeat(once, 10), np.repeat(np.arange(60), 10)).interval
    alone = score_one_run(once).interval
    assert (copies.low, copies.high) == pytest.approx((alone.low, alone.high), rel=1e-9)
    # One by one they would seem to tell three times as much.
    blind = score_one_run(np.repeat(once, 10)).interval
    assert blind.high - blind.low < 0.4 * (alone.high - alone.low)


def test_examples_of_a_cluster_that_offset_each_other_buy_nothing() -> None:
    scores, clusters = np.tile([0.0, 1.0], 50), np.repeat(np.arange(50), 2)
    found = score_one_run(scores, clusters)
    assert found.standard_error == score_one_run(scores).standard_error


@pytest.mark.parametrize("score", [0.0, 0.7, 1.0])
def test_equal_scores_are_not_taken_for_certain(score: float) -> None:
    found = score_one_run(np.full(30, score))
    assert found.standard_error == 0
    assert found.interval.high - found.interval.low > 0.1
    assert score in found.interval
    together = score_one_run(np.full(30, score), np.repeat(np.arange(5), 6)).interval
    assert together.high - together.low > found.interval.high - found.interval.low


@given(st.lists(st.sampled_from([0.0, 0.25, 1.0]), min_size=2, max_size=30), st.integers(2, 9))
def test_the_interval_holds_the_mean_within_what_is_possible(scores: list[float], n_clusters: int) -> None:
    clusters = np.arange(len(scores)) % n_clusters
    found = score_one_run(scores, clusters)
    assert 0 <= found.interval.low <= found.mean <= found.interval.high <= 1
    assert found.interval.high > found.interval.low


@pytest.mark.parametrize(("n_clusters", "size", "mean"), [(200, 1, 0.9), (60, 10, 0.7), (25, 8, 0.5)])
def test_intervals_cover_the_score_of_all_examples(n_clusters: int, size: int, mean: float) -> None:
    """Clusters have an intraclass correlation of .2. At least 93 % of 1,000 draws are to be covered."""
    rng = np.random.default_rng(7)
    clusters = np.repeat(np.arange(n_clusters), size)
    a, b = 4 * mean, 4 * (1 - mean)
    covered = 0
    for _ in range(1000):
        shares = rng.beta(a, b, n_clusters) if size > 1 else np.full(n_clusters, mean)
        scores = (rng.random(clusters.size) < shares[clusters]).astype(float)
        covered += mean in score_one_run(scores, clusters).interval
    assert 930 <= covered <= 985


@pytest.mark.parametrize(
    ("scores", "clusters", "said"),
    [
        ([1.0], None, "one example has no spread over examples"),
        ([1.0, 0.0], [3, 3], "all examples are one cluster"),
        ([1.0, 2.0], None, "outside"),
        ([1.0, float("nan")], None, "not finite"),
        ([1.0, 0.0], [1], "clusters have shape"),
        ([[1.0, 0.0]], None, "axes"),
    ],
)
def test_what_cannot_be_measured(scores: Any, clusters: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        score_one_run(scores, clusters)
