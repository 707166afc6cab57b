"""Embeddings of words against scikit-learn's own pipeline."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from goldassay.readers.pair_probe import _counts, embed_texts

TRAIN = [f"{who} {what} {where}" for who in ("a man", "a dog", "two girls") for what in ("runs", "sleeps", "eats")
         for where in ("outside", "in a house", "at night")]  # fmt: skip
TEST = ["a man sleeps at night", "two girls eats outside", "unheard of words", ""]


def test_like_scikit_learns_pipeline_up_to_rotation() -> None:
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"\S+")
    train, test = vectorizer.fit_transform(TRAIN), vectorizer.transform(TEST)
    _, s, vt = np.linalg.svd(train.toarray(), full_matrices=False)
    found = embed_texts(TRAIN, TEST, "whitespace")
    expected = test @ vt[: found.shape[1]].T
    kept = s[: found.shape[1]] > 1e-9
    assert found[:, kept] @ found[:, kept].T == pytest.approx(expected[:, kept] @ expected[:, kept].T, abs=1e-6)


def test_counts_words_and_neighbours_within_a_text() -> None:
    counts = _counts(["a b a", "b", ""], "whitespace").toarray()
    assert counts.sum(axis=1).tolist() == [5, 1, 0]
    assert sorted(counts[0].tolist()) == [1, 1, 1, 2]


def test_seeded_and_told_apart_without_case() -> None:
    one, two = embed_texts(TRAIN, TEST), embed_texts([text.upper() for text in TRAIN], TEST)
    assert np.array_equal(one, embed_texts(TRAIN, TEST))
    assert one == pytest.approx(two)


def test_nothing_recurs() -> None:
    assert embed_texts(["a b", "c d"], ["x", "y"]).tolist() == [[0.0], [0.0]]
