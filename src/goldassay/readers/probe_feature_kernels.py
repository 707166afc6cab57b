"""The compiled loops behind `probe_features`: hashed features of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.kernels.hashing import FNV_START, STEP, combined, fnv, stamped_place

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEM_LENGTH = 4

# Blocks of one text: words, word pairs, length. Blocks of two texts: new words, shared words, new stems, shared stems,
# crossed stems, counts.
BLOCKS_OF_TEXT = 3
BLOCKS_OF_PAIR = 6
N_COUNTS = 8
LONGEST_COUNT = 64

_BITS, _TWO = np.uint64(64), np.uint64(2)


@compiled
def hash_stems(characters: NDArray[np.uint32], words: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Hash of the first `STEM_LENGTH` characters of each word, (W,), given where words begin and end, (W, 2)."""
    found = np.empty(words.shape[0], np.uint64)
    for word in range(words.shape[0]):
        key = FNV_START
        for at in range(words[word, 0], min(words[word, 0] + STEM_LENGTH, words[word, 1])):
            key = fnv(key, characters[at])
        found[word] = combined(key, _TWO)
    return found


@compiled_within
def _put(
    key: np.uint64, start: int, bits: np.uint64, turn: int, keys: Any, turns: Any, found: NDArray[np.int32], n: int
) -> int:
    """Append the bucket of a key to those found, unless this turn has it."""
    bucket = np.int64(key >> (_BITS - bits))
    place = stamped_place(np.uint64(bucket) * STEP, bucket, keys, turns, turn)
    if turns[place] == turn:
        return n
    turns[place] = turn
    keys[place] = bucket
    found[n] = start + bucket
    return n + 1


@compiled_within
def _find_buckets(i: int, texts: Any, plan: Any, room: Any, found: NDArray[np.int32], sizes: NDArray[np.int32]) -> int:
    """Distinct buckets of row i, block after block; how many each block has goes to `sizes`."""
    ids, offsets, hashes, stems, stem_hashes = texts
    starts, bits, salts, caps = plan
    keys, turns, turn_of, one, new, shared, marks, stem_marks = room
    n_roles = offsets.shape[0]
    n = 0
    b = 0
    for role in range(n_roles):
        begin = offsets[role, i]
        end = offsets[role, i + 1]
        before = n
        turn_of[0] += 1
        for at in range(begin, end):
            n = _put(combined(hashes[ids[at]], salts[b]), starts[b], bits[b], turn_of[0], keys, turns, found, n)
        sizes[b] = n - before
        b += 1
        before = n
        turn_of[0] += 1
        for at in range(begin, end - 1):
            key = combined(combined(hashes[ids[at]], hashes[ids[at + 1]]), salts[b])
            n = _put(key, starts[b], bits[b], turn_of[0], keys, turns, found, n)
        sizes[b] = n - before
        b += 1
        found[n] = starts[b] + min(end - begin, 40)
        n += 1
        sizes[b] = 1
        b += 1
    counted = np.empty(N_COUNTS, np.int64)
    pair = 0
    for first in range(n_roles):
        for second in range(first + 1, n_roles):
            for level in range(2):
                mark_of = marks if level == 0 else stem_marks
                hash_of = hashes if level == 0 else stem_hashes
                # Of a word or stem: `mine` where the first text has it, `both` where the second has it, too, and
                # `other` where the second alone has it.
                turn_of[0] += 3
                mine, both, other = turn_of[0], turn_of[0] + 1, turn_of[0] + 2
                n_one = 0
                for at in range(offsets[first, i], offsets[first, i + 1]):
                    word = ids[at] if level == 0 else stems[ids[at]]
                    if mark_of[word] != mine:
                        mark_of[word] = mine
                        one[n_one] = word
                        n_one += 1
                n_new = 0
                n_shared = 0
                for at in range(offsets[second, i], offsets[second, i + 1]):
                    word = ids[at] if level == 0 else stems[ids[at]]
                    if mark_of[word] == mine:
                        mark_of[word] = both
                        shared[n_shared] = word
                        n_shared += 1
                    elif mark_of[word] < mine:
                        mark_of[word] = other
                        new[n_new] = word
                        n_new += 1
                turn_of[0] += 3
                before = n
                for x in range(n_new):
                    n = _put(combined(hash_of[new[x]], salts[b]), starts[b], bits[b], turn_of[0], keys, turns, found, n)
                sizes[b] = n - before
                b += 1
                before = n
                turn_of[0] += 1
                for x in range(n_shared):
                    n = _put(
                        combined(hash_of[shared[x]], salts[b]), starts[b], bits[b], turn_of[0], keys, turns, found, n
                    )
                sizes[b] = n - before
                b += 1
                n_two = n_new + n_shared
                counted[3 * level] = min(n_new, 12)
                counted[3 * level + 1] = 10 * n_shared // max(n_two, 1)
                counted[3 * level + 2] = min(max(n_one - n_two, -10), 25) + 10
                if level == 1:
                    before = n
                    turn_of[0] += 1
                    for x in range(min(n_one, caps[pair])):
                        key = combined(hash_of[one[x]], salts[b])
                        for y in range(min(n_new, caps[pair])):
                            crossed = combined(key, hash_of[new[y]])
                            n = _put(crossed, starts[b], bits[b], turn_of[0], keys, turns, found, n)
                    sizes[b] = n - before
                    b += 1
            turn_of[0] += 1
            n_known = _count_known_pairs(
                ids, hashes, offsets[first, i : i + 2], offsets[second, i : i + 2], turn_of[0], room
            )
            n_pairs = max(offsets[second, i + 1] - offsets[second, i] - 1, 0)
            counted[6] = min(n_pairs - n_known, 12)
            counted[7] = 10 * n_known // max(n_pairs, 1)
            for x in range(N_COUNTS):
                found[n] = starts[b] + LONGEST_COUNT * x + counted[x]
                n += 1
            sizes[b] = N_COUNTS
            b += 1
            pair += 1
    return n


@compiled_within
def _count_known_pairs(
    ids: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    turn: int,
    room: Any,
) -> int:
    """How many word pairs of the second text the first has, too."""
    keys, turns = room[0], room[1]
    n_known = 0
    for text in range(2):
        bounds = first if text == 0 else second
        for at in range(bounds[0], bounds[1] - 1):
            key = combined(hashes[ids[at]], hashes[ids[at + 1]])
            place = stamped_place(key, np.int64(key), keys, turns, turn)
            if text == 1:
                n_known += turns[place] == turn
            else:
                turns[place] = turn
                keys[place] = np.int64(key)
    return n_known


@compiled
def count_rows(begin: int, end: int, texts: Any, plan: Any, room: Any, most: int, counts: NDArray[np.int32]) -> None:
    """Add to `counts` in how many of the rows `begin` to `end` each bucket is.

    Args:
        begin: First row.
        end: Past the last row.
        texts: Word numbers, offsets (roles, N + 1), hashes of words, stem of each word, hashes of stems.
        plan: Of each block the first bucket, how many bits its buckets have, and a hash of its own; of each pair of
            texts how many stems of each are crossed.
        room: To work in: a set (keys, turns; a power of two long), turn (1,), words of a row (3 times), marks of words,
            marks of stems.
        most: Entries that a row has at most.
        counts: (buckets,).
    """
    found = np.empty(most, np.int32)
    sizes = np.empty(plan[0].size, np.int32)
    for i in range(begin, end):
        for x in range(_find_buckets(i, texts, plan, room, found, sizes)):
            counts[found[x]] += 1


@compiled
def fill_rows(
    begin: int,
    end: int,
    texts: Any,
    plan: Any,
    room: Any,
    most: int,
    column_of: NDArray[np.int32],
    sizes: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Columns of the rows `begin` to `end`, row after row and block after block.

    Args:
        begin: First row.
        end: Past the last row.
        texts: See `count_rows`.
        plan: See `count_rows`.
        room: See `count_rows`.
        most: See `count_rows`.
        column_of: Column of each bucket within its block, -1 for one that is not kept.
        sizes: To fill: how many columns each row has of each block, (rows, blocks).
    """
    found = np.empty(most, np.int32)
    columns = np.empty(64 * (end - begin) + most, np.int32)
    n = 0
    for i in range(begin, end):
        _find_buckets(i, texts, plan, room, found, sizes[i - begin])
        if columns.size - n < most:
            columns = np.concatenate((columns, np.empty(columns.size // 2 + most, np.int32)))
        x = 0
        for b in range(sizes.shape[1]):
            before = n
            for _ in range(sizes[i - begin, b]):
                column = column_of[found[x]]
                x += 1
                if column >= 0:
                    columns[n] = column
                    n += 1
            sizes[i - begin, b] = n - before
    return columns[:n].copy()
