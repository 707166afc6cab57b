"""Items and totals against loops and against the formulas of the sources."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f, false_discovery_control, pearsonr

from goldassay.board import describe_items, reliability


def board(n_systems: int, n_items: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    skill, need = rng.random((n_systems, 1)), rng.random(n_items)
    return (rng.random((n_systems, n_items)) < 1 / (1 + np.exp(6 * (need - skill)))).astype(float)


def test_discrimination_is_the_correlation_with_the_rest() -> None:
    values = board(25, 40)
    values[:, 3] = 1
    found = describe_items(values)
    p = np.full(40, np.nan)
    for i in range(40):
        rest = np.delete(values, i, axis=1).sum(axis=1)
        if np.ptp(values[:, i]) > 0:
            wanted = pearsonr(values[:, i], rest)
            assert found.discrimination[i] == pytest.approx(wanted.statistic)
            p[i] = wanted.pvalue
        else:
            assert np.isnan(found.discrimination[i])
    known = ~np.isnan(p)
    assert found.q[known] == pytest.approx(false_discovery_control(p[known]))
    assert found.n_solved.tolist() == values.sum(axis=0).astype(int).tolist()


def test_a_wrong_answer_correlates_the_other_way() -> None:
    values = board(60, 80, 1)
    values[:, 5] = 1 - values[:, np.argsort(-describe_items(values).discrimination)[0]]
    found = describe_items(values)
    assert found.discrimination[5] < -0.3
    assert found.q[5] < 0.05
    assert (found.q[(found.discrimination < 0)] < 0.05).sum() <= 2


def test_few_systems_have_no_q() -> None:
    assert np.isnan(describe_items(board(19, 30)).q).all()


def test_reliability_is_that_of_the_formula() -> None:
    values = board(30, 50, 2)
    n = values.shape[1]
    shares = values.mean(axis=0)
    # Kuder and Richardson's own form, with variances over M in both parts.
    wanted = n / (n - 1) * (1 - (shares * (1 - shares)).sum() / values.sum(axis=1).var())
    found = reliability(values)
    assert found.value == pytest.approx(wanted)
    assert found.low == pytest.approx(1 - (1 - wanted) * f.ppf(0.975, 29, 29 * 49))
    assert found.high == pytest.approx(1 - (1 - wanted) * f.ppf(0.025, 29, 29 * 49))
    # Spearman and Brown: k times as many items have the reliability k r / (1 + (k - 1) r).
    k = found.items_needed / n
    assert k * wanted / (1 + (k - 1) * wanted) == pytest.approx(0.9)


def test_reliability_without_differences_says_why() -> None:
    assert reliability(np.ones((5, 4))).reason == "all systems have the same total"
    assert reliability(board(2, 9)).reason == "it takes three systems"
