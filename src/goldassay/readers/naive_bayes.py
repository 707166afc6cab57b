"""Naive Bayes on words: what many rare words tell together, each of them too rare for a fitted weight.

A linear model that is fitted to some thousand rows gives most of its weight to frequent words that differ by chance. A
word that three rows have, all of one label, counts here as much as its counts say.

Source: Maron 1961; McCallum and Nigam 1998, the multinomial model, with words of a text counted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.readers.probe_features import MIN_ROWS, TokenizedTexts, tokenize_roles
from goldassay.stats.clusters import Folds, Round

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray


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
    together = pl.concat([pl.Series(each, dtype=pl.String) for each in (texts, test_texts)])
    known = np.concatenate([np.asarray(codes, np.int64), np.zeros(len(test_texts), np.int64)])
    return word_evidence_of_folds(together, known, n_classes, Folds.of_parts(len(texts), len(test_texts)))


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


def planted_evidence_of_folds(
    texts: pl.Series, codes: NDArray[np.integer], n_classes: int, folds: Folds
) -> Callable[[NDArray[np.int64]], NDArray[np.float64]]:
    """What gives `word_evidence_of_folds` of the same texts with one further word each, (N, K), given its number.

    The sum over the words of a text is that of log(n_wk + a), which no further word changes, less as many times
    log(n_k + a V), so that texts are read once for any number of copies.

    Args:
        texts: As for `word_evidence_of_folds`.
        codes: As there.
        n_classes: As there.
        folds: As there.

    Returns:
        A function of the numbers of words that no text has, (L,), -1 for a word of this text alone.
    """
    from goldassay.kernels.text_counts import add_evidence

    y, sums = np.asarray(codes, np.int64), []
    for each, counts, asked in _rounds(texts, y, n_classes, folds):
        usual = np.flatnonzero(counts.sum(axis=0) >= MIN_ROWS)
        known = np.ascontiguousarray(counts[:, usual]) + SMOOTHING
        weights = np.zeros((counts.shape[1], n_classes + 1))
        weights[usual] = np.concatenate([np.log(known), np.ones((1, usual.size))]).T
        sums.append((each, add_evidence(*asked, weights), known.sum(axis=1)))

    def read(words: NDArray[np.int64]) -> NDArray[np.float64]:
        found, n_words = np.empty((folds.rows.size, n_classes)), int(words.max(initial=-1)) + 1
        for each, own, totals in sums:
            taught, asked = words[each.teaching], words[each.reading]
            counts = np.bincount(
                (y[each.teaching] * n_words + taught)[taught >= 0], minlength=n_classes * n_words
            ).reshape(n_classes, n_words)
            usual = counts.sum(axis=0) >= MIN_ROWS
            total = totals + (counts[:, usual] + SMOOTHING).sum(axis=1)
            logs = np.log(np.where(total > 0, total, 1.0))
            evidence = own[:, :-1] - own[:, -1:] * logs
            held = np.flatnonzero(asked >= 0)
            held = held[usual[asked[held]]]
            evidence[held] += np.log(counts[:, asked[held]] + SMOOTHING).T - logs
            found[each.places] = evidence
        return found

    return read


def leaning_evidence_of_folds(
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
    from goldassay.kernels.text_counts import add_evidence

    y = np.asarray(codes, np.int64)
    found, places = [], []
    for each, counts, asked in _rounds(texts, y, n_classes, folds):
        of_label = np.bincount(y[each.teaching], minlength=n_classes)
        found.append(np.stack([add_evidence(*asked, weights) for weights in weigh(counts, of_label)]))
        places.append(each.places)
    return np.concatenate(found, axis=1)[:, np.argsort(np.concatenate(places))]


def _rounds(
    texts: pl.Series, y: NDArray[np.int64], n_classes: int, folds: Folds
) -> Iterator[tuple[Round, NDArray[np.int64], tuple[NDArray[np.int32], NDArray[np.int64]]]]:
    """Each fold, in how many texts that teach it each word is, (K, V), and the words of the texts that are read."""
    from goldassay.kernels.text_counts import count_words

    tokens = tokenize_roles({"text": texts})
    for each in folds.rounds():
        taught = _words_of(tokens, each.teaching)
        counts = count_words(*taught, y[each.teaching], n_classes, tokens.hashes.size)
        yield each, counts, _words_of(tokens, each.reading)


def _words_of(tokens: TokenizedTexts, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The words of some texts, one after the other, and where each text's begin, and where the last one's end."""
    starts = tokens.offsets[0]
    lengths = np.diff(starts)[rows]
    own = np.concatenate([[0], np.cumsum(lengths)])
    return tokens.ids[np.repeat(starts[rows] - own[:-1], lengths) + np.arange(own[-1])], own
