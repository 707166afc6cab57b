"""Bytes to rolling hashes of n-grams of words, and the look for those that are sought."""

from __future__ import annotations

from typing import Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.scanning.words import ALONE, DEPENDS, DROPPED, MOST_IN_TAG, N_POINTS, UNSEEN_FIRST, UNSEEN_LAST

# What a text is found to be.
NOTHING, CANDIDATE, BY_HAND, INVALID = 0, 1, 2, 3
# Prefixes that are kept: n-grams are shorter.
RING = 64
_SEED = np.uint64(0x9E3779B97F4A7C15)
# Of the polynomial over characters: one shift and one addition, which no multiplication of 64 bits beats. Words that
# share a hash are told apart by the exact look.
_STEP = np.uint64(33)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
# Of the polynomial over words.
BASE = np.uint64(0x2545F4914F6CDD1D)
_U32, _U6, _U63 = np.uint64(32), np.uint64(6), np.uint64(63)
# Rows of the state between two parts of a text.
_HASH, _INSIDE, _COUNT, _PREFIX = 0, 1, 2, 3


@compiled_within
def _word(h: Any) -> Any:
    h = (h ^ (h >> _U32)) * _MIX
    return h ^ (h >> _U32)


@compiled
def hash_words(points: Any, starts: Any, found: Any) -> None:
    """Hash of each word of code points: word i is points[starts[i]:starts[i + 1]]."""
    for i in range(starts.size - 1):
        h = _SEED
        for j in range(starts[i], starts[i + 1]):
            h = h * _STEP + np.uint64(points[j])
        found[i] = _word(h)


@compiled
def hash_ngrams(words: Any, starts: Any, lengths: Any, keep: Any, found: Any) -> None:
    """Hashes of the n-grams that begin at starts[i] and have lengths[i] words; `keep` masks bits away."""
    for i in range(starts.size):
        s = np.uint64(0)
        for j in range(starts[i], starts[i] + lengths[i]):
            s = s * BASE + words[j]
        found[i] = s & keep


@compiled
def fill_filter(hashes: Any, bloom: Any, shift: Any) -> None:
    """Put hashes into the blocked Bloom filter: two bits in one word of it."""
    for i in range(hashes.size):
        h = hashes[i]
        bits = (np.uint64(1) << (h & _U63)) | (np.uint64(1) << ((h >> _U6) & _U63))
        bloom[(h * _SPREAD) >> shift] |= bits


@compiled
def fill_table(hashes: Any, slots: Any, slot_shift: Any) -> None:
    """Put hashes into the table with open addressing; 0 is an empty slot."""
    last = np.int64(slots.size - 1)
    for i in range(hashes.size):
        h = hashes[i]
        at = np.int64((h * _SPREAD) >> slot_shift)
        while slots[at] != 0 and slots[at] != h:
            at = (at + 1) & last
        slots[at] = h


@compiled_within
def _passes(h: Any, bloom: Any, shift: Any) -> bool:
    bits = (np.uint64(1) << (h & _U63)) | (np.uint64(1) << ((h >> _U6) & _U63))
    return bool(bloom[(h * _SPREAD) >> shift] & bits == bits)


@compiled_within
def _is_sought(h: Any, slots: Any, slot_shift: Any) -> bool:
    last = np.int64(slots.size - 1)
    at = np.int64((h * _SPREAD) >> slot_shift)
    while slots[at] != 0:
        if slots[at] == h:
            return True
        at = (at + 1) & last
    # An n-gram whose hash is 0 has no slot.
    return bool(h == 0)


@compiled_within
def _hex(data: Any, i: Any) -> int:
    value = 0
    for j in range(i, i + 4):
        c = data[j]
        value = value * 16 + (c - 48 if c < 58 else (c | 32) - 87)
    return value


@compiled_within
def entry_of(points: Any, c: Any) -> Any:
    """What a code point is, beyond the table too."""
    if c < N_POINTS:
        return np.int64(points[c])
    return np.int64(DROPPED if UNSEEN_FIRST <= c <= UNSEEN_LAST else 0)


@compiled_within
def _is_letter(c: Any) -> bool:
    return bool(97 <= (c | 32) <= 122)


@compiled_within
def markup_end(data: Any, i: Any, end: int, escaped: bool, c: Any) -> int:
    """Where a tag or an entity of HTML ends of which i follows the first byte c; -1 where it is none, -2 by hand.

    As `words_of` has it; within JSON a character may be written by its number, which is left to Python.
    """
    j = i
    if c == 38:
        n, least, most, is_hex, is_number = 0, 2, 8, False, False
        if j < end and data[j] == 35:
            is_number, least, most = True, 1, 7
            j += 1
            if j < end and (data[j] | 32) == 120:
                is_hex, most = True, 6
                j += 1
        while j < end and n <= most:
            d = data[j]
            if d == 59:
                return j + 1 if n >= least else -1
            if escaped and d == 92 and j + 1 < end and data[j + 1] == 117:
                return -2
            is_digit = 48 <= d <= 57
            if is_number:
                if not (is_digit or (is_hex and 97 <= (d | 32) <= 102)):
                    return -1
            elif not _is_letter(d):
                return -1
            n += 1
            j += 1
        return -1
    if escaped and j + 1 < end and data[j] == 92:
        if data[j + 1] == 117:
            return -2
        if data[j + 1] == 47:
            j += 2
    elif j < end and data[j] == 47:
        j += 1
    if j >= end:
        return -1
    if escaped and data[j] == 92 and j + 1 < end and data[j + 1] == 117:
        return -2
    if not _is_letter(data[j]):
        return -1
    j += 1
    n = 0
    while j < end:
        d = data[j]
        if d == 62:
            return j + 1
        if d == 60 or d >= 128:
            return -1
        if escaped and d == 92 and j + 1 < end:
            if data[j + 1] == 117:
                return -2
            j += 1
        n += 1
        if n > MOST_IN_TAG:
            return -1
        j += 1
    return -1


@compiled_within
def seek_span(
    data: Any, begin: int, end: int, escaped: bool, letters: Any, points: Any,
    lengths: Any, powers: Any, keep: Any, bloom: Any, shift: Any, slots: Any, slot_shift: Any, ring: Any, state: Any,
) -> int:  # fmt: skip
    """Look for n-grams in one part of a text, UTF-8 with or without JSON's escapes, and continue in the next."""
    h, inside, n, prefix = state[_HASH], state[_INSIDE], np.int64(state[_COUNT]), state[_PREFIX]
    shortest = lengths[0]
    i = begin
    while True:
        # Most bytes are letters and digits of ASCII.
        while i < end:
            plain = letters[data[i]]
            if plain == 0:
                break
            h = h * _STEP + np.uint64(plain)
            inside = np.uint64(1)
            i += 1
        if i < end:
            c = np.int64(data[i])
            i += 1
            if c == 92 and escaped:
                c = np.int64(32)
                if data[i] == 117:
                    c = np.int64(_hex(data, i + 1))
                    i += 4
                    if 0xD800 <= c < 0xDC00 and i + 6 < end and data[i + 1] == 92 and data[i + 2] == 117:
                        low = _hex(data, i + 3)
                        if 0xDC00 <= low < 0xE000:
                            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00)
                            i += 6
                    elif c == 60 or c == 38:
                        # Spelled by its number: what follows may be markup.
                        after = markup_end(data, i + 1, end, escaped, c)
                        if after == -2:
                            return BY_HAND
                        if after >= 0:
                            i = after - 1
                i += 1
            elif c >= 128:
                more = 1 if 0xC2 <= c < 0xE0 else 2 if 0xE0 <= c < 0xF0 else 3 if 0xF0 <= c < 0xF5 else 0
                if more == 0 or i + more > end:
                    return INVALID
                least = 0x80 if more == 1 else 0x800 if more == 2 else 0x10000
                c &= 0x3F >> more
                for j in range(i, i + more):
                    if data[j] & 0xC0 != 0x80:
                        return INVALID
                    c = (c << 6) | np.int64(data[j] & 0x3F)
                if c < least or c > 0x10FFFF or 0xD800 <= c < 0xE000:
                    return INVALID
                i += more
            elif c == 60 or c == 38:
                after = markup_end(data, i, end, escaped, c)
                if after == -2:
                    return BY_HAND
                if after >= 0:
                    i = after
            entry = entry_of(points, c)
            if 0 < entry < ALONE:
                h = h * _STEP + np.uint64(entry)
                inside = np.uint64(1)
                continue
            if entry == DROPPED:
                continue
            if entry == DEPENDS:
                return BY_HAND
        else:
            entry = np.int64(0)
        # A word ended, or a character is a word of its own, or both.
        for part in range(2):
            if part == 0:
                if inside == 0:
                    continue
                word = _word(h)
                h = _SEED
                inside = np.uint64(0)
            else:
                if entry == 0:
                    continue
                word = _word(_SEED * _STEP + np.uint64(entry - ALONE))
            prefix = prefix * BASE + word
            n += 1
            ring[n & (RING - 1)] = prefix
            if n < shortest:
                continue
            # Every n-gram that is sought ends in one of the shortest length: one look decides for all lengths.
            if not _passes((prefix - ring[(n - shortest) & (RING - 1)] * powers[0]) & keep, bloom, shift):
                continue
            for k in range(lengths.size):
                length = lengths[k]
                if n >= length:
                    found = (prefix - ring[(n - length) & (RING - 1)] * powers[k]) & keep
                    if _is_sought(found, slots, slot_shift):
                        return CANDIDATE
        if i >= end and entry == 0:
            break
    state[_HASH], state[_INSIDE], state[_COUNT], state[_PREFIX] = h, inside, np.uint64(n), prefix
    return NOTHING


@compiled_within
def start_text(ring: Any, state: Any) -> None:
    """Forget what came before: a new text begins."""
    state[_HASH] = _SEED
    state[_INSIDE] = 0
    state[_COUNT] = 0
    state[_PREFIX] = 0
    ring[0] = 0


@compiled
def seek_texts(
    data: Any, begins: Any, ends: Any, letters: Any, points: Any,
    lengths: Any, powers: Any, keep: Any, bloom: Any, shift: Any, slots: Any, slot_shift: Any, found: Any,
) -> None:  # fmt: skip
    """What each text is: NOTHING, CANDIDATE, BY_HAND or INVALID."""
    ring, state = np.zeros(RING, np.uint64), np.zeros(4, np.uint64)
    for i in range(begins.size):
        start_text(ring, state)
        found[i] = seek_span(
            data, begins[i], ends[i], False, letters, points,
            lengths, powers, keep, bloom, shift, slots, slot_shift, ring, state,
        )  # fmt: skip
