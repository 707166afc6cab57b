"""Totals over several datasets: against the plain comparison, a loop over strata, and worlds with a known truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.instability import compare, compare_totals


def answered(rng, sizes, n_runs, skills, luck=0.0, joint=True):
    """0/1 scores of runs (R, N_k) of each dataset; a run's luck is the same on all of them where joint."""
    shared = rng.normal(0, luck, n_runs)
    sets = []
    for size, skill in zip(sizes, skills, strict=True):
        own = shared if joint else rng.normal(0, luck, n_runs)
        sets.append((rng.random((n_runs, size)) < np.clip(skill + own, 0, 1)[:, np.newaxis]).astype(float))
    return sets


@pytest.mark.parametrize("n_runs", [1, 4])
@pytest.mark.parametrize("method", ["normal", "bootstrap"])
def test_of_one_dataset_it_is_the_comparison(n_runs, method):
    rng = np.random.default_rng(0)
    (a,), (b,) = answered(rng, [200], n_runs, [0.6], 0.02), answered(rng, [200], n_runs, [0.5], 0.02)
    one = compare(a, b, method=method)
    total = compare_totals([(a, b)], [3.0], joint=True, method=method)
    for name in ("difference", "var_total", "degrees_of_freedom", "p_value", "mean_a", "mean_b", "of_models"):
        assert getattr(total, name) == pytest.approx(getattr(one, name)), name
    # The bootstrap of a comparison draws runs after examples.
    near = 1e-12 if method == "normal" else 0.02
    assert total.interval.low == pytest.approx(one.interval.low, abs=near)
    assert total.interval.high == pytest.approx(one.interval.high, abs=near)


def test_totals_are_those_of_a_loop_over_strata():
    rng = np.random.default_rng(1)
    sizes = [50, 200, 1000]
    a, b = answered(rng, sizes, 1, [0.7, 0.6, 0.3]), answered(rng, sizes, 1, [0.6, 0.6, 0.35])
    for weights in ([1, 1, 1], sizes, [0, 2, 1]):
        total = compare_totals(list(zip(a, b, strict=True)), weights)
        w = np.array(weights) / np.sum(weights)
        differences = [float((x - y).mean()) for x, y in zip(a, b, strict=True)]
        errors = [stats.sem((x - y)[0]) for x, y in zip(a, b, strict=True)]
        assert total.difference == pytest.approx(np.dot(w, differences))
        assert total.var_total == pytest.approx(np.dot(w**2, np.square(errors)))
        assert total.mean_a == pytest.approx(np.dot(w, [x.mean() for x in a]))
        assert not total.of_models
    # The micro mean is the share over all examples.
    total = compare_totals(list(zip(a, b, strict=True)), sizes)
    assert total.mean_a == pytest.approx(np.concatenate(a, axis=1).mean())


def test_clusters_widen_the_total():
    rng = np.random.default_rng(2)
    codes = np.repeat(np.arange(40), 10)
    a = np.repeat(rng.random(40) < 0.6, 10)[np.newaxis].astype(float)
    b = np.repeat(rng.random(40) < 0.5, 10)[np.newaxis].astype(float)
    plain = compare_totals([(a, b), (a, b)], [1, 1])
    clustered = compare_totals([(a, b), (a, b)], [1, 1], [codes, None])
    assert clustered.var_total > 2 * plain.var_total


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("method", ["normal", "bootstrap"])
def test_intervals_cover_whether_or_not_a_run_answers_all_datasets(joint, method):
    """Luck that all datasets share adds up; taken for independent, it is not seen."""
    rng = np.random.default_rng(3)
    sizes, n_runs = [100, 100, 100, 100], 6
    n_draws = 300 if method == "normal" else 60
    covered = {True: 0, False: 0}
    for draw in range(n_draws):
        a = answered(rng, sizes, n_runs, [0.5] * 4, 0.05, joint)
        b = answered(rng, sizes, n_runs, [0.5] * 4, 0.05, joint)
        for taken in (True, False) if method == "normal" else (joint,):
            found = compare_totals(
                list(zip(a, b, strict=True)), [1] * 4, joint=taken, method=method, seed=draw
            ).interval  # fmt: skip
            covered[taken] += found.low <= 0 <= found.high
    # Of 300 draws at 95 % fewer than 271 have a chance below .001, and of 60 at 90 % (six runs are few to draw from)
    # fewer than 46.
    assert covered[joint] >= (271 if method == "normal" else 46)
    if joint and method == "normal":
        assert covered[False] < 265


def test_matched_runs_share_their_luck():
    rng = np.random.default_rng(4)
    luck = rng.normal(0, 0.05, 8)
    sets = []
    for size in (400, 400):
        base = np.clip(0.5 + luck, 0, 1)[:, np.newaxis]
        sets.append(tuple((rng.random((8, size)) < base).astype(float) for _ in range(2)))
    apart = compare_totals(sets, [1, 1], joint=True)
    together = compare_totals(sets, [1, 1], joint=True, matched=True)
    assert together.var_total < 0.5 * apart.var_total


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 3))
def test_sides_change_places_and_weights_have_no_scale(seed, n_sets, n_runs):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 30, n_sets)
    a = answered(rng, sizes, n_runs, rng.random(n_sets), 0.1)
    b = answered(rng, sizes, n_runs, rng.random(n_sets), 0.1)
    weights = rng.random(n_sets) + 0.1
    one = compare_totals(list(zip(a, b, strict=True)), weights, joint=True)
    other = compare_totals(list(zip(b, a, strict=True)), 7 * weights, joint=True)
    assert one.difference == pytest.approx(-other.difference)
    assert one.interval.low == pytest.approx(-other.interval.high)
    assert one.var_total == pytest.approx(other.var_total)
    assert one.p_value == pytest.approx(other.p_value)


@pytest.mark.parametrize("weights", [[1], [1, -1], [0, 0], [1, np.nan], []])
def test_weights_that_do_not_fit_are_refused(weights):
    pair = (np.ones((1, 5)), np.zeros((1, 5)))
    with pytest.raises(InputError, match="weights for 2 datasets"):
        compare_totals([pair, pair], weights)


def test_joint_runs_are_as_many_everywhere():
    rng = np.random.default_rng(0)
    first, second = rng.random((3, 5)), rng.random((4, 5))
    with pytest.raises(InputError, match="different numbers of runs"):
        compare_totals([(first, first), (second, first)], [1, 1], joint=True)
