"""Naive Bayes on words: what many rare words tell together, each of them too rare for a fitted weight.

A linear model that is fitted to some thousand rows gives most of its weight to frequent words that differ by chance. A
word that three rows have, all of one label, counts here as much as its counts say.

Source: Maron 1961; McCallum and Nigam 1998, the multinomial model, with words of a text counted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.readers.probe_features import MIN_ROWS, tokenize_roles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.readers.probe_features import TokenizedTexts

# Added to the count of each word and label.
SMOOTHING = 0.1
# Training texts of a word from which on it may be telling by itself.
LEAST_TELLING = 10


def word_evidence(
    texts: Sequence[str] | pl.Series,
    codes: NDArray[np.integer],
    n_classes: int,
    test_texts: Sequence[str] | pl.Series,
) -> NDArray[np.float64]:
    """What the words of each test text say for each label, (M, K), the shares of the labels left aside.

    sum over the distinct words w of a text of log[(n_wk + a)/(n_k + a V)], n_wk training texts of label k with w,
    n_k = sum_w n_wk, of the V words that two training texts or more have.

    Args:
        texts: N training texts.
        codes: Of their labels, (N,).
        n_classes: K.
        test_texts: M texts.
    """
    from goldassay.kernels.text_counts import add_evidence

    tokens, counts = _counted(texts, codes, n_classes, test_texts)
    starts, n_train = tokens.offsets[0], len(texts)
    usual = np.flatnonzero(counts.sum(axis=0) >= MIN_ROWS)
    if not usual.size:
        return np.zeros((len(test_texts), n_classes))
    known = np.ascontiguousarray(counts[:, usual]) + SMOOTHING
    weights = np.zeros((tokens.hashes.size, n_classes))
    weights[usual] = np.log(known / known.sum(axis=1, keepdims=True)).T
    return np.asarray(add_evidence(tokens.ids, starts[n_train:], weights))


def telling_evidence(
    texts: Sequence[str] | pl.Series,
    codes: NDArray[np.integer],
    n_classes: int,
    test_texts: Sequence[str] | pl.Series,
    thresholds: Sequence[float],
) -> NDArray[np.float64]:
    """The same of the words alone that lean to a label by themselves, for each of T thresholds, (T, M, K).

    A word in n_w training texts, n_wk of label k, leans to it by z_wk = (n_wk - n_w p_k)/sqrt(n_w p_k (1 - p_k)); words
    of ten texts or more with the largest |z_wk| at the threshold count, each for the label k by
    log[(n_wk + 1/2)/(n_k + 1)].

    Where one word tells a rare label, adding up all words hides it: thousands of words that tell nothing add their
    noise.

    Args:
        texts: N training texts.
        codes: Of their labels, (N,).
        n_classes: K.
        test_texts: M texts.
        thresholds: Of |z|.
    """
    from goldassay.kernels.text_counts import add_evidence

    tokens, counts = _counted(texts, codes, n_classes, test_texts)
    of_label = np.bincount(codes, minlength=n_classes).astype(np.float64)
    shares = (of_label / of_label.sum())[:, np.newaxis]
    of_word = counts.sum(axis=0)
    usual = np.flatnonzero(of_word >= LEAST_TELLING)
    n_w, n_wk = of_word[usual], counts[:, usual]
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.nan_to_num(np.abs((n_wk - n_w * shares) / np.sqrt(n_w * shares * (1 - shares)))).max(axis=0, initial=0)
    evidence = np.log((n_wk + 0.5) / (of_label[:, np.newaxis] + 1)).T
    found = []
    for threshold in thresholds:
        weights = np.zeros((tokens.hashes.size, n_classes))
        telling = z >= threshold
        weights[usual[telling]] = evidence[telling]
        found.append(add_evidence(tokens.ids, tokens.offsets[0][len(texts) :], weights))
    return np.stack(found)


def _counted(
    texts: Sequence[str] | pl.Series,
    codes: NDArray[np.integer],
    n_classes: int,
    test_texts: Sequence[str] | pl.Series,
) -> tuple[TokenizedTexts, NDArray[np.int64]]:
    """The words of all texts, training texts first, and in how many training texts of each label each is, (K, V)."""
    from goldassay.kernels.text_counts import count_words

    together = pl.concat([pl.Series(each, dtype=pl.String) for each in (texts, test_texts)])
    tokens = tokenize_roles({"text": together})
    known = tokens.offsets[0][: len(texts) + 1]
    return tokens, count_words(tokens.ids, known, np.asarray(codes, np.int64), n_classes, tokens.hashes.size)
