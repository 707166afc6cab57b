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
from goldassay.stats.folds import Folds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

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
    """As `word_evidence_of_folds`, of M test texts by N training texts, (M, K)."""
    together, known, folds = _as_folds(texts, codes, test_texts)
    return word_evidence_of_folds(together, known, n_classes, folds)


def word_evidence_of_folds(
    texts: pl.Series, codes: NDArray[np.integer], n_classes: int, folds: Folds
) -> NDArray[np.float64]:
    """What the words of each text that is read say for each label, (N, K), the shares of the labels left aside.

    sum over the distinct words w of a text of log[(n_wk + a)/(n_k + a V)], n_wk the texts of label k with w that teach
    its fold, n_k = sum_w n_wk, of the V words that two of these texts or more have.

    Args:
        texts: L texts.
        codes: Of their labels, (L,); those of texts that are read alone are not looked at.
        n_classes: K.
        folds: Which texts teach which.
    """

    def weigh(counts: NDArray[np.int64], _: NDArray[np.int64]) -> Iterator[NDArray[np.float64]]:
        usual = np.flatnonzero(counts.sum(axis=0) >= MIN_ROWS)
        known = np.ascontiguousarray(counts[:, usual]) + SMOOTHING
        weights = np.zeros((counts.shape[1], n_classes))
        if usual.size:
            weights[usual] = np.log(known / known.sum(axis=1, keepdims=True)).T
        yield weights

    return _added_up(texts, codes, n_classes, folds, weigh)[0]


def telling_evidence(
    texts: Sequence[str] | pl.Series,
    codes: NDArray[np.integer],
    n_classes: int,
    test_texts: Sequence[str] | pl.Series,
    thresholds: Sequence[float],
) -> NDArray[np.float64]:
    """As `telling_evidence_of_folds`, of M test texts by N training texts, (T, M, K)."""
    together, known, folds = _as_folds(texts, codes, test_texts)
    return telling_evidence_of_folds(together, known, n_classes, folds, thresholds)


def telling_evidence_of_folds(
    texts: pl.Series, codes: NDArray[np.integer], n_classes: int, folds: Folds, thresholds: Sequence[float]
) -> NDArray[np.float64]:
    """The same of the words alone that lean to a label by themselves, for each of T thresholds, (T, N, K).

    A word in n_w texts that teach, n_wk of label k, leans to it by z_wk = (n_wk - n_w p_k)/sqrt(n_w p_k (1 - p_k));
    words of ten texts or more with the largest |z_wk| at the threshold count, each for the label k by
    log[(n_wk + 1/2)/(n_k + 1)].

    Where one word tells a rare label, adding up all words hides it: thousands of words that tell nothing add their
    noise.

    Args:
        texts: As for `word_evidence_of_folds`, as what follows.
        codes: As there.
        n_classes: As there.
        folds: As there.
        thresholds: Of |z|.
    """

    def weigh(counts: NDArray[np.int64], of_label: NDArray[np.int64]) -> Iterator[NDArray[np.float64]]:
        shares = (of_label / max(of_label.sum(), 1))[:, np.newaxis]
        of_word = counts.sum(axis=0)
        usual = np.flatnonzero(of_word >= LEAST_TELLING)
        n_w, n_wk = of_word[usual], counts[:, usual]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.nan_to_num(np.abs((n_wk - n_w * shares) / np.sqrt(n_w * shares * (1 - shares))))
        evidence = np.log((n_wk + 0.5) / (of_label[:, np.newaxis] + 1)).T
        for threshold in thresholds:
            telling = z.max(axis=0, initial=0) >= threshold
            weights = np.zeros((counts.shape[1], n_classes))
            weights[usual[telling]] = evidence[telling]
            yield weights

    return _added_up(texts, codes, n_classes, folds, weigh)


def _as_folds(
    texts: Sequence[str] | pl.Series, codes: NDArray[np.integer], test_texts: Sequence[str] | pl.Series
) -> tuple[pl.Series, NDArray[np.int64], Folds]:
    together = pl.concat([pl.Series(each, dtype=pl.String) for each in (texts, test_texts)])
    known = np.concatenate([np.asarray(codes, np.int64), np.zeros(len(test_texts), np.int64)])
    return together, known, Folds.of_parts(len(texts), len(test_texts))


def _added_up(
    texts: pl.Series,
    codes: NDArray[np.integer],
    n_classes: int,
    folds: Folds,
    weigh: Callable[[NDArray[np.int64], NDArray[np.int64]], Iterator[NDArray[np.float64]]],
) -> NDArray[np.float64]:
    """The weights of the distinct words of each text that is read, (T, N, K).

    Args:
        texts: L texts.
        codes: Of their labels, (L,).
        n_classes: K.
        folds: Which texts teach which.
        weigh: Makes T times weights, (V, K), of how many texts that teach a fold have each word and label, (K, V), and
            how many have each label, (K,).
    """
    from goldassay.kernels.text_counts import add_evidence, count_words

    tokens = tokenize_roles({"text": texts})
    y, n_words = np.asarray(codes, np.int64), tokens.hashes.size
    found, places = [], []
    for each in folds.rounds():
        own = y[each.teaching]
        counts = count_words(*_words_of(tokens, each.teaching), own, n_classes, n_words)
        asked = _words_of(tokens, each.reading)
        of_label = np.bincount(own, minlength=n_classes)
        found.append(np.stack([add_evidence(*asked, weights) for weights in weigh(counts, of_label)]))
        places.append(each.places)
    return np.concatenate(found, axis=1)[:, np.argsort(np.concatenate(places))]


def _words_of(tokens: TokenizedTexts, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The words of some texts, one after the other, and where each text's begin, and where the last one's end."""
    starts = tokens.offsets[0]
    lengths = np.diff(starts)[rows]
    own = np.concatenate([[0], np.cumsum(lengths)])
    return tokens.ids[np.repeat(starts[rows] - own[:-1], lengths) + np.arange(own[-1])], own
