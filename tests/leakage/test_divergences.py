from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.questions.leakage.measures.clusters import area_score, cluster_divergences, grid_score, is_paper

COUNTS = np.array([[8, 1, 1], [2, 6, 2], [4, 4, 4], [1, 1, 8]])
G = COUNTS.sum(axis=0) / COUNTS.sum()
DIVERGENCES = hnp.arrays(np.float64, st.integers(1, 30), elements=st.floats(0, 1.5))


def test_hand_example():
    d = cluster_divergences(COUNTS, G)
    assert d == pytest.approx([0.296735, 0.148163, 0.003401, 0.296735], abs=1e-6)
    assert grid_score(d) == pytest.approx(0.2)
    assert area_score(d) == pytest.approx(0.186259, abs=1e-6)
    assert area_score(d, COUNTS.sum(axis=1)) == pytest.approx(0.177551, abs=1e-6)
    kl = cluster_divergences(COUNTS, G, "kl")
    assert kl == pytest.approx([0.595692, 0.307633, 0.007774, 0.595692], abs=1e-6)
    code = cluster_divergences(COUNTS, G, "kl", "code")
    assert code == pytest.approx([0.673093, 0.291675, 0.007556, 0.673093], abs=1e-6)
    assert grid_score(code, 5) == pytest.approx(0.1125)
    assert cluster_divergences(COUNTS, G, "l2") == pytest.approx(np.sqrt(d))


def test_kl_is_scipys():
    shares = COUNTS / COUNTS.sum(axis=1, keepdims=True)
    assert cluster_divergences(COUNTS, G, "kl") == pytest.approx([stats.entropy(p, G, base=2) for p in shares])
    assert cluster_divergences(COUNTS, G, "kl", "paper") == pytest.approx([stats.entropy(G, p, base=2) for p in shares])


def test_an_empty_class_in_a_cluster():
    counts, g = [[5, 5, 0]], np.full(3, 1 / 3)
    assert cluster_divergences(counts, g, "kl") == pytest.approx([math.log2(1.5)])
    assert cluster_divergences(counts, g, "kl", "paper")[0] > 30


def test_an_empty_cluster_and_an_absent_class_count_nothing():
    for divergence in ("squared_l2", "l2", "kl"):
        for convention in ("recommended", "paper"):
            found = cluster_divergences([[0, 0, 0], [3, 3, 0]], [0.5, 0.5, 0.0], divergence, convention)
            assert found == pytest.approx([0, 0], abs=1e-9)


@given(hnp.arrays(np.int64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.integers(0, 20)))
def test_weighted_kl_is_mutual_information(counts):
    total = counts.sum()
    if total:
        g = counts.sum(axis=0) / total
        weighted = cluster_divergences(counts, g, "kl") @ counts.sum(axis=1) / total
        joint = counts / total
        product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        expected = stats.entropy(joint.ravel(), product.ravel(), base=2) if (joint > 0).sum() else 0
        assert weighted == pytest.approx(expected, abs=1e-9)


@given(DIVERGENCES)
def test_grid_score_is_a_left_sum(d):
    score = grid_score(d)
    assert 0 <= score <= 1
    assert score * 20 * d.size == pytest.approx(round(float(score) * 20 * d.size))
    assert score == pytest.approx(np.mean([np.mean(d > i / 20) for i in range(20)]))
    assert -1e-9 <= score - area_score(d) <= 1 / 20 + 1e-9


@given(DIVERGENCES, st.integers(0, 29), st.floats(0, 1))
def test_scores_grow_with_each_divergence(d, k, more):
    grown = d.copy()
    grown[k % d.size] += more
    assert grid_score(grown) >= grid_score(d)
    assert area_score(grown) >= area_score(d) - 1e-12


def test_many_tables_at_once():
    tables = np.stack([COUNTS, COUNTS[::-1]])
    d = cluster_divergences(tables, G)
    assert d.shape == (2, 4)
    assert grid_score(d) == pytest.approx([0.2, 0.2])
    assert area_score(d) == pytest.approx([float(area_score(d[0]))] * 2)


def test_refuses_unknown_names():
    with pytest.raises(InputError, match="divergence"):
        cluster_divergences(COUNTS, G, "cosine")
    with pytest.raises(InputError, match="convention"):
        is_paper("printed")
