"""Bytes to rolling hashes of n-grams of words, and the look for those that are sought."""

from __future__ import annotations

from typing import Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.scanning.eight_bytes import LOWER, SIZE, before_first, first_met, load, other_than_letters
from goldassay.scanning.words import ALONE, DEPENDS, DROPPED, MOST_IN_TAG, N_POINTS, UNSEEN_FIRST, UNSEEN_LAST

# What a text is found to be.
NOTHING, CANDIDATE, BY_HAND, INVALID = 0, 1, 2, 3
# Prefixes that are kept: n-grams are shorter.
RING = 64
_SEED = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
# Of the polynomial over words.
BASE = np.uint64(0x2545F4914F6CDD1D)
_NONE, _ONE, _U3, _U6, _U32, _U63 = (np.uint64(value) for value in (0, 1, 3, 6, 32, 63))
_EIGHT = np.uint64(SIZE)
# Rows of the state between two parts of a text: a word ends with its part.
_COUNT, _PREFIX, _UNTIL = 0, 1, 2
N_STATES = 3


@compiled_within
def _mixed(h: Any, chunk: Any) -> Any:
    """A hash and eight more bytes. Words that share a hash are told apart by the exact look."""
    h = (h ^ chunk) * _MIX
    return h ^ (h >> _U32)


@compiled_within
def _appended(h: Any, chunk: Any, fill: Any, c: Any) -> Any:
    """Hash, chunk and bytes in it, with one more character: eight of ASCII are one step, any other is one itself."""
    if c >= 128:
        return _mixed(_mixed(h, chunk), np.uint64(c)), _NONE, _NONE
    chunk |= np.uint64(c) << (fill << _U3)
    fill += _ONE
    if fill == _EIGHT:
        return _mixed(h, chunk), _NONE, _NONE
    return h, chunk, fill


@compiled
def hash_words(points: Any, starts: Any, found: Any) -> None:
    """Hash of each word of code points: word i is points[starts[i]:starts[i + 1]]."""
    for i in range(starts.size - 1):
        h, chunk, fill = _SEED, _NONE, _NONE
        for j in range(starts[i], starts[i + 1]):
            h, chunk, fill = _appended(h, chunk, fill, np.int64(points[j]))
        found[i] = _mixed(h, chunk)


@compiled
def hash_ngrams(words: Any, starts: Any, lengths: Any, keep: Any, found: Any) -> None:
    """Hashes of the n-grams that begin at starts[i] and have lengths[i] words; `keep` masks bits away."""
    for i in range(starts.size):
        s = np.uint64(0)
        for j in range(starts[i], starts[i] + lengths[i]):
            s = s * BASE + words[j]
        found[i] = s & keep


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


@compiled
def choose_anchors(
    words: Any, offsets: Any, reach: Any, size: int, keep: Any, anchors: Any, anchor_shift: Any
) -> None:  # fmt: skip
    """Choose runs of a few words such that every n-gram has one of them: what has none of them has no n-gram.

    Each n-gram has `reach` more runs than one; a run is chosen where none of those is that was chosen before.

    Args:
        words: Hashes of the words of all sequences.
        offsets: Where each sequence begins, one more at the end, (M + 1,).
        reach: Words of an n-gram of each sequence less those of a run, (M,).
        size: Words of a run.
        keep: Masks bits of hashes away.
        anchors: Filled: a table with open addressing, as of `fill_table`.
        anchor_shift: Of its places.
    """
    last = np.int64(anchors.size - 1)
    for text in range(offsets.size - 1):
        since: Any = 0
        for begin in range(offsets[text], offsets[text + 1] - size + 1):
            h = np.uint64(0)
            for j in range(begin, begin + size):
                h = h * BASE + words[j]
            h &= keep
            since += 1
            if _is_sought(h, anchors, anchor_shift):
                since = 0
            elif since > reach[text]:
                at = np.int64((h * _SPREAD) >> anchor_shift)
                while anchors[at] != 0:
                    at = (at + 1) & last
                anchors[at] = h
                since = 0


@compiled
def fill_filter(anchors: Any, bloom: Any, shift: Any) -> None:
    """Put a table's hashes into the blocked Bloom filter: two bits in one word of it. 0 is in every table."""
    for i in range(anchors.size):
        h = anchors[i]
        bits = (np.uint64(1) << (h & _U63)) | (np.uint64(1) << ((h >> _U6) & _U63))
        bloom[(h * _SPREAD) >> shift] |= bits


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
    spaced = worded = has_value = follows_equals = False
    while j < end:
        d = data[j]
        if d == 62:
            return j + 1 if has_value or not worded else -1
        if d == 60 or d >= 128:
            return -1
        if escaped and d == 92 and j + 1 < end:
            j += 1
            d = data[j]
            if d == 117:
                return -2
            if d == 110 or d == 114 or d == 116:
                d = 32
            elif d == 98 or d == 102:
                d = 8
        if d == 32 or d == 9 or d == 10 or d == 13:
            spaced = True
        else:
            worded |= spaced and d != 47
            has_value |= follows_equals and (d == 34 or d == 39)
        follows_equals = d == 61
        n += 1
        if n > MOST_IN_TAG:
            return -1
        j += 1
    return -1


@compiled_within
def _ends_sought(
    prefix: Any, n: Any, lengths: Any, powers: Any, keep: Any, slots: Any, slot_shift: Any, ring: Any
) -> bool:
    """Whether the hash of an n-gram that is sought ends at the n-th word."""
    for k in range(1, lengths.size):
        length = lengths[k]
        if n >= length:
            found = (prefix - ring[(n - length) & (RING - 1)] * powers[k]) & keep
            if _is_sought(found, slots, slot_shift):
                return True
    return False


@compiled_within
def seek_span(
    data: Any, begin: int, end: int, escaped: bool, letters: Any, points: Any,
    lengths: Any, powers: Any, keep: Any, bloom: Any, shift: Any, anchors: Any, anchor_shift: Any,
    slots: Any, slot_shift: Any, ring: Any, state: Any,
) -> int:  # fmt: skip
    """Look for n-grams in one part of a text, UTF-8 with or without JSON's escapes, and continue in the next."""
    h, chunk, fill, inside = _SEED, _NONE, _NONE, False
    n, prefix, until = np.int64(state[_COUNT]), state[_PREFIX], np.int64(state[_UNTIL])
    size_of_anchor, power, reach = lengths[0], powers[0], lengths[lengths.size - 1] - lengths[0]
    i = np.int64(begin)
    last = np.int64(end) - SIZE
    while True:
        entry, c = np.int64(0), np.int64(-1)
        if fill == 0 and i <= last:
            # Most words are of ASCII: up to eight of their letters at once.
            eight = load(data, i)
            others = other_than_letters(eight)
            if others == 0:
                h = _mixed(h, eight | LOWER)
                inside = True
                i += SIZE
                continue
            size = first_met(others)
            chunk = (eight | LOWER) & before_first(others)
            inside |= size > 0
            i += size + 1
            c = np.int64((eight >> np.uint64(size << 3)) & np.uint64(0xFF))
            if c < 128 and c != 92 and c != 60 and c != 38:
                c = np.int64(-1)
            else:
                fill = np.uint64(size)
        elif i < end:
            c = np.int64(data[i])
            i += 1
            plain = np.int64(letters[c])
            if plain != 0:
                h, chunk, fill = _appended(h, chunk, fill, plain)
                inside = True
                continue
        if c >= 0:
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
                h, chunk, fill = _appended(h, chunk, fill, entry)
                inside = True
                continue
            if entry == DROPPED:
                continue
            if entry == DEPENDS:
                return BY_HAND
        # A word ended, or a character is a word of its own, or both.
        while inside or entry != 0:
            if inside:
                word = _mixed(h, chunk)
                h, chunk, fill, inside = _SEED, _NONE, _NONE, False
            else:
                word = _mixed(_mixed(_mixed(_SEED, _NONE), np.uint64(entry - ALONE)), _NONE)
                entry = np.int64(0)
            prefix = prefix * BASE + word
            n += 1
            ring[n & (RING - 1)] = prefix
            if n < size_of_anchor:
                continue
            # Every n-gram that is sought has an anchor: only then, and as far as one may reach, is it looked for.
            run = (prefix - ring[(n - size_of_anchor) & (RING - 1)] * power) & keep
            if _passes(run, bloom, shift) and _is_sought(run, anchors, anchor_shift):
                until = n + reach
            if n <= until and _ends_sought(prefix, n, lengths, powers, keep, slots, slot_shift, ring):
                return CANDIDATE
        if i >= end:
            break
    state[_COUNT], state[_PREFIX], state[_UNTIL] = np.uint64(n), prefix, np.uint64(until)
    return NOTHING


@compiled_within
def start_text(ring: Any, state: Any) -> None:
    """Forget what came before: a new text begins."""
    state[:] = 0
    ring[0] = 0


@compiled
def seek_texts(
    data: Any, begins: Any, ends: Any, letters: Any, points: Any,
    lengths: Any, powers: Any, keep: Any, bloom: Any, shift: Any, anchors: Any, anchor_shift: Any,
    slots: Any, slot_shift: Any, found: Any,
) -> None:  # fmt: skip
    """What each text is: NOTHING, CANDIDATE, BY_HAND or INVALID."""
    ring, state = np.zeros(RING, np.uint64), np.zeros(N_STATES, np.uint64)
    for i in range(begins.size):
        start_text(ring, state)
        found[i] = seek_span(
            data, begins[i], ends[i], False, letters, points,
            lengths, powers, keep, bloom, shift, anchors, anchor_shift, slots, slot_shift, ring, state,
        )  # fmt: skip
