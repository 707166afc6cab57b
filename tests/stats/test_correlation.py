"""Correlations with their intervals, against scipy and plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.stats.intervals import correlation_interval


def test_correlation_of_little() -> None:
    assert np.isnan(correlation_interval([1, 1, 1, 1], [1, 2, 3, 4])).all()
    r, low, high = correlation_interval([1, 2, 3], [1, 2, 4])
    assert r == pytest.approx(stats.pearsonr([1, 2, 3], [1, 2, 4])[0])
    assert np.isnan(low)
    assert np.isnan(high)
    assert correlation_interval([1, 2, 3, 4], [2, 4, 6, 8])[1:] == pytest.approx((1, 1))


def test_independent_pairs_have_the_interval_of_fisher() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(12)
    y = x + rng.standard_normal(12)
    expected = stats.pearsonr(x, y)
    bounds = expected.confidence_interval(0.9)
    found = (expected.statistic, bounds.low, bounds.high)
    assert correlation_interval(x, y, 0.9) == pytest.approx(found)
    # Clusters of one pair each are no clusters.
    assert correlation_interval(x, y, 0.9, [f"set {i}" for i in range(12)]) == pytest.approx(found)


def left_out_by_loops(x: list[float], y: list[float], names: list[str], level: float) -> tuple[float, float]:
    found = []
    for name in dict.fromkeys(names):
        kept = [i for i, each in enumerate(names) if each != name]
        found.append(math.atanh(stats.pearsonr([x[i] for i in kept], [y[i] for i in kept]).statistic))
    n = len(found)
    mean = sum(found) / n
    spread = math.sqrt((n - 1) / n * sum((each - mean) ** 2 for each in found))
    middle, reach = math.atanh(stats.pearsonr(x, y).statistic), stats.t.ppf((1 + level) / 2, n - 1) * spread
    return math.tanh(middle - reach), math.tanh(middle + reach)


def test_pairs_of_one_set_are_left_out_together() -> None:
    rng = np.random.default_rng(1)
    names = ["a", "a", "b", "b", "c", "c", "c", "d", "e", "e"]
    x = rng.standard_normal(10)
    y = 0.6 * x + rng.standard_normal(10)
    r, *bounds = correlation_interval(x, y, 0.95, names)
    assert r == pytest.approx(stats.pearsonr(x, y).statistic)
    assert bounds == pytest.approx(left_out_by_loops(x.tolist(), y.tolist(), names, 0.95))
    moved = rng.permutation(10)
    again = correlation_interval(x[moved], y[moved], 0.95, [names[i] for i in moved])
    assert again == pytest.approx((r, *bounds))


def test_the_same_pairs_told_twice_are_no_more_sure() -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal(10)
    y = 0.5 * x + rng.standard_normal(10)
    names = np.repeat(np.arange(10), 2)
    bounds = correlation_interval(np.repeat(x, 2), np.repeat(y, 2), 0.95, names)[1:]
    assert bounds == pytest.approx(left_out_by_loops(x.tolist(), y.tolist(), [str(i) for i in range(10)], 0.95))


def test_coverage_of_sets_with_two_parts() -> None:
    rng = np.random.default_rng(3)
    names, hits, blind = np.repeat(np.arange(8), 2), 0, 0
    for _ in range(200):
        shared, own = rng.standard_normal((8, 1, 2)), rng.standard_normal((8, 2, 2))
        x, y = (0.9**0.5 * shared + 0.1**0.5 * own).reshape(-1, 2).T
        _, low, high = correlation_interval(x, y, 0.95, names)
        hits += low <= 0 <= high
        _, low, high = correlation_interval(x, y)
        blind += low <= 0 <= high
    assert hits >= 182
    assert blind < 178


def test_too_few_sets_have_no_interval() -> None:
    for names in (["a"] * 4, ["a", "a", "b", "b"], ["a", "a", "a", "b"]):
        r, low, high = correlation_interval([1, 2, 3, 5], [2, 1, 4, 4], 0.95, names)
        assert not np.isnan(r)
        assert np.isnan([low, high]).all()
    with pytest.raises(InputError, match=r"clusters have shape \(3,\)"):
        correlation_interval([1, 2, 3, 4], [2, 1, 4, 3], 0.95, ["a", "a", "b"])
