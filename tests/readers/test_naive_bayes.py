"""Naive Bayes on words against scikit-learn."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.questions.detection_limits import planted_texts
from goldassay.readers.naive_bayes import (
    SMOOTHING,
    leaning_evidence_of_folds,
    planted_evidence_of_folds,
    word_evidence,
    word_evidence_of_folds,
)
from goldassay.stats.clusters import Folds
from goldassay.stats.detection import Planting


def texts(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{word}" for word in rng.integers(0, 40, rng.integers(0, 7))) for _ in range(n)]


def leaning_evidence(
    train: list[str] | pl.Series,
    codes: np.ndarray,
    n_classes: int,
    test: list[str] | pl.Series,
    least: tuple[float, ...],
) -> np.ndarray:
    together = pl.concat([pl.Series(each, dtype=pl.String) for each in (train, test)])
    known = np.concatenate([codes, np.zeros(len(test), np.int64)])
    return leaning_evidence_of_folds(together, known, n_classes, Folds.of_parts(len(train), len(test)), least)


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


def test_telling_words_are_those_that_lean_and_count_by_their_shares() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 600)
    train = [" ".join([*rng.choice([f"w{i}" for i in range(30)], 4), *(["told"] if rng.random() < (0.1, 0.1, 0.4)[code]
                       else [])]) for code in codes]  # fmt: skip
    test = ["told", "w1 told w2", "w3", "unseen", ""]
    thresholds = (1.0, 2.0, 6.0)
    found = leaning_evidence(train, codes, 3, test, thresholds)
    assert found.shape == (3, 5, 3)
    n_k = np.bincount(codes)
    words = [set(text.split()) for text in train]
    for at, threshold in enumerate(thresholds):
        expected = np.zeros((5, 3))
        for word in sorted(set().union(*words)):
            has = np.array([word in each for each in words])
            n_wk = np.bincount(codes[has], minlength=3)
            p = n_k / 600
            z = (n_wk - has.sum() * p) / np.sqrt(has.sum() * p * (1 - p))
            if has.sum() >= 10 and np.abs(z).max() >= threshold:
                for row, text in enumerate(test):
                    if word in text.split():
                        expected[row] += np.log((n_wk + 0.5) / (n_k + 1))
        np.testing.assert_allclose(found[at], expected, atol=1e-12)
    assert found[2, 0].argmax() == 2
    assert not found[2, 2].any()


@pytest.mark.parametrize("n_folds", [2, 5])
def test_each_fold_is_read_by_the_words_of_the_others_alone(n_folds: int) -> None:
    rng = np.random.default_rng(3)
    every, codes, of_row = pl.Series(texts(120, 4)), rng.integers(0, 3, 120), rng.integers(0, n_folds, 120)
    found = word_evidence_of_folds(every, codes, 3, Folds.of_all(of_row))
    told = leaning_evidence_of_folds(every, codes, 3, Folds.of_all(of_row), (0.5, 2.0))
    for fold in range(n_folds):
        own = of_row == fold
        known = every.filter(pl.Series(~own)), codes[~own], 3, every.filter(pl.Series(own))
        np.testing.assert_allclose(found[own], word_evidence(*known), atol=1e-12)
        np.testing.assert_allclose(told[:, own], leaning_evidence(*known, (0.5, 2.0)), atol=1e-12)


@given(n=st.integers(8, 60), n_folds=st.integers(1, 3), seed=st.integers(0, 99))
def test_planted_words_are_read_as_if_they_were_written(n: int, n_folds: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, n)
    texts = pl.Series([" ".join(rng.choice([f"w{number}" for number in range(20)], 4)) for _ in range(n)])
    folds = Folds.of_parts(n - n // 3, n // 3) if n_folds == 1 else Folds.of_all(np.arange(n) % n_folds)
    read = planted_evidence_of_folds(texts, codes, 3, folds)
    for words in (rng.integers(-1, 6, n), np.full(n, -1)):
        planting = Planting(np.zeros(n, np.int64), np.stack([words, np.full(n, -1)], axis=1), np.zeros(n, np.int64))
        written = word_evidence_of_folds(planted_texts(texts, planting, seed), codes, 3, folds)
        np.testing.assert_allclose(read(words), written, atol=1e-10)
