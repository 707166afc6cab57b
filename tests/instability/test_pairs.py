from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from goldassay.errors import InputError
from goldassay.instability import top_covarying_pairs

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


@pytest.mark.parametrize("n_runs", [5, 31, 33, 100])
@pytest.mark.parametrize("accuracy", [0.5, 0.9])
def test_many_patterns_agree_with_brute_force(n_runs: int, accuracy: float) -> None:
    rng = np.random.default_rng(n_runs)
    assert_same_pairs((rng.random((n_runs, 700)) < accuracy).astype(float), 50)


def test_many_other_scores_agree_with_brute_force() -> None:
    rng = np.random.default_rng(0)
    assert_same_pairs(np.round(rng.random((4, 700)) * rng.random(700), 2), 50)


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
