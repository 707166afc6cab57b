"""The loops that find sentences of nearly the same words: minima of hashes, and the joining to representatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from goldassay.core.compiled import compiled


@compiled
def hash_tokens(points: Any, starts: Any, keys: Any) -> None:
    """A 64-bit number for each token.

    Args:
        points: Code points of all tokens, one after the other.
        starts: Where each starts, one more at the end, (V + 1,).
        keys: Filled, (V,) uint64.
    """
    for token in range(starts.size - 1):
        key = np.uint64(0)
        for at in range(starts[token], starts[token + 1]):
            key = key * np.uint64(0x9E3779B97F4A7C15) + np.uint64(points[at] + 1)
        key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        keys[token] = key ^ (key >> np.uint64(31))


@compiled
def sign_sentences(begin: int, end: int, ids: Any, offsets: Any, hashes: Any, minima: Any) -> None:
    """The least of each hash over the tokens of the sentences `begin` to `end`, cut to 16 bits.

    Args:
        begin: First sentence.
        end: The one after the last.
        ids: Token numbers of all sentences.
        offsets: Where each sentence starts, (N + 1,).
        hashes: Of each token, (V, H) uint32.
        minima: Filled from `begin` to `end`, (N, H) uint16.
    """
    n_hashes = hashes.shape[1]
    least = np.empty(n_hashes, np.uint32)
    for sentence in range(begin, end):
        least[:] = np.uint32(0xFFFFFFFF)
        for at in range(offsets[sentence], offsets[sentence + 1]):
            of_token = hashes[ids[at]]
            for j in range(n_hashes):
                least[j] = min(least[j], of_token[j])
        for j in range(n_hashes):
            minima[sentence, j] = np.uint16(least[j] & np.uint32(0xFFFF))


@compiled
def join_signed(bands: Any, at_least: int, most: int, found: Any) -> None:
    """Join each signature to the representative before it with the most equal minima, or make it one.

    Args:
        bands: Four minima of 16 bits in each number, in the order in which they become representatives, (M, B) uint64.
        at_least: Fewest equal minima.
        most: Representatives that are looked at in one band, the latest first.
        found: Filled: the representative of each, (M,).
    """
    n, n_bands = bands.shape
    ones, halves = np.uint64(0x0001000100010001), np.uint64(0x7FFF7FFF7FFF7FFF)
    places = 16
    while places < 2 * n:
        places *= 2
    mask = np.uint64(places - 1)
    # The latest representative with the number of a place in a band, and the one before it.
    heads = np.full((n_bands, places), -1, np.int32)
    before = np.full((n, n_bands), -1, np.int32)
    seen = np.full(n, -1, np.int32)
    own = np.empty(n_bands, np.uint64)
    for text in range(n):
        best = -1
        best_equal: Any = at_least - 1
        for band in range(n_bands):
            key = bands[text, band]
            place = key * np.uint64(0x9E3779B97F4A7C15)
            place = (place ^ (place >> np.uint64(32))) & mask
            while heads[band, place] >= 0 and bands[heads[band, place], band] != key:
                place = (place + np.uint64(1)) & mask
            own[band] = place
            other = heads[band, place]
            looked = 0
            while other >= 0 and looked < most:
                looked += 1
                if seen[other] != text:
                    seen[other] = text
                    # In each quarter of the sum how many minima are equal, that is 0 once one is taken from the other.
                    quarters = np.uint64(0)
                    for each in range(n_bands):
                        apart = bands[other, each] ^ bands[text, each]
                        quarters += (~(((apart & halves) + halves) | apart) >> np.uint64(15)) & ones
                    equal = np.int64((quarters * ones) >> np.uint64(48))
                    if equal > best_equal or (equal == best_equal and best >= 0 and other < best):
                        best, best_equal = other, equal
                other = before[other, band]
        if best >= 0:
            found[text] = best
        else:
            found[text] = text
            for band in range(n_bands):
                before[text, band] = heads[band, own[band]]
                heads[band, own[band]] = text
