from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from goldassay.core.errors import InputError
from goldassay.instability import compare, decompose_variance
from goldassay.questions.instability.measures.comparison import drawn_runs
from goldassay.stats.intervals import PairedCounts

A = np.array([[1, 1, 0, 1], [1, 0, 1, 1]])
B = np.array([[1, 0, 0, 1], [0, 0, 1, 1]])


def test_hand_example() -> None:
    found = compare(A, B)
    assert found.difference == pytest.approx(0.25)
    assert found.var_examples == pytest.approx(1 / 48)
    assert found.var_runs == pytest.approx(0)
    assert found.overlap == pytest.approx(1 / 16)
    assert found.example_variance == 0
    # The runs score the same although their examples flip: what these flips give is all the noise, with the 2 degrees
    # of freedom of two runs of each.
    assert found.var_total == pytest.approx(1 / 16)
    assert found.degrees_of_freedom == pytest.approx(2)
    half = 4.302653 * math.sqrt(1 / 16)
    assert found.interval.low == pytest.approx(0.25 - half, abs=1e-6)
    # No difference of shares is larger than 1; of other scores it may be.
    assert found.interval.high == 1
    assert compare(2 * A, 2 * B).interval.high == pytest.approx(2 * (0.25 + half), abs=1e-6)
    assert found.probability_better == 1.0
    assert (found.n_higher_a, found.n_higher_b, found.of_models) == (2, 0, True)
    assert "2 runs" in found.caveats[0]


binary = hnp.arrays(np.float64, st.tuples(st.integers(2, 4), st.just(6)), elements=st.sampled_from([0.0, 1.0]))
quick = {"n_draws": 99}


@given(binary, binary)
@pytest.mark.filterwarnings("ignore::goldassay.core.errors.UndefinedMeasureWarning")
def test_variances_are_those_of_the_parts(a: np.ndarray, b: np.ndarray) -> None:
    found = compare(a, b, **quick)
    d = a.mean(axis=0) - b.mean(axis=0)
    assert found.difference == pytest.approx(d.mean(), abs=1e-12)
    assert found.var_examples == pytest.approx(stats.sem(d) ** 2, abs=1e-12)
    parts = [decompose_variance(values) for values in (a, b)]
    expected = [part.total / part.n_runs for part in parts]
    assert found.var_runs == pytest.approx(sum(expected), abs=1e-12)
    assert found.overlap == pytest.approx(sum(part.independent / part.n_runs for part in parts), abs=1e-12)
    v = max(0.0, found.var_examples - found.overlap)
    assert found.example_variance == pytest.approx(v, abs=1e-12)
    runs = found.var_runs if found.var_runs > 1e-12 else found.overlap
    assert found.var_total == pytest.approx(v + runs, abs=1e-12)
    assert (found.n_higher_a, found.n_higher_b) == ((d > 1e-9).sum(), (d < -1e-9).sum())
    if found.var_total > 1e-12:
        assert found.share_runs == pytest.approx(runs / found.var_total)
    assert 0 < found.p_examples <= 1


@given(binary, binary)
def test_swapping_the_models_flips_the_sign_only(a: np.ndarray, b: np.ndarray) -> None:
    one, other = compare(a, b, **quick), compare(b, a, **quick)
    assert one.difference == -other.difference
    assert one.var_total == pytest.approx(other.var_total)
    assert one.interval.low == pytest.approx(-other.interval.high)
    assert one.p_value == pytest.approx(other.p_value)
    assert one.p_examples == other.p_examples
    assert one.probability_better == pytest.approx(1 - other.probability_better)


@given(binary)
def test_a_model_against_itself(a: np.ndarray) -> None:
    found = compare(a, a, **quick)
    assert (found.difference, found.p_value, found.p_examples, found.probability_better) == (0, 1, 1, 0.5)
    matched = compare(a, a, matched=True, **quick)
    assert matched.var_total == 0


@given(binary, binary)
def test_clusters_of_one_example_change_nothing(a: np.ndarray, b: np.ndarray) -> None:
    plain, clustered = compare(a, b, **quick), compare(a, b, clusters=list("abcdef"), **quick)
    for name in ("difference", "var_examples", "var_runs", "overlap", "var_total", "p_examples"):
        assert getattr(plain, name) == pytest.approx(getattr(clustered, name), abs=1e-12), name


def test_clusters_by_hand() -> None:
    clusters = ["x", "x", "y", "y"]
    found = compare(A, B, clusters=clusters)
    d = A.mean(axis=0) - B.mean(axis=0) - 0.25
    sums = np.array([d[:2].sum(), d[2:].sum()])
    assert found.var_examples == pytest.approx((sums**2).sum() / 16 * 2)
    parts = [decompose_variance(values, clusters) for values in (A, B)]
    assert found.overlap == pytest.approx(sum((p.independent + (p.within or 0)) / 2 for p in parts))
    assert found.n_clusters == 2


def test_matched_runs_enter_through_their_differences() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 5, 40)).astype(float)
    found = compare(a, b, matched=True)
    parts = decompose_variance(a - b)
    assert found.var_runs == pytest.approx(parts.total / 5)
    assert found.overlap == pytest.approx(parts.independent / 5)


def test_interval_and_p_are_those_of_welch_where_runs_are_all_the_noise() -> None:
    rng = np.random.default_rng(0)
    # Each run is right on a share of examples that all find it equally: examples add next to nothing.
    a, b = (np.tile(rng.normal(0.5, 0.1, (n, 1)), 2000) for n in (4, 6))
    found = compare(a, b, **quick)
    welch = stats.ttest_ind(a[:, 0], b[:, 0], equal_var=False)
    assert found.degrees_of_freedom == pytest.approx(welch.df)
    assert found.p_value == pytest.approx(welch.pvalue)
    expected = welch.confidence_interval(0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high))


def test_of_equal_numbers_of_runs_the_variance_is_pooled() -> None:
    rng = np.random.default_rng(1)
    a, b = (np.tile(rng.normal(0.5, sd, (4, 1)), 2000) for sd in (0.1, 0.04))
    found = compare(a, b, **quick)
    student = stats.ttest_ind(a[:, 0], b[:, 0], equal_var=True)
    assert found.degrees_of_freedom == pytest.approx(6)
    assert found.p_value == pytest.approx(student.pvalue)


def test_runs_that_happen_to_agree_do_not_raise_the_degrees_of_freedom() -> None:
    rng = np.random.default_rng(2)
    ease = rng.normal(0, 1, 400)
    a, b = (ease + rng.normal(0, 1, 400) + rng.normal(0, 1, (2, 400)) for _ in range(2))
    # Both models' runs are shifted until they nearly agree in the mean.
    a, b = (each - each.mean(axis=1, keepdims=True) + np.array([[0.0], [1e-4]]) for each in (a, b))
    found = compare(a, b, **quick)
    assert found.var_runs < found.overlap / 100
    v, flips = found.example_variance, found.overlap
    assert found.var_total == pytest.approx(v + found.var_runs)
    assert found.degrees_of_freedom == pytest.approx((v + flips) ** 2 / (v**2 / 399 + flips**2 / 2))


def test_interval_and_p_are_those_of_the_t_test_where_there_is_one_run() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 1, 12))
    paired = stats.ttest_rel(a[0], b[0])
    found = compare(a, b, **quick)
    assert found.p_value == pytest.approx(paired.pvalue)
    assert found.counts is None
    expected = paired.confidence_interval(0.95)
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high))


def test_one_run_each_has_the_score_test() -> None:
    a = np.array([1] * 10 + [0] * 2 + [1] * 20)[np.newaxis]
    b = np.array([0] * 10 + [1] * 2 + [1] * 20)[np.newaxis]
    found = compare(a, b)
    assert found.test == "score test"
    assert found.p_value == found.p_examples == pytest.approx(0.0209213, abs=5e-8)
    assert found.p_value == pytest.approx(mcnemar([[20, 10], [2, 0]], exact=False, correction=False).pvalue)
    assert found.interval == PairedCounts(10, 2, 32).interval()
    assert math.isnan(found.var_runs)
    assert found.var_total == found.var_examples
    assert math.isnan(found.example_variance)
    assert not found.of_models
    assert (found.n_higher_a, found.n_higher_b) == (10, 2)
    assert "over examples" in found.interval.method
    assert found.skipped
    assert "not whether one model is better" in found.caveats[0]


def test_sign_flips_agree_with_enumeration() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, (2, 3, 12)).astype(float)
    d = a.mean(axis=0) - b.mean(axis=0)
    signs = np.array(np.meshgrid(*[[-1, 1]] * 12)).reshape(12, -1)
    exact = (np.abs(d @ signs) >= abs(d.sum()) - 1e-12).mean()
    assert compare(a, b, n_draws=99_999).p_examples == pytest.approx(exact, abs=0.006)


def test_everything_is_fixed_by_the_seed() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 6, 80)).astype(float)
    one, same = (compare(a, b, method="bootstrap", seed=5, n_draws=200).to_dict() for _ in range(2))
    assert one == same
    assert one != compare(a, b, method="bootstrap", seed=6, n_draws=200).to_dict()


def test_the_bootstrap_is_near_the_normal_interval() -> None:
    rng = np.random.default_rng(1)
    p, q = rng.beta(2, 1, 400), rng.beta(2, 1.2, 400)
    a, b = (rng.random((20, 400)) < p).astype(float), (rng.random((20, 400)) < q).astype(float)
    normal, drawn = compare(a, b), compare(a, b, method="bootstrap")
    assert drawn.interval.low == pytest.approx(normal.interval.low, abs=0.01)
    assert drawn.interval.high == pytest.approx(normal.interval.high, abs=0.01)


def test_the_noise_table() -> None:
    assert compare(A, B).to_frame()["source"].to_list() == ["examples", "runs", "in both", "total"]


def test_bad_input() -> None:
    for arguments, message in (
        ((A, B[:, :3]), "4 and 3 examples"),
        ((A[:, :1], B[:, :1]), "one example"),
        ((A, B, ["x"] * 4), "one cluster"),
    ):
        with pytest.raises(InputError, match=message):
            compare(*arguments)
    with pytest.raises(InputError, match="cannot be matched"):
        compare(A, B[:1], matched=True)
    with pytest.raises(InputError, match="no method"):
        compare(A, B, method="other")
    with pytest.raises(InputError, match="level"):
        compare(A, B, level=2)


def test_the_bootstrap_draws_the_same_examples_for_both_and_whole_clusters() -> None:
    """Models that find the same examples hard: drawn apart, their difference would seem to vary three times as much."""
    rng = np.random.default_rng(3)
    base = rng.random((1, 400)) < 0.6
    a, b = (np.where(rng.random(base.shape) < flips, ~base, base).astype(float) for flips in (0.02, 0.06))
    drawn = compare(a, b, method="bootstrap").interval
    half = 1.96 * (a - b).std(ddof=1) / 20
    assert drawn.high - drawn.low == pytest.approx(2 * half, rel=0.15)
    apart = 1.96 * math.sqrt(a.var(ddof=1) + b.var(ddof=1)) / 20
    assert half < apart / 2
    # Fourfold copies tell nothing more.
    codes = np.repeat(np.arange(400), 4)
    joined = compare(*(np.repeat(each, 4, axis=1) for each in (a, b)), clusters=codes, method="bootstrap").interval
    assert joined.high - joined.low == pytest.approx(2 * half, rel=0.15)


def test_two_runs_are_drawn_and_one_is_not() -> None:
    """Weights of two runs are 1/2 -+ t/2, with Student's t of one degree of freedom, whose median size is 1."""
    rng = np.random.default_rng(0)
    of_a, of_b = drawn_runs(2, 2, False, rng, 4000)
    assert of_a.sum(axis=1) == pytest.approx(np.ones(4000))
    for own in (of_a, of_b):
        assert np.median(np.abs(2 * own[:, 0] - 1)) == pytest.approx(1, abs=0.1)
    assert not np.array_equal(of_a, of_b)
    same, other = drawn_runs(2, 2, True, rng, 50)
    assert np.array_equal(same, other)
    alone, two = drawn_runs(1, 2, False, rng, 3)
    assert alone.tolist() == [[1.0]] * 3
    assert two.tolist() == [[0.5, 0.5]] * 3
