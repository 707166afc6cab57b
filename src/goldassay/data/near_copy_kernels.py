"""The loops of near-copy search: shingles of characters, their minima, and the comparison with representatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from goldassay.core.compiled import compiled

# Characters in a shingle.
SHINGLE = 5


@compiled
def shingle_key(points: Any, at: int, end: int) -> Any:
    """A 64-bit key of the (up to five) characters from `at`; two different shingles share one by chance 5e-20."""
    key = np.uint64(0)
    for i in range(at, end):
        key = key * np.uint64(0x9E3779B97F4A7C15) + np.uint64(points[i] + 1)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


@compiled
def enter_shingles(points: Any, begin: int, end: int, keys: Any, stamps: Any, stamp: int, found: Any) -> int:
    """Put a text's shingles into a hash table of 2^m places; entries of other stamps count as empty.

    `found` is filled with the keys of the distinct ones, in the order in which they come, as far as it has room.

    Returns:
        How many distinct shingles it has.
    """
    mask = np.uint64(keys.size - 1)
    last = max(end - SHINGLE, begin)
    n = 0
    for at in range(begin, last + 1):
        key = shingle_key(points, at, min(at + SHINGLE, end))
        place = key & mask
        while stamps[place] == stamp and keys[place] != key:
            place = (place + np.uint64(1)) & mask
        if stamps[place] != stamp:
            stamps[place] = stamp
            keys[place] = key
            if n < found.size:
                found[n] = key
            n += 1
    return n


@compiled
def sign_texts(points: Any, starts: Any, multipliers: Any, n_bands: int, bands: Any, sizes: Any) -> None:
    """MinHash each text, and join the minima of each band to one number.

    Args:
        points: Code points of all texts.
        starts: Where each text starts, one more at the end, (M + 1,).
        multipliers: Odd, one a hash function, (n_bands * n_rows,), uint32.
        n_bands: B.
        bands: Filled: (B, M) uint64.
        sizes: Filled: distinct shingles of each text, (M,).
    """
    n_hashes = multipliers.size
    n_rows = n_hashes // n_bands
    minima = np.empty(n_hashes, np.uint32)
    longest = 1
    for text in range(starts.size - 1):
        longest = max(longest, starts[text + 1] - starts[text])
    places = 16
    while places < 2 * longest:
        places *= 2
    keys = np.zeros(places, np.uint64)
    stamps = np.full(places, -1, np.int64)
    for text in range(starts.size - 1):
        begin, end = starts[text], starts[text + 1]
        sizes[text] = enter_shingles(points, begin, end, keys, stamps, text, keys[:0])
        minima[:] = np.uint32(0xFFFFFFFF)
        last = max(end - SHINGLE, begin)
        for at in range(begin, last + 1):
            key = shingle_key(points, at, min(at + SHINGLE, end))
            low = np.uint32(key)
            high = np.uint32(key >> np.uint64(32))
            for j in range(n_hashes):
                value = np.uint32(np.uint32(low * multipliers[j]) ^ high)
                minima[j] = min(minima[j], value)
        for band in range(n_bands):
            joined = np.uint64(band + 1) * np.uint64(0x9E3779B97F4A7C15)
            for row in range(n_rows):
                joined = (joined ^ np.uint64(minima[band * n_rows + row])) * np.uint64(0xBF58476D1CE4E5B9)
                joined ^= joined >> np.uint64(29)
            bands[band, text] = joined


@compiled
def fill_buckets(bands: Any, buckets: Any) -> int:
    """Number the values that two texts or more have in one band.

    Args:
        bands: Of one band, (M,) uint64.
        buckets: Filled: the number of each text's value, -1 where no other text has it, (M,) int32.

    Returns:
        How many numbers there are.
    """
    n = bands.size
    places = 16
    while places < 2 * n:
        places *= 2
    mask = np.uint64(places - 1)
    first = np.full(places, -1, np.int32)
    n_buckets = 0
    for text in range(n):
        key = bands[text]
        place = key & mask
        while first[place] >= 0 and bands[first[place]] != key:
            place = (place + np.uint64(1)) & mask
        if first[place] < 0:
            first[place] = text
            buckets[text] = -1
        else:
            if buckets[first[place]] < 0:
                buckets[first[place]] = n_buckets
                n_buckets += 1
            buckets[text] = buckets[first[place]]
    return n_buckets


@compiled
def join_to_representatives(
    points: Any, starts: Any, sizes: Any, buckets: Any, n_buckets: int, at_least: float, most: int, found: Any
) -> int:
    """Join each text to the most similar representative before it, or make it one.

    Args:
        points: Code points of all texts, in the order in which texts become representatives.
        starts: Where each text starts, one more at the end, (M + 1,).
        sizes: Distinct shingles of each text, (M,).
        buckets: Bucket of each text in each band, -1 where no other text is in it, (M, B).
        n_buckets: How many buckets there are.
        at_least: Least Jaccard similarity of the sets of shingles.
        most: Representatives that are looked at in one bucket.
        found: Filled: the representative of each text, (M,).

    Returns:
        How many pairs were compared.
    """
    n_texts, n_bands = buckets.shape
    heads = np.full(n_buckets, -1, np.int64)
    # A representative's entry in each of its buckets, and the entry before it there.
    before = np.full((n_texts, n_bands), -1, np.int32)
    seen = np.full(n_texts, -1, np.int32)
    longest = 1
    for text in range(n_texts):
        longest = max(longest, starts[text + 1] - starts[text])
    places = 16
    while places < 2 * longest:
        places *= 2
    keys = np.zeros(places, np.uint64)
    stamps = np.full(places, -1, np.int64)
    hits = np.full(places, -1, np.int64)
    mask = np.uint64(places - 1)
    n_compared = 0
    for text in range(n_texts):
        entered = False
        best, best_similarity = -1, 0.0
        for band in range(n_bands):
            bucket = buckets[text, band]
            if bucket < 0:
                continue
            other = heads[bucket]
            looked = 0
            while other >= 0 and looked < most:
                looked += 1
                if seen[other] != text:
                    seen[other] = text
                    small, large = min(sizes[text], sizes[other]), max(sizes[text], sizes[other])
                    if small >= at_least * large - 1e-9:
                        if not entered:
                            enter_shingles(points, starts[text], starts[text + 1], keys, stamps, text, keys[:0])
                            entered = True
                        n_compared += 1
                        common = 0
                        begin, end = starts[other], starts[other + 1]
                        for at in range(begin, max(end - SHINGLE, begin) + 1):
                            key = shingle_key(points, at, min(at + SHINGLE, end))
                            place = key & mask
                            while stamps[place] == text and keys[place] != key:
                                place = (place + np.uint64(1)) & mask
                            if stamps[place] == text and hits[place] != n_compared:
                                hits[place] = n_compared
                                common += 1
                        similarity = common / (sizes[text] + sizes[other] - common)
                        nearer = similarity > best_similarity or (similarity == best_similarity and other < best)
                        if similarity >= at_least and nearer:
                            best, best_similarity = other, similarity
                other = before[other, band]
        if best >= 0:
            found[text] = best
        else:
            found[text] = text
            for band in range(n_bands):
                bucket = buckets[text, band]
                if bucket >= 0:
                    before[text, band] = heads[bucket]
                    heads[bucket] = text
    return n_compared
