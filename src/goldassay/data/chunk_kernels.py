"""Compiled loops of tokenization: find the distinct chunks of many sentences, and write out their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.data.chunk_places import AT_END, AT_START, BEFORE_FINAL_SPACES

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPACE = 32


@compiled
def byte_starts(text: NDArray[np.uint8], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where sentences start in UTF-8 bytes, given where they start in characters, (N+1,) both."""
    found = np.empty_like(starts)
    at = 0
    character = 0
    for s in range(starts.size):
        while character < starts[s] or (at < text.size and text[at] & 192 == 128):
            character += text[at] & 192 != 128
            at += 1
        found[s] = at
    return found


@compiled_within
def _intern(
    text: NDArray[np.uint8],
    starts: NDArray[np.int64],
    s: int,
    codes: NDArray[np.int32],
    offsets: NDArray[np.int64],
    table: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    chunks: NDArray[np.int64],
    n_distinct: int,
) -> tuple[int, int]:
    """Number chunks from sentence s on, until all are done or `chunks` is full.

    Returns:
        The first sentence that is not done, and how many distinct chunks there are.
    """
    mask = np.uint64(table.size - 1)
    filled = offsets[s]
    while s < starts.size - 1:
        begin_of_sentence = starts[s]
        stop = starts[s + 1]
        i = begin_of_sentence
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
                n_other += not ((97 <= letter <= 122) or (48 <= byte <= 57))
                i += 1
            end = i
            while i < stop and text[i] == SPACE:
                i += 1
            place = AT_START if begin == begin_of_sentence else 0
            if i == stop:
                place |= AT_END if end == stop else BEFORE_FINAL_SPACES
            # Forget what cannot matter: a word, or a word with one mark after it, is the same in any place.
            if n_other == 0:
                place = 0
            elif n_other == 1 and end - begin > 1:
                final = text[end - 1]
                if final == 44 or final == 33 or final == 63:
                    place = 0
                elif final == 46:
                    place = AT_END if place & (AT_END | BEFORE_FINAL_SPACES) else 0
            length = end - begin
            code = (code ^ np.uint64(place)) * np.uint64(1099511628211)
            code ^= code >> np.uint64(32)
            slot = code & mask
            found = table[slot]
            while found >= 0:
                if hashes[found] == code and chunks[found, 1] == length and chunks[found, 2] == place:
                    other = chunks[found, 0]
                    same = 0
                    while same < length and text[other + same] == text[begin + same]:
                        same += 1
                    if same == length:
                        break
                slot = (slot + np.uint64(1)) & mask
                found = table[slot]
            if found < 0:
                if n_distinct == hashes.size:
                    return s, n_distinct
                found = n_distinct
                hashes[found] = code
                chunks[found, 0] = begin
                chunks[found, 1] = length
                chunks[found, 2] = place
                table[slot] = found
                n_distinct += 1
            codes[filled] = found
            filled += 1
        s += 1
        offsets[s] = filled
    return s, n_distinct


@compiled
def intern_chunks(
    text: NDArray[np.uint8], starts: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct chunks (what stands between ASCII spaces, with its place) by first appearance.

    Args:
        text: UTF-8 bytes of all sentences, one after the other.
        starts: Where each sentence starts, and the end of the last, (N+1,).

    Returns:
        For each occurrence its chunk's number; where each sentence's occurrences start (N+1,); and for each
        distinct chunk its first position, its length in bytes and its place (C,3).
    """
    n = starts.size - 1
    codes = np.empty((text.size + n) // 2 + 1, np.int32)
    offsets = np.zeros(n + 1, np.int64)
    size = 1 << 13
    table = np.full(size, -1, np.int32)
    hashes = np.empty(size // 2, np.uint64)
    chunks = np.empty((size // 2, 3), np.int64)
    # Not 0 itself, for which numba would compile `_intern` once more.
    s = n_distinct = np.int64(0)
    while True:
        s, n_distinct = _intern(text, starts, s, codes, offsets, table, hashes, chunks, n_distinct)
        if s == n:
            break
        size *= 2
        table = np.full(size, -1, np.int32)
        larger_hashes = np.empty(size // 2, np.uint64)
        larger_chunks = np.empty((size // 2, 3), np.int64)
        mask = np.uint64(size - 1)
        for k in range(n_distinct):
            larger_hashes[k] = hashes[k]
            for j in range(3):
                larger_chunks[k, j] = chunks[k, j]
            slot = hashes[k] & mask
            while table[slot] >= 0:
                slot = (slot + np.uint64(1)) & mask
            table[slot] = k
        hashes = larger_hashes
        chunks = larger_chunks
    return codes[: offsets[n]], offsets, chunks[:n_distinct]


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
