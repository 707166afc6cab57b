"""Sentences of nearly the same words."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from goldassay.artifacts import mine_patterns
from goldassay.data.dataset import Dataset
from goldassay.data.tokenization import tokenize
from goldassay.questions.artifacts.inputs import CLUSTERS, Bounds, mine_dataset
from goldassay.questions.artifacts.measures.clusters import near_sentences, sign_corpus
from tests.stated import states


def groups(texts):
    corpus = tokenize(texts, "whitespace")
    return near_sentences(sign_corpus(corpus), np.diff(corpus.offsets))


def near_identical(seed, n=600, times=10, length=12, changed=1):
    """Texts of which each is written so many times, each time with another word changed, and a label for each text."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, 401)
    chance /= chance.sum()
    rows = rng.choice(400, (n, length), p=chance).repeat(times, 0)
    for _ in range(changed):
        rows[np.arange(len(rows)), rng.integers(0, length, len(rows))] = rng.choice(400, len(rows), p=chance)
    texts = [" ".join(f"w{word}" for word in row) for row in rows]
    return texts, np.repeat(rng.integers(0, 3, n), times), np.repeat(np.arange(n), times)


def significant(texts, labels):
    """Patterns of hypotheses, each with a premise of its own."""
    frame = {"premise": [f"p{row}" for row in range(len(texts))], "hypothesis": texts, "label": [*map(str, labels)]}
    return mine_dataset(Dataset.from_frame(pl.DataFrame(frame)), Bounds())


@pytest.mark.parametrize("length", [12, 20])
def test_random_labels_of_near_identical_texts_have_no_significant_pattern(length):
    texts, labels, _ = near_identical(0, n=200, length=length)
    mined = significant(texts, labels)
    assert len(mined.significant(0.01)) == 0
    assert states(mined.settings[CLUSTERS], "Near copies", "count as one")
    alone = mine_patterns(texts, labels, min_count=8, clusters=[np.unique(texts, return_inverse=True)[1]])
    assert len(alone.significant(0.01)) > 1000


def test_a_word_that_tells_the_label_is_significant_among_near_identical_texts():
    texts, _, of_text = near_identical(1, n=300)
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 300)[of_text]
    told = [f"{text} told" if label else text for text, label in zip(texts, labels, strict=True)]
    assert "told" in set(significant(told, labels).significant(0.01).to_frame()["pattern"])


def shared(one, other):
    a, b = set(one.split()), set(other.split())
    return len(a & b) / len(a | b)


def test_groups_are_of_texts_that_share_most_words():
    texts, _, of_text = near_identical(3, n=80, changed=2)
    found = groups(texts)
    rng = np.random.default_rng(4)
    pairs = rng.integers(0, len(texts), (200_000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    together = found[pairs[:, 0]] == found[pairs[:, 1]]
    same = of_text[pairs[:, 0]] == of_text[pairs[:, 1]]
    # Words are drawn with Zipf's frequencies, so that other texts share some, too.
    assert same[together].mean() > 0.9
    assert together[same].mean() > 0.4
    # Of two texts alone, whether they are joined follows the share of common words, within the error of 32 minima.
    joined = {True: [], False: []}
    for one, other in pairs[same][:400]:
        pair = groups([texts[one], texts[other]])
        joined[bool(pair[0] == pair[1])].append(shared(texts[one], texts[other]))
    assert min(joined[True]) > 0.3
    assert max(joined[False]) < 0.8
    assert np.mean(joined[True]) > np.mean(joined[False]) + 0.1


def test_the_order_of_rows_changes_nothing():
    texts, _, _ = near_identical(5, n=60)
    order = np.random.default_rng(6).permutation(len(texts))
    found, other = groups(texts), groups([texts[row] for row in order])
    # Two ways to number the same groups: as many pairs of numbers as numbers.
    assert len(set(zip(found[order].tolist(), other.tolist(), strict=True))) == found.max() + 1 == other.max() + 1


def test_short_texts_are_joined_where_their_words_are_the_same():
    base = "a man is sleeping outside now"
    assert len(set(groups([base, "a man is sleeping outside here"]).tolist())) == 2
    assert len(set(groups([base, base.upper(), base]).tolist())) == 1
    longer = f"{base} in the warm sun of may with her dogs"
    assert len(set(groups([longer, longer.replace("warm", "hot")]).tolist())) == 1


def test_no_text_and_texts_without_words():
    assert groups([]).tolist() == []
    assert groups(["", "", "w"]).tolist() in ([0, 0, 1], [1, 1, 0])


def test_edited_copies_with_opposite_labels_do_not_hide_exact_copies():
    # Each text ten times with a label, and ten times with a word changed and the other one: the groups are balanced.
    rng = np.random.default_rng(7)
    chance = 1 / np.arange(1, 301)
    texts, labels = [], []
    for row in rng.choice(300, (300, 12), p=chance / chance.sum()):
        label = int(rng.integers(0, 2))
        edited = [*row[:-1], (row[-1] + 1) % 300]
        texts += [" ".join(f"w{word}" for word in row)] * 10 + [" ".join(f"w{word}" for word in edited)] * 10
        labels += [label] * 10 + [1 - label] * 10
    assert len(significant(texts, labels).significant(0.01)) == 0
