from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.instability import VarianceDecomposition, decompose_variance

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    Scores = Callable[[str], np.ndarray]
    Table = Callable[[str], pl.DataFrame]

POINTS = 10_000
GOLDEN = {
    # set: (ddof, mean, sqrt total, sqrt independent, covariance, sqrt |covariance|, design effect, effective size)
    "mnli": [
        (1, 84.72033, 0.239426, 0.175543, 0.02650956, 0.162818, 1.8603, 5276),
        (0, 84.72033, 0.227139, 0.166534, 0.02385860, 0.154462, 1.8603, 5276),
    ],
    "snli": [
        (1, 91.24467, 0.112232, 0.128231, -0.00384728, 0.062026, 0.7660, 12848),
        (0, 91.24467, 0.106473, 0.121651, -0.00346255, 0.058843, 0.7660, 12848),
    ],
    "break": [
        (1, 95.52911, 0.377169, 0.116795, 0.12861529, 0.358630, 10.4285, 786),
        (0, 95.52911, 0.357814, 0.110802, 0.11575376, 0.340226, 10.4285, 786),
    ],
    "hans": [
        (1, 62.30733, 1.514117, 0.102463, 2.28205136, 1.510646, 218.3638, 137),
        (0, 62.30733, 1.436417, 0.097205, 2.05384622, 1.433125, 218.3638, 137),
    ],
}


def quiet(scores: Any, **settings: Any) -> VarianceDecomposition:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        return decompose_variance(scores, **settings)


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_values_of_the_published_bert_runs(bert_scores: Scores, name: str) -> None:
    scores = bert_scores(name)
    for ddof, mean, total, independent, covariance, root, effect, size in GOLDEN[name]:
        found = decompose_variance(scores, ddof=ddof)
        assert scores.mean() * 100 == pytest.approx(mean, abs=5e-6)
        assert math.sqrt(found.total * POINTS) == pytest.approx(total, abs=1e-6)
        assert math.sqrt(found.independent * POINTS) == pytest.approx(independent, abs=1e-6)
        assert found.covariance * POINTS == pytest.approx(covariance, abs=1e-8)
        assert found.signed_root_covariance * 100 == pytest.approx(math.copysign(root, covariance), abs=1e-6)
        assert found.design_effect == pytest.approx(effect, abs=1e-4)
        assert round(found.effective_size) == size


def test_golden_values_of_hans_by_subcase_and_heuristic(bert_scores: Scores, table: Table) -> None:
    scores = bert_scores("hans")
    gold = table("hans/hans_gold_by_position.tsv.gz")
    subcase = decompose_variance(scores, gold["subcase"].to_numpy())
    assert subcase.n_groups == 30
    assert subcase.total * POINTS == pytest.approx(2.292550, abs=1e-6)
    assert subcase.independent * POINTS == pytest.approx(0.010499, abs=1e-6)
    assert subcase.within is not None
    assert subcase.between is not None
    assert subcase.within * POINTS == pytest.approx(0.955284, abs=1e-6)
    assert subcase.between * POINTS == pytest.approx(1.326768, abs=1e-6)
    heuristic = decompose_variance(scores, gold["heuristic"].to_numpy())
    assert heuristic.within is not None
    assert heuristic.between is not None
    assert heuristic.within * POINTS == pytest.approx(2.813900, abs=1e-6)
    assert heuristic.between * POINTS == pytest.approx(-0.531849, abs=1e-6)


@pytest.mark.parametrize(("ddof", "parts"), [(1, (1 / 48, 1 / 24, -1 / 48)), (0, (1 / 72, 1 / 36, -1 / 72))])
def test_hand_example(ddof: int, parts: tuple[float, ...]) -> None:
    found = decompose_variance([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], ddof=ddof)
    assert (found.total, found.independent, found.covariance) == pytest.approx(parts, abs=1e-15)
    assert (found.n_runs, found.n_examples, found.ddof) == (3, 4, ddof)


def test_one_example_has_no_covariance() -> None:
    found = decompose_variance([[0.1], [0.7], [0.3]])
    assert found.covariance == 0.0
    assert found.total > 0


def test_identical_runs_have_no_variance_and_an_undefined_design_effect() -> None:
    row = np.random.default_rng(0).random(7)
    with pytest.warns(UndefinedMeasureWarning, match="same"):
        found = decompose_variance(np.tile(row, (3, 1)))
    assert (found.total, found.independent, found.covariance) == (0.0, 0.0, 0.0)
    assert math.isnan(found.design_effect)
    assert math.isnan(found.effective_size)
    assert sum(found.skipped.values()) == 1


def test_examples_that_cancel_have_infinite_effective_size() -> None:
    found = decompose_variance([[1, 0], [0, 1]])
    assert found.total == 0.0
    assert found.design_effect == 0.0
    assert math.isinf(found.effective_size)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1, 0, 1]], "one run"),
        ([[1, 0], [np.nan, 1]], "not finite"),
        ([1, 0, 1], "axes"),
        (np.zeros((3, 0)), "no scores"),
        ([["a", "b"], ["c", "d"]], "numbers"),
    ],
)
def test_what_cannot_be_decomposed_is_refused_in_one_line(scores: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        decompose_variance(scores)
    assert "\n" not in str(caught.value)


def test_groups_of_another_length_are_refused() -> None:
    with pytest.raises(InputError, match="groups"):
        decompose_variance([[1, 0], [0, 1]], groups=["a"])


arrays = hnp.arrays(
    np.float64,
    st.tuples(st.integers(2, 6), st.integers(1, 8)),
    elements=st.floats(0, 1, width=16),
)
binary = hnp.arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(1, 8)), elements=st.sampled_from([0.0, 1.0]))


@given(arrays, st.sampled_from([0, 1]))
def test_equals_the_full_covariance_matrix(scores: np.ndarray, ddof: int) -> None:
    found = quiet(scores, ddof=ddof)
    matrix = np.atleast_2d(np.cov(scores.T, ddof=ddof)) / scores.shape[1] ** 2
    assert found.total == pytest.approx(matrix.sum(), abs=1e-12)
    assert found.independent == pytest.approx(np.trace(matrix), abs=1e-12)
    assert found.covariance == pytest.approx(matrix.sum() - np.trace(matrix), abs=1e-12)
    assert found.total == pytest.approx(found.independent + found.covariance, abs=1e-12)


@given(arrays, st.randoms(use_true_random=False), st.floats(-3, 3))
def test_symmetries(scores: np.ndarray, random: Any, factor: float) -> None:
    def parts(values: np.ndarray, ddof: int = 1) -> np.ndarray:
        found = quiet(values, ddof=ddof)
        return np.array([found.total, found.independent, found.covariance])

    n_runs, n_examples = scores.shape
    plain = parts(scores)
    rng = np.random.default_rng(random.randint(0, 1000))
    assert parts(scores[:, rng.permutation(n_examples)]) == pytest.approx(plain, abs=1e-12)
    assert parts(scores[rng.permutation(n_runs)]) == pytest.approx(plain, abs=1e-12)
    assert parts(1 - scores) == pytest.approx(plain, abs=1e-12)
    assert parts(factor * scores) == pytest.approx(factor**2 * plain, abs=1e-12)
    assert parts(scores, 0) * n_runs / (n_runs - 1) == pytest.approx(plain, abs=1e-12)
    doubled = quiet(np.repeat(scores, 2, axis=1))
    assert doubled.total == pytest.approx(plain[0], abs=1e-12)
    assert doubled.independent == pytest.approx(plain[1] / 2, abs=1e-12)


@given(binary)
def test_independent_part_of_binary_scores(scores: np.ndarray) -> None:
    n_examples = scores.shape[1]
    p = scores.mean(axis=0)
    found = quiet(scores, ddof=0)
    assert found.independent == pytest.approx((p * (1 - p)).sum() / n_examples**2, abs=1e-12)
    assert found.independent <= 1 / (4 * n_examples) + 1e-12


@given(binary)
def test_identical_columns_leave_total_over_n(scores: np.ndarray) -> None:
    copies = np.repeat(scores[:, :1], 5, axis=1)
    assume(np.ptp(copies) > 0)
    found = decompose_variance(copies)
    assert found.independent == pytest.approx(found.total / 5, abs=1e-12)
    assert found.design_effect == pytest.approx(5)


def test_independent_columns_have_no_covariance_on_average() -> None:
    rng = np.random.default_rng(0)
    found = [decompose_variance(rng.integers(0, 2, (5, 20))).covariance for _ in range(2000)]
    assert abs(np.mean(found)) < 4 * np.std(found) / math.sqrt(2000)


@given(arrays, st.data())
def test_parts_by_group_add_up(scores: np.ndarray, data: st.DataObject) -> None:
    n_examples = scores.shape[1]
    groups = data.draw(st.lists(st.sampled_from("abc"), min_size=n_examples, max_size=n_examples))
    found = quiet(scores, groups=groups)
    assert found.within is not None
    assert found.between is not None
    assert found.within + found.between == pytest.approx(found.covariance, abs=1e-12)
    matrix = np.atleast_2d(np.cov(scores.T)) / n_examples**2
    same = np.array(groups)[:, None] == np.array(groups)[None]
    assert found.within == pytest.approx((matrix * same).sum() - np.trace(matrix), abs=1e-12)
    one = quiet(scores, groups=["all"] * n_examples)
    assert one.within == pytest.approx(one.covariance, abs=1e-12)
    single = quiet(scores, groups=[str(i) for i in range(n_examples)])
    assert single.within == pytest.approx(0, abs=1e-12)


def test_result_turns_into_plain_data() -> None:
    plain = decompose_variance([[1, 0, 1], [0, 1, 1]], groups=["a", "a", "b"]).to_dict()
    assert plain["n_groups"] == 2
    assert plain["effective_size"] is None  # infinite: the runs have the same score
