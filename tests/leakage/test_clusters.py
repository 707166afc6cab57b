from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from goldassay.core.errors import InputError
from goldassay.leakage import score_clusters
from goldassay.questions.leakage.measures.clusters import area_score, grid_score
from tests.stated import in_order


@pytest.fixture(scope="module")
def published(data_dir):
    frame = pl.read_csv(data_dir / "golden" / "peco_snli" / "tsne_50_l2.csv.gz", columns=["label", "clid", "pecol2"])
    return frame["clid"].to_numpy(), frame["label"].to_numpy(), frame["pecol2"].to_numpy()


def examples(counts):
    counts = np.asarray(counts)
    cells = np.repeat(np.arange(counts.size), counts.ravel())
    return cells // counts.shape[1], cells % counts.shape[1]


def test_published_clusters(published):
    clusters, labels, divergences = published
    result = score_clusters(clusters, labels)
    assert np.bincount(labels).tolist() == [3312, 3423, 3265]
    assert (result.sizes.min(), result.sizes.max(), int((result.shares == 0).sum())) == (28, 440, 1)
    assert result.example_divergences == pytest.approx(divergences, abs=1e-15)
    assert result.uncorrected == pytest.approx(0.075689, abs=1e-6)
    assert result.null_mean == pytest.approx(0.003266, abs=1e-6)
    assert result.null_method == "exact"
    assert result.score == pytest.approx(0.072423, abs=1e-6)
    assert area_score(result.divergences) == pytest.approx(0.108872, abs=1e-6)
    assert (result.biased.mean(), result.n_biased_examples) == (0.12, 416)
    fifth = score_clusters(clusters, labels, threshold=0.2, n_permutations=1)
    assert (fifth.biased.mean(), fifth.n_biased_examples) == (0.18, 857)
    assert result.p_value == 1 / 201


def test_published_clusters_in_the_papers_convention(published):
    clusters, labels, _ = published
    squared, root, kl = (score_clusters(clusters, labels, d, "paper") for d in ("squared_l2", "l2", "kl"))
    assert squared.score == squared.uncorrected == pytest.approx(0.137)
    assert squared.null_mean == pytest.approx(0.0503, abs=2e-4)
    assert root.score == pytest.approx(0.311)
    assert area_score(root.divergences) == pytest.approx(0.290653, abs=1e-6)
    assert kl.score == pytest.approx(0.098)
    assert kl.divergences.max() == pytest.approx(33.483, abs=1e-3)
    assert (kl.divergences > 2.5).mean() == 0.02
    assert score_clusters(clusters, labels, "kl", "code", n_permutations=1).score == kl.score


def test_published_clusters_in_bits(published):
    clusters, labels, _ = published
    kl = score_clusters(clusters, labels, "kl")
    assert grid_score(kl.divergences, 5) == pytest.approx(0.073)
    assert grid_score(kl.divergences, 1) == pytest.approx(0.256)
    assert kl.divergences.mean() == pytest.approx(0.233521, abs=1e-6)
    assert kl.divergences @ kl.sizes / kl.n_examples == pytest.approx(0.161552, abs=1e-6)
    assert kl.null_method == "permutations"


def test_exact_null_is_what_permutations_find():
    rng = np.random.default_rng(0)
    clusters, labels = rng.integers(0, 20, 600), rng.integers(0, 3, 600)
    result = score_clusters(clusters, labels, n_permutations=1500)
    rescored = [score_clusters(clusters, rng.permutation(labels), n_permutations=1).uncorrected for _ in range(300)]
    assert np.mean(rescored) == pytest.approx(result.null_mean, rel=0.05)
    assert np.std(rescored) == pytest.approx(result.null_sd, rel=0.15)
    assert abs(result.score) < 4 * result.null_sd
    assert result.p_value > 0.001


def test_hand_example():
    clusters, labels = examples([[8, 1, 1], [2, 6, 2], [4, 4, 4], [1, 1, 8]])
    result = score_clusters(clusters, labels)
    assert result.uncorrected == pytest.approx(0.177551, abs=1e-6)
    assert score_clusters(clusters, labels, convention="paper").score == pytest.approx(0.2)
    assert result.biased.tolist() == [True, False, False, True]
    frame = result.to_frame()
    assert frame["size"].to_list() == [10, 10, 12, 10]
    assert frame["share_0"].to_list() == pytest.approx([0.8, 0.2, 1 / 3, 0.1])
    assert json.loads(json.dumps(result.to_dict()))["score"] == result.score


def test_p_values_of_clusters_against_scipy():
    counts = np.array([[8, 1, 0], [5, 6, 0], [40, 40, 4], [30, 4, 2]])
    result = score_clusters(*examples(counts))
    n, of_label = counts.sum(), counts.sum(axis=0)
    for k, cluster in enumerate(counts):
        tails = stats.hypergeom.sf(cluster - 1, n, of_label, cluster.sum())
        assert result.cluster_p[k] == pytest.approx(min(1, 3 * tails.min()), rel=1e-9)
    by_hand = {}
    for rank, k in enumerate(np.argsort(result.cluster_p)):
        by_hand[k] = min(1, max([(4 - rank) * result.cluster_p[k], *by_hand.values()]))
    assert result.cluster_q.tolist() == pytest.approx([by_hand[k] for k in range(4)])


def share_of_sets_with_a_leaning_cluster(n, k, shares, n_sets, copies=1, together=True):
    """Labels that know nothing of the clusters; each text in so many copies of one label and one cluster."""
    found = 0
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        texts = n // copies
        labels = np.repeat(rng.choice(len(shares), texts, p=shares), copies)
        clusters = np.repeat(rng.integers(0, k, texts), copies)
        groups = np.repeat(np.arange(texts), copies) if copies > 1 and together else None
        result = score_clusters(clusters, labels, n_clusters=k, n_permutations=200, together=groups, seed=seed)
        found += bool((result.cluster_q <= 0.01).any())
    return found / n_sets


@pytest.mark.parametrize(("n", "shares"), [(400, (0.95, 0.05)), (2000, (0.98, 0.02)), (400, (0.4, 0.3, 0.3))])
def test_labels_that_know_nothing_make_no_cluster_lean(n, shares):
    # 60 sets: more than 3 of them have a chance of .003 where one in a hundred does.
    assert share_of_sets_with_a_leaning_cluster(n, 50, shares, 60) <= 3 / 60


def test_copies_of_a_text_make_no_cluster_lean():
    assert share_of_sets_with_a_leaning_cluster(2000, 20, (0.5, 0.5), 30, copies=10) <= 2 / 30
    assert share_of_sets_with_a_leaning_cluster(2000, 20, (0.5, 0.5), 30, copies=10, together=False) > 0.5


def test_rows_together_are_dealt_out_together():
    clusters, labels = examples([[30, 0], [0, 30], [15, 15], [15, 15], [15, 15]])
    alone = score_clusters(clusters, labels, n_permutations=400)
    each = score_clusters(clusters, labels, n_permutations=400, together=np.arange(150))
    assert alone.cluster_q[:2].max() < 1e-4
    assert (each.cluster_q[:2] == 1 / 401).all()
    assert each.cluster_q[2:].min() > 0.5
    # Each cluster is three groups of ten: a group of ten alike is no rarity any more.
    groups = np.arange(150) // 10
    tens = score_clusters(clusters, labels, n_permutations=400, together=groups)
    assert tens.cluster_q.min() > 0.01
    assert tens.p_value > each.p_value
    with pytest.raises(InputError, match="permutations"):
        score_clusters(clusters, labels, n_permutations=0, together=groups)
    with pytest.raises(InputError, match="one code for each row"):
        score_clusters(clusters, labels, together=groups[:-1])


def test_one_cluster_scores_nothing():
    result = score_clusters(np.zeros(30, dtype=int), np.arange(30) % 3)
    assert result.score == result.uncorrected == 0
    assert result.p_value == 1
    assert result.cluster_p.tolist() == [1]
    single = score_clusters([0], [0])
    assert (single.score, single.null_mean) == (0, 0)


def test_empty_clusters():
    clusters, labels = examples([[8, 1, 1], [0, 0, 0], [1, 1, 8]])
    paper = score_clusters(clusters, labels, convention="paper", n_clusters=4)
    without = score_clusters((clusters > 0).astype(int), labels, convention="paper")
    assert paper.n_empty == 2
    assert paper.score == pytest.approx(without.score / 2)
    ours = score_clusters(clusters, labels, n_clusters=4)
    assert ours.score == pytest.approx(score_clusters((clusters > 0).astype(int), labels).score)
    assert ours.cluster_p[[1, 3]].tolist() == [1, 1]


def test_uniform_reference_uses_permutations():
    clusters, labels = examples([[8, 1, 1], [8, 1, 1]])
    assert score_clusters(clusters, labels).uncorrected == pytest.approx(0)
    uniform = score_clusters(clusters, labels, reference="uniform")
    assert uniform.uncorrected > 0.2
    assert uniform.null_method == "permutations"


def test_a_rare_class_above_the_scale_uses_permutations():
    clusters, labels = examples([[0, 6], [400, 0]])
    result = score_clusters(clusters, labels)
    assert result.divergences[0] > 1
    assert result.null_method == "permutations"


@given(
    st.integers(2, 60).flatmap(
        lambda n: st.tuples(
            hnp.arrays(np.int64, n, elements=st.integers(0, 5)), hnp.arrays(np.int64, n, elements=st.integers(0, 2))
        )
    ),
    st.sampled_from(["squared_l2", "l2", "kl"]),
    st.sampled_from(["recommended", "paper"]),
    st.randoms(use_true_random=False),
)
def test_names_and_order_do_not_matter(case, divergence, convention, random):
    clusters, labels = case
    order = np.array(random.sample(range(clusters.size), clusters.size))
    names, classes = np.array(random.sample(range(6), 6)), np.array(random.sample(range(3), 3))
    kept = {"n_clusters": 6, "n_permutations": 2}
    one = score_clusters(clusters, labels, divergence, convention, **kept)
    two = score_clusters(names[clusters[order]], classes[labels[order]], divergence, convention, **kept)
    # The paper's grid is strict, so that a last bit may move a cluster over a threshold.
    tolerance = 1 / 20 + 1e-12 if convention == "paper" else 1e-12
    assert two.uncorrected == pytest.approx(one.uncorrected, abs=tolerance)
    assert 0 <= one.uncorrected <= 1
    assert (np.diff(one.curve) <= 0).all()


def test_same_seed_same_result():
    rng = np.random.default_rng(0)
    clusters, labels = rng.integers(0, 5, 100), rng.integers(0, 2, 100)
    one, two = (score_clusters(clusters, labels, "kl", seed=4) for _ in range(2))
    assert (one.score, one.p_value) == (two.score, two.p_value)


@pytest.mark.parametrize(
    ("clusters", "labels", "options", "problem"),
    [
        ([0, 1], [0], {}, "2 assignments and 1 labels"),
        ([], [], {}, "at least one"),
        ([-1], [0], {}, "negative"),
        ([0.5], [0], {}, "whole numbers"),
        ([3], [0], {"n_clusters": 2}, "cluster 3"),
        ([0], [0], {"divergence": "cosine"}, "divergence"),
    ],
)
def test_refuses(clusters, labels, options, problem):
    with pytest.raises((InputError, KeyError), match=problem):
        score_clusters(clusters, labels, **options)


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), -0.1])
def test_a_threshold_is_a_number_from_0_up(threshold: float):
    with pytest.raises(InputError, match="threshold is"):
        score_clusters([0, 1], [0, 1], threshold=threshold)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 0}, "n_clusters is 0; choose 1 or more"),
        ({"n_clusters": 3.5}, "n_clusters is 3.5; choose a whole number"),
        ({"n_permutations": -5}, "n_permutations is -5"),
        ({"n_permutations": 2.5}, "n_permutations is 2.5"),
        ({"seed": -1}, "seed is -1"),
        ({"threshold": "high"}, "threshold is high"),
        ({"reference": "flat"}, "reference 'flat' is unknown"),
        ({"labels": [0, 1, 2_000_000_000]}, ("code 2000000000", "from 0")),
    ],
)
def test_settings_out_of_range_are_named(settings, message):
    with pytest.raises(InputError, match=in_order(message)):
        score_clusters([0, 1, 1], **{"labels": [0, 1, 0], **settings})


def test_without_permutations_there_is_no_p_value():
    assert np.isnan(score_clusters([0, 1, 1], [0, 1, 0], n_permutations=0).p_value)


@pytest.mark.parametrize("leaning", [0.0, 0.15, 0.4])
@pytest.mark.parametrize("copies", [1, 4])
def test_error_over_examples_is_the_spread_of_scores_of_other_examples(leaning: float, copies: int):
    rng = np.random.default_rng(0)
    shares = (1 - leaning) / 3 + leaning * np.eye(3)[np.arange(6) % 3]
    scores, errors = [], []
    for _ in range(200):
        clusters = rng.integers(0, 6, 240)
        labels = (rng.random(240)[:, np.newaxis] > shares[clusters].cumsum(axis=1)).sum(axis=1)
        # All copies of a text lie in one cluster and have one label.
        together = np.repeat(np.arange(240), copies) if copies > 1 else None
        found = score_clusters(
            np.repeat(clusters, copies), np.repeat(labels, copies), n_permutations=50, together=together
        )
        scores.append(found.score)
        errors.append(found.examples_error)
    # Where no cluster leans, the greater of two estimates is a little too great.
    assert 0.85 < np.sqrt(np.mean(np.square(errors))) / np.std(scores) < 1.25


def test_error_over_examples_is_known_of_squared_scores_alone():
    clusters, labels = examples([[30, 10], [10, 30]])
    assert np.isnan(score_clusters(clusters, labels, n_permutations=0).examples_error)
    assert np.isnan(score_clusters(clusters, labels, convention="paper").examples_error)
    assert np.isnan(score_clusters(clusters, labels, "kl").examples_error)
