"""Patterns of sentences that come in clusters."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from goldassay.artifacts import PatternTable, mine_patterns
from goldassay.core.errors import InputError
from goldassay.data.tokenization import tokenize
from goldassay.questions.artifacts.measures.clusters import ClusterSums, label_correlation


def worded(rng, n, n_words=300, length=7):
    """Sentences of words drawn with the frequencies that words have."""
    chance = 1 / np.arange(1, n_words + 1)
    return [" ".join(f"w{i}" for i in row) for row in rng.choice(n_words, (n, length), p=chance / chance.sum())]


def copies(seed, shares=(0.4, 0.3, 0.3), n=300, times=10):
    """Texts in so many copies each, all of one label that knows nothing of the text."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(rng.choice(len(shares), n, p=shares), times)
    return np.repeat(worded(rng, n), times).tolist(), codes, np.repeat(np.arange(n), times)


def writers(seed, shares=(0.4, 0.3, 0.3), n=300, times=10):
    """Writers with words and labels of their own, which have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    leaning = rng.dirichlet(np.array(shares), n)
    own = rng.integers(0, 100, (n, 2))
    texts = worded(rng, n * times, length=4)
    who = np.repeat(np.arange(n), times)
    texts = [f"{text} own{own[w, 0]} own{own[w, 1]}" for text, w in zip(texts, who, strict=True)]
    codes = np.array([rng.choice(len(shares), p=leaning[w]) for w in who])
    return texts, codes, who


def mined(world, *, together=True, **more):
    texts, codes, clusters = world
    ways = [clusters] if together else []
    return mine_patterns(texts, codes, min_count=8, tokenizer="whitespace", clusters=ways, **more)


def sets_with_findings(make, shares, n_sets, *, together=True):
    return sum(len(mined(make(seed, shares), together=together).significant(0.01)) > 0 for seed in range(n_sets))


@pytest.mark.parametrize("make", [copies, writers])
@pytest.mark.parametrize("shares", [(0.4, 0.3, 0.3), (0.95, 0.05)])
def test_random_labels_have_no_significant_pattern(make, shares):
    # Of 8 sets none: 2 or more would have a chance of .003 where one set in a hundred has a finding.
    assert sets_with_findings(make, shares, 8) <= 1


@pytest.mark.parametrize("make", [copies, writers])
def test_rows_taken_for_independent_have_many(make):
    assert sets_with_findings(make, (0.4, 0.3, 0.3), 4, together=False) == 4


@pytest.mark.slow
@pytest.mark.parametrize("make", [copies, writers])
@pytest.mark.parametrize("shares", [(0.4, 0.3, 0.3), (0.95, 0.05), (0.98, 0.02)])
def test_random_labels_have_no_significant_pattern_in_many_sets(make, shares):
    # 8 or more of 300 have a chance of .01 where one set in a hundred has a finding.
    assert sets_with_findings(make, shares, 300) <= 7


def by_hand(texts, codes, clusters, words, shares):
    """D and p of a single word for each label, from the definition."""
    holds = np.array([words in text.split() for text in texts])
    found = []
    for label, p in enumerate(shares):
        r = (codes == label) - p
        own = sum(r[holds & (clusters == g)].sum() ** 2 for g in set(clusters)) / (r[holds] ** 2).sum()
        pairs = [
            (r[i], r[j]) for i in range(len(texts)) for j in range(len(texts)) if i != j and clusters[i] == clusters[j]
        ]
        rho = max(0.0, sum(a * b for a, b in pairs) / len(pairs) / (p * (1 - p))) if pairs and 0 < p < 1 else 0.0
        n_g = np.array([(holds & (clusters == g)).sum() for g in set(clusters)])
        effect = max(1.0, own, 1 + ((n_g**2).sum() / holds.sum() - 1) * rho)
        k, n = (holds & (codes == label)).sum() / effect, holds.sum() / effect
        found.append(1.0 if k < 1 else stats.beta.cdf(p, k, n - k + 1))
    return found


def test_p_against_the_definition():
    rng = np.random.default_rng(3)
    texts = worded(rng, 60, n_words=6, length=3)
    clusters = rng.integers(0, 25, 60)
    codes = np.where(rng.random(60) < 0.6, np.array([0, 1, 1])[clusters % 3], rng.integers(0, 2, 60))
    codes[[("w2" in text.split()) for text in texts]] = 1
    shares = np.bincount(codes) / 60
    table = mine_patterns(texts, codes, 1, 0, 5, "whitespace", clusters=[clusters]).to_frame()
    plain = mine_patterns(texts, codes, 1, 0, 5, "whitespace").to_frame()
    tested = 0
    for row, before in zip(table.to_dicts(), plain.to_dicts(), strict=True):
        expected = by_hand(texts, codes, clusters, row["pattern"], shares)[int(row["label"])]
        if row["p_value"] != before["p_value"]:
            tested += 1
            assert row["p_value"] == pytest.approx(expected, rel=1e-9)
        assert row["p_value"] >= before["p_value"]
    assert tested >= 1
    q = stats.false_discovery_control(table["p_value"].to_numpy())
    assert table["q_value"].to_numpy() == pytest.approx(q)
    counted = ["pattern", "support", "counts", "label", "probability", "wilson_low", "lift", "z"]
    assert table.select(counted).equals(plain.select(counted))


def matched_sums(table, corpus, codes, clusters, n_labels):
    """The four sums over clusters of each pattern, from its matches."""
    counts = np.zeros((len(table), int(clusters.max()) + 1, n_labels), np.int64)
    at, rows = table.matches(corpus)
    np.add.at(counts, (rows, clusters[at], codes[at]), 1)
    of_clusters = counts.sum(axis=2)
    products = (counts * of_clusters[:, :, np.newaxis]).sum(axis=1)
    return counts.sum(axis=1), (of_clusters**2).sum(axis=1), (counts**2).sum(axis=1), products


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 1000), st.integers(1, 30), st.integers(1, 4), st.sampled_from([1, 7, 60, 1 << 22]))
def test_sums_over_clusters_are_those_of_the_matches(seed, n_clusters, n_labels, tokens_at_once):
    rng = np.random.default_rng(seed)
    corpus = tokenize(worded(rng, 50, n_words=6, length=6), "whitespace")
    codes = np.concatenate([np.arange(n_labels), rng.integers(0, n_labels, 50 - n_labels)])
    clusters = np.sort(rng.integers(0, n_clusters, 50))
    mined = mine_patterns(corpus, codes, int(rng.integers(1, 6)), int(rng.integers(0, 4)), 4, "whitespace")
    table = mined.take(rng.permutation(len(mined))[: int(rng.integers(1, len(mined) + 1))])
    sums = ClusterSums(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("goldassay.questions.artifacts.measures.clusters._TOKENS_AT_ONCE", tokens_at_once)
        sums.add(corpus, codes, clusters)
    found = (sums.inside, sums.sizes, sums.squares, sums.products)
    for own, expected in zip(found, matched_sums(table, corpus, codes, clusters, n_labels), strict=True):
        np.testing.assert_array_equal(own, expected)


def test_copies_count_once():
    rng = np.random.default_rng(5)
    texts = worded(rng, 400)
    codes = np.array(["w3" in text.split() for text in texts]).astype(np.int64)
    codes = np.where(rng.random(400) < 0.3, rng.integers(0, 2, 400), codes)
    once = mine_patterns(texts, codes, min_count=8, tokenizer="whitespace")
    five = mine_patterns(
        texts * 5, np.tile(codes, 5), min_count=40, tokenizer="whitespace", clusters=[np.tile(np.arange(400), 5)]
    )
    found = set(once.significant(0.01).to_frame()["pattern"])
    assert "w3" in found
    assert set(five.significant(0.01).to_frame()["pattern"]) == found
    tested = five.significant(0.01).to_frame().join(once.to_frame(), on="pattern", how="left")
    assert tested["p_value"].to_numpy() == pytest.approx(tested["p_value_right"].to_numpy(), rel=1e-6)


def test_sentences_that_share_no_cluster_keep_their_p():
    texts, codes, _ = copies(1)
    plain = mine_patterns(texts, codes, min_count=8, tokenizer="whitespace")
    alone = mine_patterns(texts, codes, min_count=8, tokenizer="whitespace", clusters=[np.arange(len(texts))])
    assert alone.to_frame().equals(plain.to_frame())


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 1000), st.integers(2, 40), st.integers(2, 4))
def test_names_and_order_of_clusters_do_not_matter(seed, n_clusters, n_labels):
    rng = np.random.default_rng(seed)
    texts = worded(rng, 80, n_words=8, length=3)
    codes, clusters = rng.integers(0, n_labels, 80), rng.integers(0, n_clusters, 80)
    codes[clusters % 2 == 0] = 0
    one = mine_patterns(texts, codes, 2, 0, 4, "whitespace", clusters=[clusters]).to_frame()
    order, names = rng.permutation(80), rng.permutation(n_clusters)
    other = mine_patterns(
        [texts[i] for i in order], codes[order], 2, 0, 4, "whitespace", clusters=[names[clusters][order]]
    ).to_frame()
    assert one.drop("p_value", "q_value").equals(other.drop("p_value", "q_value"))
    assert one["p_value"].to_numpy() == pytest.approx(other["p_value"].to_numpy(), rel=1e-9)


def test_rows_for_further_labels_have_the_p_of_clusters(tmp_path):
    table = mined(copies(2, (0.5, 0.5)))
    table.write(tmp_path / "patterns.parquet")
    read = PatternTable.read(tmp_path / "patterns.parquet")
    assert read.to_frame().equals(table.to_frame())
    both = table.select(0.3).to_frame().filter(pl.col("pattern").is_duplicated())
    assert both.height
    assert read.select(0.3).to_frame().equals(table.select(0.3).to_frame())
    own = table.to_frame().join(both, on=["pattern", "label"], how="inner")
    assert own["p_value"].to_numpy() == pytest.approx(own["p_value_right"].to_numpy())


def test_rows_without_a_label_are_left_out_with_their_clusters():
    texts, codes, clusters = copies(3)
    some = [None if i % 7 == 0 else str(code) for i, code in enumerate(codes)]
    kept = np.array([label is not None for label in some])
    whole = mine_patterns(texts, some, min_count=8, tokenizer="whitespace", clusters=[clusters])
    part = mine_patterns(
        [text for text, keep in zip(texts, kept, strict=True) if keep], [label for label in some if label is not None],
        min_count=8, tokenizer="whitespace", clusters=[clusters[kept]],
    )  # fmt: skip
    assert whole.to_frame().equals(part.to_frame())
    with pytest.raises(InputError, match="one code from 0 for each sentence"):
        mine_patterns(texts, codes, min_count=8, tokenizer="whitespace", clusters=[clusters[1:]])


def test_correlation_of_labels():
    clusters = np.repeat(np.arange(50), 4)
    assert label_correlation(np.repeat(np.arange(50) % 2, 4), clusters, 2) == pytest.approx([1, 1])
    assert label_correlation(np.tile([0, 1, 0, 1], 50), clusters, 2).tolist() == [0, 0]
    assert label_correlation(np.zeros(200, np.int64), clusters, 2).tolist() == [0, 0]


@pytest.mark.parametrize("together", [True, False])
def test_telling_rows_alone_are_those_of_the_whole_table(together: bool) -> None:
    texts, codes, clusters = writers(0)
    # Some words tell by themselves, so that there are rows to keep.
    texts = [
        f"{text} told{code}" if at < 900 else text for at, (text, code) in enumerate(zip(texts, codes, strict=True))
    ]
    whole, few = (mined((texts, codes, clusters), together=together, only_telling=only) for only in (False, True))
    assert 0 < len(few) < len(whole)
    assert few.settings["n_mined"] == len(whole)
    for q in (0.01, 0.05):
        assert few.significant(q).to_frame().equals(whole.significant(q).to_frame())
