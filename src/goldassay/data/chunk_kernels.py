"""Compiled loops of tokenization: find the distinct chunks of many sentences, and write out their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPACE = 32
# What a chunk's place in its sentence can change: nothing before it, nothing after it, only spaces after it.
AT_START = 1
AT_END = 2
BEFORE_FINAL_SPACES = 4


@compiled
def _same(text: NDArray[np.uint8], a: int, b: int, length: int) -> bool:
    i = 0
    while i < length and text[a + i] == text[b + i]:
        i += 1
    return i == length


@compiled
def _place(text: NDArray[np.uint8], begin: int, end: int, n_other: int, place: int) -> int:
    """Forget what cannot matter: a word, or a word with one mark after it, is the same in any place."""
    if n_other == 0:
        return 0
    if n_other == 1 and end - begin > 1:
        last = text[end - 1]
        if last == 44 or last == 33 or last == 63:
            return 0
        if last == 46:
            return AT_END if place & (AT_END | BEFORE_FINAL_SPACES) else 0
    return place


@compiled
def intern_chunks(
    text: NDArray[np.uint8], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
    """Number the distinct chunks (what stands between ASCII spaces, with its place) by first appearance.

    Args:
        text: UTF-8 bytes of all sentences, one after the other.
        starts: Where each sentence starts, and the end of the last, (N+1,).

    Returns:
        For each occurrence its chunk's number; where each sentence's occurrences start (N+1,); and for each
        distinct chunk its first position, its length in bytes and its place.
    """
    n = starts.size - 1
    codes = np.empty((text.size + n) // 2 + 1, np.int32)
    offsets = np.zeros(n + 1, np.int64)
    table = np.full(1 << 12, -1, np.int32)
    mask = table.size - 1
    hashes = np.empty(1 << 11, np.uint64)
    positions = np.empty(1 << 11, np.int64)
    lengths = np.empty(1 << 11, np.int32)
    places = np.empty(1 << 11, np.uint8)
    n_distinct = 0
    filled = 0
    for s in range(n):
        stop = starts[s + 1]
        i = starts[s]
        while i < stop and text[i] == SPACE:
            i += 1
        while i < stop:
            begin = i
            code = np.uint64(14695981039346656037)
            n_other = 0
            while i < stop and text[i] != SPACE:
                byte = text[i]
                code = (code ^ np.uint64(byte)) * np.uint64(1099511628211)
                letter = byte | 32
                if not ((letter >= 97 and letter <= 122) or (byte >= 48 and byte <= 57)):
                    n_other += 1
                i += 1
            end = i
            while i < stop and text[i] == SPACE:
                i += 1
            place = AT_START if begin == starts[s] else 0
            if i == stop:
                place |= AT_END if end == stop else BEFORE_FINAL_SPACES
            place = _place(text, begin, end, n_other, place)
            code = (code ^ np.uint64(place)) * np.uint64(1099511628211)
            code ^= code >> np.uint64(32)
            slot = np.int64(code & np.uint64(mask))
            found = table[slot]
            while found >= 0 and not (
                hashes[found] == code
                and places[found] == place
                and lengths[found] == end - begin
                and _same(text, positions[found], begin, end - begin)
            ):
                slot = (slot + 1) & mask
                found = table[slot]
            if found < 0:
                found = n_distinct
                if n_distinct == positions.size:
                    hashes = np.concatenate((hashes, np.empty_like(hashes)))
                    positions = np.concatenate((positions, np.empty_like(positions)))
                    lengths = np.concatenate((lengths, np.empty_like(lengths)))
                    places = np.concatenate((places, np.empty_like(places)))
                hashes[found] = code
                positions[found] = begin
                lengths[found] = end - begin
                places[found] = place
                table[slot] = found
                n_distinct += 1
                if 2 * n_distinct > table.size:
                    table = np.full(2 * table.size, -1, np.int32)
                    mask = table.size - 1
                    for k in range(n_distinct):
                        slot = np.int64(hashes[k] & np.uint64(mask))
                        while table[slot] >= 0:
                            slot = (slot + 1) & mask
                        table[slot] = k
            codes[filled] = found
            filled += 1
        offsets[s + 1] = filled
    return codes[:filled], offsets, positions[:n_distinct], lengths[:n_distinct], places[:n_distinct]


@compiled
def expand_chunks(
    codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    token_starts: NDArray[np.int64],
    tokens: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Write each occurrence's tokens one after the other.

    Args:
        codes: Chunk numbers, as from `intern_chunks`.
        offsets: Where each sentence's occurrences start (N+1,).
        token_starts: Where each distinct chunk's tokens start in `tokens` (C+1,).
        tokens: Token ids of the distinct chunks.

    Returns:
        Token ids of all sentences, and where each sentence's start (N+1,).
    """
    total = 0
    for i in range(codes.size):
        total += token_starts[codes[i] + 1] - token_starts[codes[i]]
    ids = np.empty(total, np.int32)
    bounds = np.zeros(offsets.size, np.int64)
    filled = 0
    for s in range(offsets.size - 1):
        for i in range(offsets[s], offsets[s + 1]):
            for j in range(token_starts[codes[i]], token_starts[codes[i] + 1]):
                ids[filled] = tokens[j]
                filled += 1
        bounds[s + 1] = filled
    return ids, bounds
