"""Coincidence of properties, against scipy, statsmodels, shuffled arrays and a plain loop."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import StratifiedTable

from goldassay.core.errors import InputError
from goldassay.papers.coincidence import coincidence

TRIPLES = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 2)), min_size=1, max_size=60)


def made(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    strata = rng.integers(0, 3, n)
    first = rng.random(n) < 0.2 + 0.2 * strata
    second = rng.random(n) < np.where(first, 0.5, 0.3) * (0.5 + 0.4 * strata)
    return first, second, strata


def test_the_expectation_is_that_of_mantel_and_haenszel():
    first, second, strata = made(400)
    tables = [
        np.array([[np.sum((first == a) & (second == b) & (strata == s)) for b in (1, 0)] for a in (1, 0)])
        for s in range(3)
    ]
    found = coincidence(first, second, strata)
    null = sum(table[0].sum() * table[:, 0].sum() / table.sum() for table in tables)
    assert found.expected == pytest.approx(null)
    assert found.observed == sum(table[0, 0] for table in tables)
    # The same question in another form: both must tell chance from more than chance.
    assert (StratifiedTable(tables).test_null_odds().pvalue < 0.05) == (found.p_value < 0.05)


def test_in_one_stratum_the_test_is_that_of_the_hypergeometric():
    first, second, _ = made(60, 3)
    found = coincidence(first, second, n_draws=200_000)
    law = stats.hypergeom(first.size, first.sum(), second.sum())
    support = np.arange(first.size + 1)
    far = np.abs(support - found.expected) >= abs(found.observed - found.expected) - 1e-9
    exact = law.pmf(support)[far].sum()
    assert found.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 200_000) + 1e-5)


def test_permutations_are_those_of_shuffled_arrays():
    first, second, strata = made(80, 5)
    found = coincidence(first, second, strata, n_draws=20_000)
    rng = np.random.default_rng(1)
    n_far = 0
    for _ in range(4000):
        shuffled = second.copy()
        for s in range(3):
            shuffled[strata == s] = rng.permutation(shuffled[strata == s])
        n_far += abs((first & shuffled).sum() - found.expected) >= abs(found.observed - found.expected) - 1e-9
    assert found.p_value == pytest.approx(n_far / 4000, abs=0.03)


def test_the_interval_is_that_of_drawn_examples():
    first, second, strata = made(300, 7)
    found = coincidence(first, second, strata)
    rng = np.random.default_rng(2)
    ratios = []
    for _ in range(2000):
        rows = rng.integers(0, 300, 300)
        again = coincidence(first[rows], second[rows], strata[rows], n_draws=1)
        ratios.append(again.ratio)
    low, high = np.quantile(ratios, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.05)
    assert found.low < found.ratio < found.high


@pytest.mark.parametrize(("n_first", "known"), [(3, False), (4, True)])
def test_a_class_that_many_draws_miss_has_no_interval(n_first: int, known: bool):
    # No draw of N holds any of n with probability (1 - n/N)^N, about exp(-n): 4.7 % of 3, 1.6 % of 4.
    first, second = np.arange(200) < n_first, np.arange(200) % 2 == 0
    assert ((1 - n_first / 200) ** 200 <= 0.025) == known
    found = coincidence(first, second)
    assert found.ratio == pytest.approx(found.observed / (n_first / 2))
    assert (math.isfinite(found.low), math.isfinite(found.high)) == (known, known)


@given(TRIPLES)
def test_counts_are_those_of_a_loop(rows: list[tuple[bool, bool, int]]):
    first, second, strata = (list(column) for column in zip(*rows, strict=True))
    found = coincidence(first, second, strata, n_draws=20)
    expected = 0.0
    for s in set(strata):
        inside = [row for row in rows if row[2] == s]
        expected += sum(row[0] for row in inside) * sum(row[1] for row in inside) / len(inside)
    assert found.observed == sum(a and b for a, b, _ in rows)
    assert found.expected == pytest.approx(expected)
    assert (found.n_first, found.n_second, found.n_examples) == (sum(first), sum(second), len(rows))
    assert 0 < found.p_value <= 1
    assert math.isnan(found.ratio) == (found.expected == 0) == bool(found.reason)


@given(TRIPLES)
def test_the_order_of_the_two_does_not_matter(rows: list[tuple[bool, bool, int]]):
    first, second, strata = (list(column) for column in zip(*rows, strict=True))
    one, two = coincidence(first, second, strata, n_draws=1), coincidence(second, first, strata, n_draws=1)
    assert (one.observed, one.expected) == (two.observed, pytest.approx(two.expected))


def test_a_stratum_can_explain_all_of_it():
    strata = np.repeat([0, 1], 200)
    rng = np.random.default_rng(0)
    first, second = (rng.random(400) < np.where(strata == 1, 0.9, 0.1) for _ in range(2))
    assert coincidence(first, second).ratio > 1.5
    within = coincidence(first, second, strata)
    assert within.low < 1 < within.high
    assert within.p_value > 0.05


def test_none_in_common_has_the_upper_bound_of_a_poisson_count():
    first = np.arange(400) < 100
    found = coincidence(first, (np.arange(400) >= 100) & (np.arange(400) < 120))
    assert (found.observed, found.ratio, found.low) == (0, 0, 0)
    assert found.high == pytest.approx(stats.chi2.ppf(0.975, 2) / 2 / found.expected)


def test_the_same_seed_gives_the_same():
    first, second, strata = made(100)
    assert coincidence(first, second, strata, seed=4) == coincidence(first, second, strata, seed=4)


@pytest.mark.parametrize("values", [([], []), ([True], [True, False])])
def test_lengths_must_fit(values: tuple[list[bool], list[bool]]):
    with pytest.raises(InputError, match="give one of each an example"):
        coincidence(*values)
