from __future__ import annotations

import math

import numpy as np
import pytest

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.leakage import peco
from goldassay.questions.leakage.measures.peco import cluster_embeddings, reduce_embeddings


def made(leak: float, seed: int = 0, n: int = 600):
    """Topics far apart; in a share of them the topic decides the label."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 12, n)
    labels = np.where(topic < 12 * leak, topic % 3, rng.integers(0, 3, n))
    return rng.normal(0, 20, (12, 40))[topic] + rng.normal(0, 1, (n, 40)), labels


def test_finds_leaking_topics():
    points, labels = made(0.5)
    result = peco(points, labels, n_clusters=12, n_repetitions=3)
    assert result.clustering.biased.sum() == 6
    assert result.p_value < 0.01
    assert result.score == pytest.approx(result.scores.mean())
    assert result.score_low <= result.score <= result.score_high
    assert result.scores.size == result.n_repetitions == 3
    assert result.to_frame().height == 12


def test_finds_nothing_where_there_is_nothing():
    result = peco(*made(0.0), n_clusters=12, n_repetitions=2)
    assert abs(result.score) < 0.02
    assert result.p_value > 0.01


def test_the_papers_convention_runs_once():
    result = peco(*made(0.5), n_clusters=12, convention="paper")
    assert result.n_repetitions == 1
    assert math.isnan(result.sd)
    assert result.score == result.clustering.score
    assert result.score * 20 * 12 == pytest.approx(round(result.score * 20 * 12))


def test_same_seed_same_scores():
    points, labels = made(0.3)
    one, two, other = (peco(points, labels, 20, seed=seed, n_repetitions=2).scores for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_pca_keeps_the_largest_variances():
    points, _ = made(0.5)
    reduced = reduce_embeddings(points, 11)
    values = np.sort(np.linalg.eigvalsh(np.cov(points.T)))[::-1]
    assert reduced.var(axis=0, ddof=1) == pytest.approx(values[:11])
    assert reduce_embeddings(points, None) is points
    wide = reduce_embeddings(points[:30], 11)
    assert wide.shape == (30, 11)


def test_too_many_components_warn():
    points, labels = made(0.5)
    with pytest.warns(UserWarning, match="40 components instead of 50"):
        assert peco(points, labels, 12, 50, n_repetitions=1).n_components == 40
    assert peco(points, labels, 12, 0, n_repetitions=1).n_components == 0


def test_duplicates_may_leave_empty_clusters():
    points = np.repeat(np.eye(3), 10, axis=0)
    result = peco(points, np.repeat([0, 1, 2], 10), 5, None, n_repetitions=1)
    assert result.clustering.n_empty == 2
    assert len(set(cluster_embeddings(points, 3, 0))) == 3


def test_whole_numbers_are_embeddings_too():
    assert peco(np.eye(6, dtype=int), np.arange(6) % 2, 2, None, n_repetitions=1).n_examples == 6


def test_progress_is_told():
    said = []
    peco(*made(0.5), 5, n_repetitions=2, progress=lambda done, total: said.append((done, total)))
    assert said == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("points", "labels", "k", "problem"),
    [
        (np.zeros((3, 2)), [0, 1], 2, "3 embeddings and 2 labels"),
        (np.zeros((3, 2)), [0, 1, 0], 4, "cannot make 4"),
        (np.zeros((3, 2)), [0, 1, 0], 0, "n_clusters is 0; choose 1 or more"),
        (np.array([[0.0], [np.nan], [np.inf]]), [0, 1, 0], 2, "2 embeddings hold NaN or infinity, first in row 1"),
        (np.zeros(3), [0, 1, 0], 2, "shape"),
        (np.array([["a"], ["b"]]), [0, 1], 2, "embeddings hold <U1"),
        (np.zeros((3, 2)) + 1j, [0, 1, 0], 2, "complex128, no real numbers"),
        ([[1.0, 2.0], [3.0]], [0, 1], 1, "as many in each row"),
        (np.ones((3, 2)), [0, 1, 0], 2, "all embeddings are equal"),
        (np.array([[1e200], [2e200], [0.0]]), [0, 1, 0], 2, "embeddings reach 2e[+]200, whose squares overflow"),
        (np.array([[1e30], [2e30]], np.float32), [0, 1], 2, "squares overflow"),
        (np.arange(6.0).reshape(3, 2), [0, 1, 0], 2.5, "n_clusters is 2.5; choose a whole number"),
        (np.arange(6.0).reshape(3, 2), [0, 1, 0], True, "n_clusters is True"),
        (np.arange(6.0).reshape(3, 2), [0.0, 1.0, 0.0], 2, "labels must be whole numbers"),
    ],
)
def test_refuses(points, labels, k, problem):
    with pytest.raises(InputError, match=problem):
        peco(points, labels, k)


def test_half_precision_and_one_start() -> None:
    rng = np.random.default_rng(0)
    values, labels = rng.standard_normal((300, 6)).astype(np.float16), rng.integers(0, 3, 300)
    one = peco(values, labels, 5, 4, n_repetitions=1, n_restarts=1)
    assert one.score == peco(values.astype(np.float32), labels, 5, 4, n_repetitions=1, n_restarts=1).score


def test_holes_are_found_beyond_the_first_block() -> None:
    values = np.zeros((70_000, 1), np.float32)
    values[69_999, 0] = np.inf
    with pytest.raises(InputError, match="first in row 69999"):
        peco(values, np.zeros(70_000, int), 2)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("n_components", -1), ("n_components", 2.5), ("n_restarts", 0), ("n_restarts", 1.5), ("seed", -1), ("seed", 0.5),
     ("n_repetitions", 0), ("n_repetitions", -3), ("n_permutations", -1), ("n_permutations", 2.5)],
)  # fmt: skip
def test_settings_out_of_range_are_named(setting, value):
    points, labels = made(0.5, n=60)
    with pytest.raises(InputError, match=f"^{setting} is {value}; choose"):
        peco(points, labels, 5, **{"n_components": 3, setting: value})


def test_without_permutations_there_is_no_p_value():
    points, labels = made(0.5, n=200)
    found = peco(points, labels, 5, n_repetitions=2, n_permutations=0)
    assert math.isnan(found.p_value)
    assert found.to_dict()["p_value"] is None
    # The null mean of this divergence is known without any.
    assert found.score == pytest.approx(peco(points, labels, 5, n_repetitions=2).score)
    with pytest.warns(UndefinedMeasureWarning, match="takes permutations"):
        assert math.isnan(peco(points, labels, 5, divergence="kl", n_repetitions=1, n_permutations=0).score)


def test_one_cluster_of_equal_embeddings_scores_nothing():
    assert peco(np.ones((4, 2)), [0, 1, 0, 1], 1, 0, n_repetitions=1).score == pytest.approx(0)
