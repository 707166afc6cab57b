"""MinHash: which texts are nearly the same, found without comparing each with each.

A text is the set of its shingles: all runs of a few characters, or its words. Its signature is the least value of each
of some hashes over them. R minima make a band, and two texts are compared where they have a band in common. With B
bands a pair of texts with a Jaccard similarity of s is missed with a probability of (1 - s^R)^B. What is compared are
the sets themselves, or, where no text is kept, the minima, of which a share of s is expected to be equal.

Source: Broder 1997 (resemblance and shingles); Indyk and Motwani 1998 (bands); Li and Koenig 2010 (few bits of each
minimum suffice).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from goldassay.core.compiled import compiled, compiled_within, workers
from goldassay.kernels.hashing import (
    STEP,
    absorbed,
    hash_place,
    hash_run,
    numbered_place,
    odd_multipliers,
    open_table,
    stamped_place,
    table_size,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# Texts that are signed at once by one thread.
CHUNK = 1 << 14
# Hits of a search for which there is room beside one for each sought text.
_ROOM = 1 << 14
_ALL, _LOW_HALF = np.uint32(0xFFFFFFFF), np.uint32(0xFFFF)
_ONES, _HALVES = np.uint64(0x0001000100010001), np.uint64(0x7FFF7FFF7FFF7FFF)
_HIGH = np.uint64(32)
_NO_KEYS = np.empty(0, np.uint64)


class Shingles(NamedTuple):
    """What M texts are compared by.

    Attributes:
        units: Code points of all texts, or numbers of words.
        begins: Where each text begins in them, (M,).
        ends: Where it ends, (M,).
        size: Units of a shingle; a shorter text is one.
        keys: Where shingles are single units, the hash of each unit; a text without units has none.
    """

    units: NDArray[np.uint32] | NDArray[np.int32]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    size: int = 1
    keys: NDArray[np.uint64] = _NO_KEYS

    @classmethod
    def of_characters(
        cls, points: NDArray[np.uint32], begins: NDArray[np.int64], ends: NDArray[np.int64], size: int
    ) -> Shingles:
        """Runs of so many characters, given all code points."""
        # Else loops would be compiled once more for code points that may be written to.
        points = points.view()
        points.flags.writeable = False
        return cls(points, begins, ends, size)

    @classmethod
    def of_words(
        cls, ids: NDArray[np.int32], offsets: NDArray[np.int64], points: NDArray[np.uint32], starts: NDArray[np.int64]
    ) -> Shingles:
        """Single words, given the numbers of all and where texts start, and how each number is spelled."""
        keys = np.empty(starts.size - 1, np.uint64)
        _hash_words(points, starts, keys)
        return cls(ids, offsets[:-1], offsets[1:], 1, keys)

    def take(self, rows: NDArray[np.int64] | slice) -> Shingles:
        """Some of the texts."""
        begins, ends = np.ascontiguousarray(self.begins[rows]), np.ascontiguousarray(self.ends[rows])
        return self._replace(begins=begins, ends=ends)


def sign(
    texts: Shingles, n_bands: int, n_rows: int, *, n_threads: int = 1, packed: bool = False
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Sign each text.

    Args:
        texts: M texts.
        n_bands: B.
        n_rows: Minima in a band; four where they are packed.
        n_threads: How many sign.
        packed: Whether a band is the last 16 bits of each of its minima, side by side, and not a hash of them: such
            bands can be compared minimum by minimum.

    Returns:
        Bands (M, B); and how many distinct shingles each text has, (M,), none where shingles are words.
    """
    n = texts.begins.size
    multipliers = odd_multipliers(n_bands * n_rows)
    low, high = texts.keys.astype(np.uint32), (texts.keys >> _HIGH).astype(np.uint32)
    hashes = (low[:, np.newaxis] * multipliers) ^ high[:, np.newaxis]
    bands = np.empty((n, n_bands), np.uint64)
    sizes = np.empty(0 if texts.keys.size else n, np.int64)

    def of(bounds: tuple[int, int]) -> None:
        part = slice(*bounds)
        _sign(texts.take(part), multipliers, hashes, packed, bands[part], sizes[part])

    parts = list(pairwise([*range(0, n, CHUNK), n]))
    if n_threads == 1:
        for part in parts:
            of(part)
    else:
        with workers(n_threads) as pool:
            list(pool.map(of, parts))
    return bands, sizes


def join(
    bands: NDArray[np.uint64],
    at_least: float,
    most_compared: int,
    texts: Shingles | None = None,
    sizes: NDArray[np.int64] | None = None,
    n_threads: int = 1,
) -> NDArray[np.int64]:
    """Join each text to the most similar representative before it, or make it one.

    Copies of copies are thus never chained. Where two are equally similar, the earlier one represents.

    Args:
        bands: Of `sign`, in the order in which texts become representatives, (M, B).
        at_least: Least similarity.
        most_compared: Representatives that are looked at in one band, the latest first: bounds the time where many
            texts are alike.
        texts: Whose sets of shingles are compared; without them the minima of packed bands are.
        sizes: Distinct shingles of each text.
        n_threads: How many look for bands in common.

    Returns:
        (M,) the representative of each text, itself where it is one.
    """
    found = np.arange(len(bands), dtype=np.int64)
    buckets = np.empty(bands.T.shape, np.int32)
    with workers(n_threads) as pool:
        counts = list(pool.map(_fill_buckets, bands.T, buckets))
    starts = np.cumsum([0, *counts])
    for bucket, start in zip(buckets, starts, strict=False):
        bucket[bucket >= 0] += np.int32(start)
    # Most texts share no band with any other: they are their own representative.
    kept = np.flatnonzero((buckets >= 0).any(axis=0))
    if not kept.size:
        return found
    nearest = np.empty(kept.size, np.int64)
    if texts is None or sizes is None:
        texts, sizes = Shingles.of_characters(np.empty(0, np.uint32), found[:0], found[:0], 1), found[:0]
    else:
        texts, sizes = texts.take(kept), sizes[kept]
    shared = np.ascontiguousarray(buckets[:, kept].T)
    _join(texts, sizes, bands[kept], shared, int(starts[-1]), at_least, most_compared, nearest)
    found[kept] = kept[nearest]
    return found


@dataclass(frozen=True)
class NearIndex:
    """M texts that are sought among others by their sets of shingles, each with parts of it.

    Attributes:
        texts: Each text, followed by its parts, which are not sought by themselves.
        sizes: Distinct shingles of each of these; none of an empty one.
        n_parts: How many there are of each text, itself among them.
        n_bands: B.
        n_rows: Minima in a band.
        slots: Values of bands, see `hash_place`.
        shift: Of its places.
        heads: The first entry of each slot; an entry is text * B + band.
        following: The entry after each, -1 at the end.
    """

    texts: Shingles
    sizes: NDArray[np.int64]
    n_parts: int
    n_bands: int
    n_rows: int
    slots: NDArray[np.uint64]
    shift: np.uint64
    heads: NDArray[np.int64]
    following: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Shingles, n_parts: int, n_bands: int, n_rows: int) -> NearIndex:
        """Sign the texts, and chain those of equal bands."""
        sizes = sign(texts, 0, 0)[1]
        sizes[texts.ends == texts.begins] = 0
        bands = sign(texts.take(slice(None, None, n_parts)), n_bands, n_rows)[0]
        slots, shift = open_table(bands.size)
        heads, following = np.full(slots.size, -1, np.int64), np.empty(bands.size, np.int64)
        _chain(bands, slots, shift, heads, following)
        return cls(texts, sizes, n_parts, n_bands, n_rows, slots, shift, heads, following)

    def search(self, others: Shingles, at_least: float) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Which texts are nearly those that are sought, hits in parts; every candidate is confirmed by its sets.

        Args:
            others: N texts.
            at_least: Least similarity.

        Yields:
            Text and sought text of each hit, (H, 2); similarity of the whole, and the share of each part's shingles
            that the text has, 1 of an empty part, (H, parts).
        """
        bands, sizes = sign(others, self.n_bands, self.n_rows)
        room = self.sizes.size // self.n_parts + _ROOM
        first = 0
        while first < sizes.size:
            hits, shares = np.empty((room, 2), np.int64), np.empty((room, self.n_parts))
            n, first = _seek(
                others, bands, sizes, first, self.texts, self.sizes, self.slots, self.shift, self.heads, self.following,
                at_least, hits, shares,
            )  # fmt: skip
            yield hits[:n], shares[:n]


@compiled
def _hash_words(points: Any, starts: Any, keys: Any) -> None:
    for word in range(starts.size - 1):
        keys[word] = hash_run(points, starts[word], starts[word + 1])


@compiled_within
def _n_runs(texts: Any, text: int) -> int:
    return max(texts.ends[text] - texts.begins[text] - texts.size + 1, 1)


@compiled_within
def _run(texts: Any, text: int, number: int) -> Any:
    """Hash of one of the runs of units of a text."""
    at = texts.begins[text] + number
    return hash_run(texts.units, at, min(at + texts.size, texts.ends[text]))


@compiled_within
def _room(texts: Any) -> Any:
    """An empty table for the shingles of any of the texts: keys, stamps of entries, and the last mark of each."""
    longest = 1
    for text in range(texts.begins.size):
        longest = max(longest, texts.ends[text] - texts.begins[text])
    places = table_size(longest)
    return np.zeros(places, np.uint64), np.full(places, -1, np.int64), np.full(places, -1, np.int64)


@compiled_within
def _enter(texts: Any, text: int, room: Any, found: Any) -> int:
    """Put the distinct shingles of a text into a table, their keys into `found` as far as it has room; how many."""
    keys, stamps, _ = room
    n = 0
    for number in range(_n_runs(texts, text)):
        key = _run(texts, text, number)
        place = stamped_place(key, key, keys, stamps, text)
        if stamps[place] != text:
            stamps[place] = text
            keys[place] = key
            if n < found.size:
                found[n] = key
            n += 1
    return n


@compiled_within
def _n_common(texts: Any, text: int, room: Any, stamp: int, mark: int) -> int:
    """How many distinct shingles of a text are those of the text in a table; the mark is used once."""
    keys, stamps, marks = room
    common = 0
    for number in range(_n_runs(texts, text)):
        key = _run(texts, text, number)
        place = stamped_place(key, key, keys, stamps, stamp)
        if stamps[place] == stamp and marks[place] != mark:
            marks[place] = mark
            common += 1
    return common


@compiled_within
def _needed(size: Any, other: Any, at_least: float) -> float:
    """Shingles that two sets have in common where their similarity is s: s / (1 + s) of both sizes."""
    return float(at_least / (1 + at_least) * (size + other) - 1e-9)


@compiled
def _sign(texts: Any, multipliers: Any, hashes: Any, packed: bool, bands: Any, sizes: Any) -> None:
    """Fill the bands of texts, (M, B), and the numbers of their distinct shingles, (M,) or none.

    `hashes` are those of each word, (V, B R), if shingles are words: a word is hashed once and met often.
    """
    n_hashes, n_bands = multipliers.size, bands.shape[1]
    n_rows = n_hashes // max(n_bands, 1)
    minima = np.empty(n_hashes, np.uint32)
    room = _room(texts)
    found = np.empty(room[0].size, np.uint64)
    for text in range(texts.begins.size):
        minima[:] = _ALL
        if hashes.size:
            # A word that is repeated changes no minimum.
            for at in range(texts.begins[text], texts.ends[text]):
                of_word = hashes[texts.units[at]]
                for j in range(n_hashes):
                    minima[j] = min(minima[j], of_word[j])
        else:
            sizes[text] = _enter(texts, text, room, found)
            for at in range(sizes[text]):
                low, high = np.uint32(found[at]), np.uint32(found[at] >> _HIGH)
                for j in range(n_hashes):
                    minima[j] = min(minima[j], np.uint32(np.uint32(low * multipliers[j]) ^ high))
        for band in range(n_bands):
            value = np.uint64(0) if packed else np.uint64(band + 1) * STEP
            for row in range(n_rows):
                least = minima[band * n_rows + row]
                if packed:
                    value |= np.uint64(least & _LOW_HALF) << np.uint64(16 * row)
                else:
                    value = absorbed(value, np.uint64(least))
            bands[text, band] = value


@compiled
def _fill_buckets(bands: Any, buckets: Any) -> int:
    """Number the values that two texts or more have in one band, (M,), -1 where no other has it; returns how many."""
    first = np.full(table_size(bands.size), -1, np.int32)
    n_buckets = 0
    for text in range(bands.size):
        # Packed minima are alike in their low bits.
        place = numbered_place(absorbed(bands[text], STEP), bands[text], first, bands)
        if first[place] < 0:
            first[place] = text
            buckets[text] = -1
        else:
            if buckets[first[place]] < 0:
                buckets[first[place]] = n_buckets
                n_buckets += 1
            buckets[text] = buckets[first[place]]
    return n_buckets


@compiled_within
def _equal_minima(one: Any, other: Any) -> float:
    """Share of the minima in packed bands that are equal."""
    equal = np.int64(0)
    for band in range(one.size):
        # The high bit of each quarter is 0 where its minima are equal: none of its bits is set, nor carried into it.
        apart = one[band] ^ other[band]
        high = ~(((apart & _HALVES) + _HALVES) | apart) >> np.uint64(15)
        equal += np.int64(((high & _ONES) * _ONES) >> np.uint64(48))
    return float(equal / (4 * one.size))


@compiled
def _join(
    texts: Any, sizes: Any, bands: Any, buckets: Any, n_buckets: int, at_least: float, most: int, found: Any
) -> None:
    """See `join`; `found` is filled with the representative of each of M texts.

    Args:
        texts: M, or none where minima are compared.
        sizes: Likewise.
        bands: (M, B).
        buckets: Number of each text's value in each band, -1 where no other text has it, (M, B).
        n_buckets: How many numbers there are.
        at_least: Least similarity.
        most: Representatives that are looked at in one bucket.
        found: Filled.
    """
    n, n_bands = buckets.shape
    heads = np.full(n_buckets, -1, np.int32)
    # A representative's entry in each of its buckets, and the entry before it there.
    before = np.full((n, n_bands), -1, np.int32)
    seen = np.full(n, -1, np.int32)
    room = _room(texts)
    nothing = np.empty(0, np.uint64)
    n_compared = 0
    for text in range(n):
        is_entered = False
        best, highest = -1, 0.0
        for band in range(n_bands):
            bucket = buckets[text, band]
            other = heads[bucket] if bucket >= 0 else -1
            looked = 0
            while other >= 0 and looked < most:
                looked += 1
                if seen[other] != text:
                    seen[other] = text
                    similarity = 0.0
                    if sizes.size == 0:
                        similarity = _equal_minima(bands[text], bands[other])
                    elif min(sizes[text], sizes[other]) >= _needed(sizes[text], sizes[other], at_least):
                        if not is_entered:
                            _enter(texts, text, room, nothing)
                            is_entered = True
                        n_compared += 1
                        common = _n_common(texts, other, room, text, n_compared)
                        similarity = common / (sizes[text] + sizes[other] - common)
                    nearer = similarity > highest or (similarity == highest and other < best)
                    if similarity >= at_least and nearer:
                        best, highest = other, similarity
                other = before[other, band]
        found[text] = best if best >= 0 else text
        if best < 0:
            for band in range(n_bands):
                bucket = buckets[text, band]
                if bucket >= 0:
                    before[text, band] = heads[bucket]
                    heads[bucket] = text


@compiled
def _chain(bands: Any, slots: Any, shift: Any, heads: Any, following: Any) -> None:
    """Put bands, (M, B), whose values tell the bands apart, into an open table; see `NearIndex`."""
    n, n_bands = bands.shape
    for text in range(n):
        for band in range(n_bands):
            place = hash_place(bands[text, band], slots, shift)
            entry = text * n_bands + band
            following[entry] = heads[place]
            slots[place] = bands[text, band]
            heads[place] = entry


@compiled
def _seek(
    others: Any, bands: Any, sizes: Any, first: int, texts: Any, text_sizes: Any, slots: Any, shift: Any, heads: Any,
    following: Any, at_least: float, hits: Any, shares: Any,
) -> Any:  # fmt: skip
    """See `NearIndex.search`; begins with one of the others.

    Returns:
        How many hits there are, and the text to go on with: fewer than N where there is no room for more.
    """
    n, n_bands = bands.shape
    n_parts = shares.shape[1]
    n_texts = text_sizes.size // n_parts
    seen = np.full(n_texts, -1, np.int64)
    room = _room(others)
    nothing = np.empty(0, np.uint64)
    found = n_compared = 0
    for other in range(first, n):
        if found + n_texts > hits.shape[0]:
            return found, other
        is_entered = False
        for band in range(n_bands):
            entry = heads[hash_place(bands[other, band], slots, shift)]
            while entry >= 0:
                text = entry // n_bands
                entry = following[entry]
                if seen[text] == other:
                    continue
                seen[text] = other
                whole = text * n_parts
                needed = _needed(sizes[other], text_sizes[whole], at_least)
                if min(sizes[other], text_sizes[whole]) < needed:
                    continue
                if not is_entered:
                    _enter(others, other, room, nothing)
                    is_entered = True
                n_compared += 1
                common = _n_common(texts, whole, room, other, n_compared)
                if common < needed:
                    continue
                hits[found, 0], hits[found, 1] = other, text
                shares[found, 0] = common / (sizes[other] + text_sizes[whole] - common)
                for part in range(1, n_parts):
                    size = text_sizes[whole + part]
                    n_compared += 1
                    shared = _n_common(texts, whole + part, room, other, n_compared) if size else 0
                    shares[found, part] = shared / size if size else 1.0
                found += 1
    return found, n
