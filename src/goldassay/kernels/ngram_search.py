"""Bytes to rolling hashes of n-grams of words, and the look for those that are sought."""

from __future__ import annotations

from typing import Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.kernels.hashing import FIRST, ONE, STEP, absorbed, hash_place
from goldassay.kernels.markup import begins_markup, markup_at, next_character
from goldassay.kernels.splitting import entry_of
from goldassay.kernels.words import (
    ALONE,
    DEPENDS,
    DROPPED,
    END,
    LOWER,
    SEVERAL,
    SIZE,
    before_first,
    first_met,
    load,
    other_than_letters,
)

# What a text is found to be.
NOTHING, CANDIDATE, BY_HAND, INVALID = 0, 1, 2, 3
# Prefixes that are kept: n-grams are shorter.
RING = 64
# Words of a text that is compared as a whole.
MOST_EQUAL = 7
# Of the polynomial over the hashes of words.
BASE = FIRST
_NONE, _U3, _U6, _U63 = (np.uint64(value) for value in (0, 3, 6, 63))
_EIGHT = np.uint64(SIZE)
# Rows of the state between two parts of a text: a word ends with its part.
_COUNT, _PREFIX, _UNTIL = 0, 1, 2
# Whether the text has another reading, see `readings_of`.
HAS_OTHER = 3
# Words before the text at hand; whether an n-gram ends in it that begins before it; and whether a text came before it
# that is read by hand, so that nobody knows.
_FIRST, _ACROSS, _UNSURE = 4, 5, 6
N_STATES = 7
# Longer texts that are read by hand are no part of an item that was cut into rows: reading each twice takes long.
_LONGEST_BY_HAND = 1 << 12


@compiled_within
def _appended(h: Any, chunk: Any, fill: Any, c: Any) -> Any:
    """Hash, chunk and bytes in it, with one more character: eight of ASCII are one step, any other is one itself.

    Words that share a hash are told apart by the exact look.
    """
    if c >= 128:
        return absorbed(absorbed(h, chunk), np.uint64(c)), _NONE, _NONE
    chunk |= np.uint64(c) << (fill << _U3)
    fill += ONE
    if fill == _EIGHT:
        return absorbed(h, chunk), _NONE, _NONE
    return h, chunk, fill


@compiled
def hash_words(points: Any, starts: Any, found: Any) -> None:
    """Hash of each word of code points: word i is points[starts[i]:starts[i + 1]]."""
    for i in range(starts.size - 1):
        h, chunk, fill = STEP, _NONE, _NONE
        for j in range(starts[i], starts[i + 1]):
            h, chunk, fill = _appended(h, chunk, fill, np.int64(points[j]))
        found[i] = absorbed(h, chunk)


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
    """Put hashes into an open table, see `hash_place`."""
    for i in range(hashes.size):
        slots[hash_place(hashes[i], slots, slot_shift)] = hashes[i]


@compiled_within
def _passes(h: Any, bloom: Any, shift: Any) -> bool:
    bits = (ONE << (h & _U63)) | (ONE << ((h >> _U6) & _U63))
    return bool(bloom[(h * STEP) >> shift] & bits == bits)


@compiled_within
def _is_sought(h: Any, slots: Any, slot_shift: Any) -> bool:
    # An n-gram whose hash is 0 has no slot of its own: it is taken for sought.
    return bool(slots[hash_place(h, slots, slot_shift)] == h)


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
        anchors: Filled: an open table.
        anchor_shift: Of its places.
    """
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
                anchors[hash_place(h, anchors, anchor_shift)] = h
                since = 0


@compiled
def fill_filter(anchors: Any, bloom: Any, shift: Any) -> None:
    """Put a table's hashes into the blocked Bloom filter: two bits in one word of it. 0 is in every table."""
    for i in range(anchors.size):
        h = anchors[i]
        bits = (ONE << (h & _U63)) | (ONE << ((h >> _U6) & _U63))
        bloom[(h * STEP) >> shift] |= bits


@compiled_within
def _shortest_sought(
    prefix: Any, n: Any, lengths: Any, powers: Any, keep: Any, slots: Any, slot_shift: Any, ring: Any
) -> Any:
    """Words of the shortest n-gram whose hash is sought and that ends at the n-th word; 0 where there is none."""
    for k in range(1, lengths.size):
        length = lengths[k]
        if n >= length:
            found = (prefix - ring[(n - length) & (RING - 1)] * powers[k]) & keep
            if _is_sought(found, slots, slot_shift):
                return length
    return np.int64(0)


@compiled_within
def seek_span(
    data: Any, begin: int, end: int, escaped: bool, apart: bool, letters: Any, points: Any,
    lengths: Any, powers: Any, keep: Any, bloom: Any, shift: Any, anchors: Any, anchor_shift: Any,
    slots: Any, slot_shift: Any, ring: Any, state: Any,
) -> int:  # fmt: skip
    """Look for n-grams in one part of a text, UTF-8 with or without JSON's escapes, and continue in the next.

    With `apart` as in the other reading of `readings_of`. What is found is no reason to stop: the next text needs the
    last words of this one.
    """
    h, chunk, fill, inside = STEP, _NONE, _NONE, False
    has_other = across = False
    status = NOTHING
    n, prefix, until = np.int64(state[_COUNT]), state[_PREFIX], np.int64(state[_UNTIL])
    first = np.int64(state[_FIRST])
    size_of_anchor, power, reach = lengths[0], powers[0], lengths[lengths.size - 1] - lengths[0]
    i = np.int64(begin)
    last = np.int64(end) - SIZE
    # Where the next of several characters lies that stand for one; 0 where there is none.
    several = np.int64(0)
    while True:
        entry, c = np.int64(0), np.int64(-1)
        if several > 0:
            entry = np.int64(points[several])
            several = several + 1 if points[several + 1] != END else np.int64(0)
            if 0 < entry < ALONE:
                h, chunk, fill = _appended(h, chunk, fill, entry)
                inside = True
                continue
        elif fill == 0 and i <= last:
            # Most words are of ASCII: up to eight of their letters at once.
            eight = load(data, i)
            others = other_than_letters(eight)
            if others == 0:
                h = absorbed(h, eight | LOWER)
                inside = True
                i += SIZE
                continue
            size = first_met(others)
            chunk = (eight | LOWER) & before_first(others)
            inside |= size > 0
            i += size + 1
            c = np.int64((eight >> np.uint64(size << 3)) & np.uint64(0xFF))
            if c < 128 and not begins_markup(c):
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
            if c >= 128 or (c == 92 and escaped):
                c, i = next_character(data, i - 1, end, escaped)
                if c < 0:
                    return INVALID
            if begins_markup(c):
                c, i, is_hyphen = markup_at(data, i, end, escaped, c)
                if is_hyphen:
                    has_other |= inside
                    if apart:
                        continue
            entry = entry_of(points, c)
            if 0 < entry < ALONE:
                h, chunk, fill = _appended(h, chunk, fill, entry)
                inside = True
                continue
            if entry == DROPPED:
                has_other |= inside
                if not apart:
                    continue
                entry = np.int64(0)
            if entry >= SEVERAL:
                several = entry - SEVERAL
                continue
            if entry == DEPENDS:
                return BY_HAND
        # A word ended, or a character is a word of its own, or both.
        while inside or entry != 0:
            if inside:
                word = absorbed(h, chunk)
                h, chunk, fill, inside = STEP, _NONE, _NONE, False
            else:
                word = absorbed(absorbed(absorbed(STEP, _NONE), np.uint64(entry - ALONE)), _NONE)
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
            if n <= until and status == NOTHING:
                length = _shortest_sought(prefix, n, lengths, powers, keep, slots, slot_shift, ring)
                if 0 < length <= n - first:
                    status = CANDIDATE
                across |= length > n - first
        if i >= end and several == 0:
            break
    state[_COUNT], state[_PREFIX], state[_UNTIL] = np.uint64(n), prefix, np.uint64(until)
    if has_other:
        state[HAS_OTHER] = ONE
    if across:
        state[_ACROSS] = ONE
    return status


@compiled_within
def start_text(ring: Any, state: Any) -> None:
    """Forget what came before: a new text begins."""
    state[:] = 0
    ring[0] = 0


@compiled_within
def keep_all(values: Any, place: Any) -> None:
    """Copy one array into another. Assigned as a slice, it takes numba three seconds to compile."""
    for at in range(values.size):
        place[at] = values[at]


@compiled_within
def next_text(state: Any) -> None:
    """A new text begins, whose first words may continue an n-gram of the one before it."""
    state[_FIRST], state[HAS_OTHER], state[_ACROSS] = state[_COUNT], 0, 0


@compiled_within
def end_text(ring: Any, state: Any, status: Any, size: Any, longest: Any, row: Any) -> None:
    """Note of a text how many words it has, and whether an n-gram may end in it that begins in one before it.

    Args:
        ring: Prefixes.
        state: Of the first reading.
        status: What the text is.
        size: Its bytes.
        longest: Words of the longest n-gram.
        row: Filled: words (1 where they are read by hand, -1 where nothing can run across the text), and whether an
            n-gram may end in it.
    """
    if status in (BY_HAND, INVALID):
        is_read = status == BY_HAND and size <= _LONGEST_BY_HAND
        row[0], row[1] = (1, 1) if is_read else (-1, 0)
        start_text(ring, state)
        if is_read:
            state[_UNSURE] = ONE
        return
    first = np.int64(state[_FIRST])
    row[0] = np.int64(state[_COUNT]) - first
    row[1] = np.int64(state[_ACROSS] != 0 or status == CANDIDATE or (state[_UNSURE] != 0 and first < longest - 1))


@compiled_within
def equals_sought(ring: Any, state: Any, keep: Any, slots: Any, slot_shift: Any) -> bool:
    """Whether all words of the text at hand are a sequence that is sought, and too short for an n-gram."""
    first = np.int64(state[_FIRST])
    size = np.int64(state[_COUNT]) - first
    if size < 1 or size > MOST_EQUAL:
        return False
    power = ONE
    for _ in range(size):
        power *= BASE
    return _is_sought((state[_PREFIX] - ring[first & (RING - 1)] * power) & keep, slots, slot_shift)


@compiled
def seek_texts(
    data: Any, begins: Any, ends: Any, letters: Any, points: Any,
    lengths: Any, powers: Any, keep: Any, bloom: Any, shift: Any, anchors: Any, anchor_shift: Any,
    slots: Any, slot_shift: Any, ring: Any, state: Any, found: Any, rows: Any,
) -> None:  # fmt: skip
    """What each text is: NOTHING, CANDIDATE, BY_HAND or INVALID.

    Text i lies from begins[i] to ends[i] in UTF-8, and what follows is as of `Tables`. `ring` (RING,) and `state`
    (N_STATES,) hold what came before the first text, zeros where nothing did; `rows` (D, 2) is filled by `end_text`.
    """
    spare, before = np.empty(RING, np.uint64), np.empty(N_STATES, np.uint64)
    longest = lengths[lengths.size - 1]
    for i in range(begins.size):
        next_text(state)
        found[i] = seek_span(
            data, begins[i], ends[i], False, False, letters, points,
            lengths, powers, keep, bloom, shift, anchors, anchor_shift, slots, slot_shift, ring, state,
        )  # fmt: skip
        end_text(ring, state, found[i], ends[i] - begins[i], longest, rows[i])
        if found[i] == NOTHING and equals_sought(ring, state, keep, slots, slot_shift):
            found[i] = CANDIDATE
        if found[i] == NOTHING and state[HAS_OTHER]:
            keep_all(ring, spare)
            keep_all(state, before)
            start_text(ring, state)
            found[i] = seek_span(
                data, begins[i], ends[i], False, True, letters, points,
                lengths, powers, keep, bloom, shift, anchors, anchor_shift, slots, slot_shift, ring, state,
            )  # fmt: skip
            if found[i] == NOTHING and equals_sought(ring, state, keep, slots, slot_shift):
                found[i] = CANDIDATE
            keep_all(spare, ring)
            keep_all(before, state)
