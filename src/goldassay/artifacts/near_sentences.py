"""Sentences of nearly the same words: templates that were filled in, texts that were copied with a word changed.

Where they come with one label they say as much as one, like exact copies, and every pattern in them would be called
significant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.cores import cores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.data.tokenization import TokenizedCorpus

N_BANDS, N_ROWS = 8, 4
# Of 32 minima so many are equal where .56 of the words are shared. Made sets of 300 texts in ten copies each (twelve
# words of which another one is changed in each, labels 95/5) have a significant pattern in 12 % with 22, in 2 % with 20
# and in .4 % with 18.
EQUAL_MINIMA = 18
# Shorter sentences are near copies by chance: many people write "A man is sleeping outside."
SHORTEST = 12
# Representatives that are looked at in one band: bounds the time where many sentences are alike.
MOST_COMPARED = 4
# Bytes that `near_sentences` takes a sentence, at most.
BYTES_A_SENTENCE = 420


def sign_corpus(corpus: TokenizedCorpus) -> NDArray[np.uint64]:
    """MinHash the words of each sentence, (N, 8): each number is four minima of 16 bits.

    Words are compared without case. A sentence of fewer than twelve tokens has signatures that are equal to those of
    sentences of the same words, and near to none.

    Source: see `kernels.minhash`.
    """
    from goldassay.kernels.minhash import Shingles, sign
    from goldassay.kernels.splitting import code_points

    spelled = code_points(pl.Series(corpus.vocabulary, dtype=pl.String).str.to_lowercase())
    return sign(
        Shingles.of_words(corpus.ids, corpus.offsets, *spelled), N_BANDS, N_ROWS, n_threads=cores(), packed=True
    )[0]


def near_sentences(signatures: NDArray[np.uint64], lengths: NDArray[np.integer]) -> NDArray[np.int64]:
    """A code for each group of sentences of nearly the same words, from 0 without gaps, (N,).

    Two sentences of twelve tokens or more are near copies where 18 of the 32 minima of their words are equal, which are
    expected where the words that they share are .56 of the distinct words of both. Sentences are taken by falling
    count; each is joined to the representative with the most equal minima before it, else it becomes one. Copies of
    copies are thus never chained, and the order of rows changes nothing. Shorter sentences are joined where all minima
    are equal: they have the same words.

    Not `join_near_copies`, which asks for .8 of the runs of five letters: two sentences of twelve words, each with
    another word changed, share .57 of these. It also takes some twenty times as long, and needs the texts.

    Args:
        signatures: Of `sign_corpus`, (N, 8).
        lengths: Tokens of each sentence, (N,).
    """
    if not len(signatures):
        return np.empty(0, np.int64)
    from goldassay.kernels.hashing import absorbed
    from goldassay.kernels.minhash import join

    # One number for all bands of a sentence.
    mixed = np.zeros(len(signatures), np.uint64)
    for band in signatures.T:
        mixed = absorbed(mixed, band)
    _, first, inverse, counts = np.unique(mixed, return_index=True, return_inverse=True, return_counts=True)
    # Sentences of the same words may differ in length, by words that are repeated.
    longest = np.zeros(first.size, np.int64)
    np.maximum.at(longest, inverse, lengths)
    own = np.flatnonzero(longest >= SHORTEST)
    own = own[np.argsort(-counts[own], kind="stable")]
    found = np.arange(first.size)
    found[own] = own[join(signatures[first[own]], EQUAL_MINIMA / (N_BANDS * N_ROWS), MOST_COMPARED, n_threads=cores())]
    used = np.cumsum(np.bincount(found, minlength=first.size) > 0) - 1
    return used[found[inverse]].astype(np.int64)
