"""Sentences of nearly the same words: templates that were filled in, texts that were copied with a word changed.

Where they come with one label they say as much as one, like exact copies, and every pattern in them would be called
significant.
"""

from __future__ import annotations

from itertools import pairwise
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
_SENTENCES_AT_ONCE = 1 << 15


def sign_corpus(corpus: TokenizedCorpus) -> NDArray[np.uint64]:
    """MinHash the words of each sentence, (N, 8): each number is four minima of 16 bits.

    Words are compared without case. A sentence of fewer than twelve tokens has signatures that are equal to those of
    sentences of the same words, and near to none.

    Source: Broder 1997 (resemblance by minima of hashes); Li and Koenig 2010 (few bits of each minimum suffice).
    """
    from goldassay.artifacts.near_sentence_kernels import hash_tokens, sign_sentences
    from goldassay.core.compiled import workers
    from goldassay.data.near_copies import code_points

    points, starts = code_points(pl.Series(corpus.vocabulary, dtype=pl.String).str.to_lowercase())
    keys = np.empty(len(corpus.vocabulary), np.uint64)
    hash_tokens(points, starts, keys)
    odd = np.random.default_rng(0).integers(0, 2**31, N_BANDS * N_ROWS, dtype=np.uint32) * np.uint32(2) + np.uint32(1)
    low, high = keys.astype(np.uint32), (keys >> np.uint64(32)).astype(np.uint32)
    hashes = (low[:, np.newaxis] * odd) ^ high[:, np.newaxis]
    minima = np.empty((len(corpus), N_BANDS * N_ROWS), np.uint16)
    parts = list(pairwise([*range(0, len(corpus), _SENTENCES_AT_ONCE), len(corpus)]))
    with workers(cores()) as pool:
        list(pool.map(lambda part: sign_sentences(*part, corpus.ids, corpus.offsets, hashes, minima), parts))
    return minima.view(np.uint64)


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
    from goldassay.artifacts.near_sentence_kernels import join_signed

    mixed = _mixed(signatures)
    _, first, inverse, counts = np.unique(mixed, return_index=True, return_inverse=True, return_counts=True)
    # Sentences of the same words may differ in length, by words that are repeated.
    longest = np.zeros(first.size, np.int64)
    np.maximum.at(longest, inverse, lengths)
    own = np.flatnonzero(longest >= SHORTEST)
    own = own[np.argsort(-counts[own], kind="stable")]
    bands = np.ascontiguousarray(signatures[first[own]])
    nearest = np.empty(own.size, np.int64)
    join_signed(bands, EQUAL_MINIMA, MOST_COMPARED, nearest)
    found = np.arange(first.size)
    found[own] = own[nearest]
    used = np.cumsum(np.bincount(found, minlength=first.size) > 0) - 1
    return used[found[inverse]].astype(np.int64)


def _mixed(signatures: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One number for all bands of a sentence, (N,)."""
    mixed = np.zeros(len(signatures), np.uint64)
    for band in signatures.T:
        mixed = (mixed ^ band) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
    return mixed
