"""Distinguishing words against Monroe's formula written out."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from goldassay.core.errors import InputError
from goldassay.data.tokenization import tokenize
from goldassay.questions.leakage.measures.token_relevance import weighted_log_odds, word_counts


def test_against_the_formula_word_by_word() -> None:
    counts = np.array([[8, 1, 0, 4], [2, 6, 3, 4], [0, 1, 9, 4]])
    prior_size = 40.0
    found = weighted_log_odds(counts, list("abcd"), prior_size=prior_size)
    totals = counts.sum(axis=0)
    for i in range(3):
        n_i, n_j = counts[i].sum(), counts.sum() - counts[i].sum()
        for w in range(4):
            a = prior_size * totals[w] / totals.sum()
            y_i, y_j = counts[i, w], totals[w] - counts[i, w]
            delta = log((y_i + a) / (n_i + prior_size - y_i - a)) - log((y_j + a) / (n_j + prior_size - y_j - a))
            assert found.log_odds[i, w] == pytest.approx(delta)
            assert found.z[i, w] == pytest.approx(delta / sqrt(1 / (y_i + a) + 1 / (y_j + a)))


def test_top_words_are_frequent_and_significant() -> None:
    counts = np.array([[60, 2, 30], [0, 0, 30]])
    top = weighted_log_odds(counts, ["sleeping", "rare", "a"], prior_size=5).top(0)
    assert [item["word"] for item in top] == ["sleeping"]
    assert (top[0]["count"], top[0]["elsewhere"]) == (60, 0)


def test_a_larger_prior_holds_words_back() -> None:
    counts = np.array([[10, 0, 50], [0, 10, 50]])
    weak, strong = (weighted_log_odds(counts, list("abc"), prior_size=size).z[0, 0] for size in (1, 1000))
    assert weak > strong > 0


def test_examples_are_counted_once_and_without_case() -> None:
    corpus = tokenize(["No dog, no cat!", "Dog.", "A cat"], "treebank")
    counts, names = word_counts(corpus, np.array([0, 1, 1]), 2)
    by_word = dict(zip(names, counts.T.tolist(), strict=True))
    assert by_word == {"no": [1, 0], "dog": [1, 1], "cat": [1, 1], "a": [0, 1]}


@pytest.mark.parametrize(("counts", "prior"), [([[1, 2]], None), ([[1, 0, 2]], None), ([[1, 1, 1]], [1, 1, 0])])
def test_what_does_not_fit_is_refused(counts: list[list[int]], prior: list[int] | None) -> None:
    with pytest.raises(InputError):
        weighted_log_odds(counts, list("abc"), prior)
