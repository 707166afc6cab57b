from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from goldassay.core.errors import InputError
from goldassay.instability import top_covarying_pairs
from goldassay.questions.instability.measures import covarying_pairs

if TYPE_CHECKING:
    from collections.abc import Callable

    Scores = Callable[[str], np.ndarray]


def brute_force(scores: np.ndarray, k: int) -> list[tuple[int, int, float, int]]:
    covariance = np.round(np.cov(scores.T), 12)
    i, j = np.triu_indices(scores.shape[1], 1)
    values = covariance[i, j]
    order = np.lexsort((j, i, -values))[:k]
    return [(int(i[p]), int(j[p]), float(values[p]), int((values == values[p]).sum())) for p in order]


def assert_same_pairs(scores: np.ndarray, k: int) -> None:
    found = top_covarying_pairs(scores, k)
    if (scores == scores[0]).all():
        assert found.height == 0
        return
    expected = brute_force(scores, k)
    assert [(i, j, ties) for i, j, _, ties in found.rows()] == [(i, j, ties) for i, j, _, ties in expected]
    assert found["covariance"].to_list() == pytest.approx([value for _, _, value, _ in expected], abs=1e-11)


shapes = st.tuples(st.integers(2, 7), st.integers(2, 25))


@given(hnp.arrays(np.float64, shapes, elements=st.sampled_from([0.0, 1.0])), st.integers(1, 400))
def test_binary_scores_agree_with_brute_force(scores: np.ndarray, k: int) -> None:
    assert_same_pairs(scores, k)


@given(hnp.arrays(np.float64, shapes, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])), st.integers(1, 400))
def test_other_scores_agree_with_brute_force(scores: np.ndarray, k: int) -> None:
    assert_same_pairs(scores, k)


@given(
    hnp.arrays(np.float64, shapes, elements=st.sampled_from([0.0, 1.0])),
    st.sampled_from([(0.0, 100.0), (-1.0, 1.0), (0.25, 0.5)]),
    st.integers(1, 40),
)
def test_any_two_values_are_as_right_and_wrong(scores: np.ndarray, values: tuple[float, float], k: int) -> None:
    low, high = values
    right = top_covarying_pairs(scores, k)
    found = top_covarying_pairs(low + (high - low) * scores, k)
    assert found.drop("covariance").equals(right.drop("covariance"))
    assert found["covariance"].to_numpy() == pytest.approx((high - low) ** 2 * right["covariance"].to_numpy())


@given(
    hnp.arrays(np.float64, shapes, elements=st.sampled_from([0.0, 0.5, 1.0])),
    st.integers(1, 60),
    st.randoms(use_true_random=False),
)
def test_the_order_of_runs_does_not_matter(scores: np.ndarray, k: int, random: Any) -> None:
    order = list(range(len(scores)))
    random.shuffle(order)
    found, shuffled = top_covarying_pairs(scores, k), top_covarying_pairs(scores[order], k)
    assert found.drop("covariance").equals(shuffled.drop("covariance"))
    assert found["covariance"].to_numpy() == pytest.approx(shuffled["covariance"].to_numpy(), abs=1e-11)


# Words of 32 runs are taken one to four at a time, and one more begins the next four.
@pytest.mark.parametrize("n_runs", [5, 31, 33, 64, 65, 97, 128, 129, 300])
@pytest.mark.parametrize("accuracy", [0.5, 0.9])
def test_many_patterns_agree_with_brute_force(n_runs: int, accuracy: float) -> None:
    rng = np.random.default_rng(n_runs)
    assert_same_pairs((rng.random((n_runs, 700)) < accuracy).astype(float), 50)


@pytest.mark.parametrize("n_runs", [3, 30])
def test_many_examples_of_every_ease_agree_with_brute_force(n_runs: int) -> None:
    rng = np.random.default_rng(n_runs)
    assert_same_pairs((rng.random((n_runs, 1500)) < rng.random(1500)).astype(float), 300)


def test_many_equal_examples_agree_with_brute_force() -> None:
    rng = np.random.default_rng(0)
    scores = (rng.random((40, 30)) < 0.5).astype(float)[:, rng.integers(0, 30, 1000)]
    assert_same_pairs(scores, 2000)


@pytest.mark.parametrize("k", [1, 3000])
def test_more_ties_than_are_remembered(k: int) -> None:
    # Right in two of 60 runs: the 102,660 pairs that share one of the two all have the same, largest covariance.
    places = np.array(list(itertools.combinations(range(60), 2)))
    scores = np.zeros((60, len(places)))
    scores[places.T, np.arange(len(places))] = 1
    found = top_covarying_pairs(scores, k)
    shares = (places[:, np.newaxis, :, np.newaxis] == places[np.newaxis, :, np.newaxis, :]).any(axis=(2, 3))
    expected = np.argwhere(np.triu(shares, 1))
    assert found.select("i", "j").to_numpy().tolist() == expected[:k].tolist()
    assert found["ties"].unique().to_list() == [len(expected)] == [102_660]
    assert found["covariance"].to_list() == pytest.approx([(60 - 4) / (60 * 59)] * k)


def test_more_runs_than_are_counted_in_whole_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = (np.random.default_rng(0).random((40, 300)) < 0.7).astype(float)
    counted = top_covarying_pairs(scores, 100)
    monkeypatch.setattr(covarying_pairs, "MOST_RUNS", 39)
    computed = top_covarying_pairs(scores, 100)
    assert computed.drop("covariance").equals(counted.drop("covariance"))
    assert computed["covariance"].to_list() == pytest.approx(counted["covariance"].to_list())


@pytest.mark.parametrize("n_runs", [4, 50])
def test_many_other_scores_agree_with_brute_force(n_runs: int) -> None:
    rng = np.random.default_rng(0)
    assert_same_pairs(np.round(rng.random((n_runs, 3000)) * rng.random(3000), 2), 50)


def test_close_covariances_are_told_apart_in_double_precision() -> None:
    # In single precision all these pairs are alike.
    base = np.array([0.0, 1.0, 0.0, 1.0, 1.0])
    scores = np.stack([base * (1 - 1e-9 * step) for step in range(700)], axis=1)
    found = top_covarying_pairs(scores, 5)
    assert found.select("i", "j").rows() == [(0, 1), (0, 2), (0, 3), (1, 2), (0, 4)]
    assert found["ties"].to_list() == [1, 1, 2, 2, 2]


@pytest.mark.parametrize(
    ("name", "ties", "patterns"), [("mnli", 32, 553), ("snli", 24, 379), ("break", 5, 230), ("hans", 2117, 742)]
)
def test_ties_of_the_published_runs(bert_scores: Scores, name: str, ties: int, patterns: int) -> None:
    scores = bert_scores(name)
    assert len(np.unique(scores, axis=1).T) == patterns
    found = top_covarying_pairs(scores, k=3)
    assert found["covariance"].to_list() == pytest.approx([10 / 36] * 3)
    assert found["ties"].to_list() == [ties] * 3
    i, j = found.row(0)[:2]
    assert scores[:, i].tolist() == scores[:, j].tolist()
    assert scores[:, i].sum() == 5


def test_nothing_ever_changes() -> None:
    assert top_covarying_pairs(np.ones((3, 5))).height == 0
    assert top_covarying_pairs(np.ones((3, 5))).columns == ["i", "j", "covariance", "ties"]
    assert top_covarying_pairs([[1], [0]]).height == 0


def test_bad_input() -> None:
    with pytest.raises(InputError, match="2 are needed"):
        top_covarying_pairs([[1, 0]])
    with pytest.raises(InputError, match="k is 0"):
        top_covarying_pairs([[1, 0], [0, 1]], k=0)
