"""The compiled loops of `word_shapes`: words of texts as numbers, and what rare words of a text are spelled like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Characters that are in no word, those that a text is said to begin and end with, and marks, which are within words.
OUTSIDE, LETTER, MARK = range(3)

_START, _PRIME = np.uint64(14695981039346656037), np.uint64(1099511628211)
_SPREAD, _SHIFT, _ONE = np.uint64(0x9E3779B97F4A7C15), np.uint64(32), np.uint64(1)


@compiled
def find_words(
    characters: NDArray[np.uint32],
    lengths: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    slots: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    n_words: int,
) -> tuple[Any, ...]:
    """Number the words of texts in the order in which they are first seen.

    Args:
        characters: Code points of all texts, one after the other.
        lengths: Of each text, in characters, (N,).
        kinds: OUTSIDE, LETTER or MARK of each code point; words are runs of the last two.
        slots: A table from hash to word number, -1 where it is empty; a power of two long.
        hashes: Of each word so far, with room for more.
        n_words: How many words there are so far.

    Returns:
        Word numbers of all words, (T,); how many there are up to the end of each text, (N,); the first and the last
        LETTER of each text, 0 where it has none, (N, 2); where each word that is new begins and ends, (W, 2); slots,
        hashes and n_words as they are now.
    """
    ids = np.empty(characters.size // 2 + lengths.size, np.int32)
    ends = np.empty(lengths.size, np.int64)
    letters = np.zeros((lengths.size, 2), np.uint32)
    new = np.empty((1024, 2), np.int64)
    n_new = 0
    n = 0
    at = 0
    for text in range(lengths.size):
        end = at + lengths[text]
        while at < end:
            if kinds[characters[at]] == OUTSIDE:
                at += 1
                continue
            first = at
            key = _START
            while at < end and kinds[characters[at]] != OUTSIDE:
                key = (key ^ np.uint64(characters[at])) * _PRIME
                if kinds[characters[at]] == LETTER:
                    if letters[text, 0] == 0:
                        letters[text, 0] = characters[at]
                    letters[text, 1] = characters[at]
                at += 1
            key = (key ^ (key >> _SHIFT)) * _SPREAD
            key ^= key >> _SHIFT
            mask = np.uint64(slots.size - 1)
            slot = key & mask
            while slots[slot] >= 0 and hashes[slots[slot]] != key:
                slot = (slot + _ONE) & mask
            if slots[slot] < 0:
                if n_words == hashes.size:
                    hashes = np.concatenate((hashes, np.empty_like(hashes)))
                if n_new == new.shape[0]:
                    new = np.concatenate((new, np.empty_like(new)))
                slots[slot] = n_words
                hashes[n_words] = key
                new[n_new, 0] = first
                new[n_new, 1] = at
                ids[n] = n_words
                n_new += 1
                n_words += 1
                if 2 * n_words > slots.size:
                    slots = np.full(2 * slots.size, -1, np.int32)
                    mask = np.uint64(slots.size - 1)
                    for word in range(n_words):
                        slot = hashes[word] & mask
                        while slots[slot] >= 0:
                            slot = (slot + _ONE) & mask
                        slots[slot] = word
            else:
                ids[n] = slots[slot]
            n += 1
        ends[text] = n
    return ids[:n].copy(), ends, letters, new[:n_new], slots, hashes, n_words


@compiled
def count_texts(ids: NDArray[np.int32], starts: NDArray[np.int64], n_words: int) -> NDArray[np.int64]:
    """In how many texts each word is, (W,).

    Args:
        ids: Word numbers of all texts.
        starts: Where each text's begin, and where the last one's end, (N + 1,).
        n_words: W.
    """
    counts = np.zeros(n_words, np.int64)
    last = np.full(n_words, -1, np.int64)
    for i in range(starts.size - 1):
        for at in range(starts[i], starts[i + 1]):
            if last[ids[at]] != i:
                last[ids[at]] = i
                counts[ids[at]] += 1
    return counts


@compiled_within
def _collect(
    i: int, ids: Any, starts: Any, shape_starts: Any, shapes: Any, last: NDArray[np.int64], found: NDArray[np.int32]
) -> int:
    """Put the distinct shapes of the words of text i into `found`; how many there are."""
    n = 0
    for at in range(starts[i], starts[i + 1]):
        for place in range(shape_starts[ids[at]], shape_starts[ids[at] + 1]):
            shape = shapes[place]
            if last[shape] != i:
                last[shape] = i
                found[n] = shape
                n += 1
    return n


@compiled
def count_shapes(
    ids: NDArray[np.int32],
    starts: NDArray[np.int64],
    shape_starts: NDArray[np.int64],
    shapes: NDArray[np.int32],
    n_shapes: int,
) -> NDArray[np.int64]:
    """In how many texts each shape is, (S,).

    Args:
        ids: As for `count_texts`.
        starts: As there.
        shape_starts: Where the shapes of each word begin, and where the last one's end, (W + 1,).
        shapes: Of all words.
        n_shapes: S.
    """
    counts = np.zeros(n_shapes, np.int64)
    last = np.full(n_shapes, -1, np.int64)
    found = np.empty(n_shapes, np.int32)
    for i in range(starts.size - 1):
        for x in range(_collect(i, ids, starts, shape_starts, shapes, last, found)):
            counts[found[x]] += 1
    return counts


@compiled
def list_shapes(
    ids: NDArray[np.int32],
    starts: NDArray[np.int64],
    shape_starts: NDArray[np.int64],
    shapes: NDArray[np.int32],
    n_shapes: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The distinct shapes of each text, ascending, text by text, and the text of each; see `count_shapes`."""
    last = np.full(n_shapes, -1, np.int64)
    found = np.empty(n_shapes, np.int32)
    listed = np.empty(1024, np.int32)
    texts = np.empty(1024, np.int64)
    n = 0
    for i in range(starts.size - 1):
        n_own = _collect(i, ids, starts, shape_starts, shapes, last, found)
        while n + n_own > listed.size:
            listed = np.concatenate((listed, np.empty_like(listed)))
            texts = np.concatenate((texts, np.empty_like(texts)))
        own = np.sort(found[:n_own])
        for x in range(n_own):
            listed[n] = own[x]
            texts[n] = i
            n += 1
    return listed[:n], texts[:n]
