"""Naive Bayes on words against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest

from goldassay.models.naive_bayes import SMOOTHING, word_evidence


def texts(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{word}" for word in rng.integers(0, 40, rng.integers(0, 7))) for _ in range(n)]


@pytest.mark.parametrize("n_classes", [2, 4])
def test_evidence_is_that_of_scikit_learn(n_classes: int) -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    train, test = texts(90, 0), [*texts(30, 1), "", "unseen words"]
    codes = np.random.default_rng(2).integers(0, n_classes, 90)
    vectors = CountVectorizer(binary=True, min_df=2)
    model = MultinomialNB(alpha=SMOOTHING).fit(vectors.fit_transform(train), codes)
    expected = vectors.transform(test) @ model.feature_log_prob_.T
    np.testing.assert_allclose(word_evidence(train, codes, n_classes, test), expected, atol=1e-12)


def test_texts_without_a_repeated_word_say_nothing() -> None:
    assert not word_evidence(["a", "b"], np.array([0, 1]), 3, ["a"]).any()
