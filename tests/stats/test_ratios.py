"""Sums of ratios under weights of clusters: values and standard errors against a loop over the rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from goldassay.stats import bootstrap as module


def drawn(seed: int, n: int, n_classes: int, of_a_cluster: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gold labels, of which the first is the most frequent, whether each was right, and clusters."""
    rng = np.random.default_rng(seed)
    gold = np.where(rng.random(n) < 0.2, 0, rng.integers(0, n_classes, n))
    return gold, (rng.random(n) < 0.4 + 0.3 * (gold == 0)).astype(float), np.arange(n) // of_a_cluster


@pytest.mark.parametrize("n_classes", [3, 40])
@pytest.mark.parametrize("of_a_cluster", [1, 4])
def test_values_and_errors_under_weights_are_those_of_a_loop(n_classes: int, of_a_cluster: int) -> None:
    gold, right, clusters = drawn(2, 400 * n_classes // 3, n_classes, of_a_cluster)
    n = int(clusters.max()) + 1
    ratios = module.Ratios()
    places = ratios.add_differences(right, np.where(gold == 1, -1, gold), n_classes)
    assert ratios.add_recalls(right, gold, n_classes) == n_classes == len(places)

    def summed(columns: list[np.ndarray]) -> np.ndarray:
        return np.array([np.bincount(clusters, weights=each, minlength=n) for each in columns]).reshape(-1, n).T

    counts = np.random.default_rng(3).multinomial(n, np.full(n, 1 / n), size=5).astype(float)
    combined = [each if isinstance(each, module._Sum) else each.by_cluster(clusters, n) for each in ratios.combined]
    assert all(isinstance(each, module._Sum) for each in combined) == (n_classes == 3)
    values, errors = module._Spread(summed(ratios.above), summed(ratios.below), combined).measure(counts)
    for draw, weights in enumerate(counts):
        rows = np.repeat(np.arange(n), weights.astype(int))
        members = [np.flatnonzero(clusters == cluster) for cluster in rows]
        at = np.concatenate(members)
        y, r = gold[at], right[at]
        own = np.repeat(np.arange(len(members)), [each.size for each in members])
        differences = [r - (y == k) * (k != 1) for k in range(n_classes)]
        recalls = np.array([r[y == k].mean() for k in range(n_classes)])
        influence = [
            *((each - each.mean()) / y.size for each in differences),
            sum((y == k) * (r - recalls[k]) / (y == k).sum() / n_classes for k in range(n_classes)),
        ]
        wanted = [*(each.mean() for each in differences), recalls.mean()]
        for place, (value, each) in enumerate(zip(wanted, influence, strict=True)):
            sums = np.bincount(own, weights=each)
            assert values[draw, place] == pytest.approx(value)
            assert errors[draw, place] == pytest.approx(math.sqrt(n / (n - 1) * (sums**2).sum()))


def test_examples_of_no_class_do_not_count() -> None:
    gold, right, clusters = drawn(4, 3000, 30, 2)
    left_out = np.arange(gold.size) % 5 == 0
    ratios, fewer = module.Ratios(), module.Ratios()
    ratios.add_recalls(right, np.where(left_out, -1, gold), 30)
    fewer.add_recalls(right[~left_out], gold[~left_out], 30)
    # Both draw all clusters: each has an example that counts.
    found, wanted = (
        module.resample_ratios(each, codes, np.random.default_rng(0), 50, few=False, by_kind=True)
        for each, codes in ((ratios, clusters), (fewer, clusters[~left_out]))
    )
    np.testing.assert_allclose(found.values, wanted.values)
    np.testing.assert_allclose(found.t, wanted.t, rtol=1e-9)
