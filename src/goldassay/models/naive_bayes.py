"""Naive Bayes on words: what many rare words tell together, each of them too rare for a fitted weight.

A linear model that is fitted to some thousand rows gives most of its weight to frequent words that differ by chance. A
word that three rows have, all of one label, counts here as much as its counts say.

Source: Maron 1961; McCallum and Nigam 1998, the multinomial model, with words of a text counted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.models.probe_features import MIN_ROWS, tokenize_roles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Added to the count of each word and label.
SMOOTHING = 0.1


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
    from goldassay.models.naive_bayes_kernels import add_evidence, count_words

    together = pl.concat([pl.Series(each, dtype=pl.String) for each in (texts, test_texts)])
    tokens = tokenize_roles({"text": together})
    starts, n_train = tokens.offsets[0], len(texts)
    counts = count_words(tokens.ids, starts[: n_train + 1], np.asarray(codes, np.int64), n_classes, tokens.hashes.size)
    usual = np.flatnonzero(counts.sum(axis=0) >= MIN_ROWS)
    if not usual.size:
        return np.zeros((len(test_texts), n_classes))
    known = np.ascontiguousarray(counts[:, usual]) + SMOOTHING
    weights = np.zeros((tokens.hashes.size, n_classes))
    weights[usual] = np.log(known / known.sum(axis=1, keepdims=True)).T
    return np.asarray(add_evidence(tokens.ids, starts[n_train:], weights))
