"""Compiled loops that count patterns of a corpus on disk; `words` are those of `pattern_counts`, of one shard.

Two ways. Where the occurrences of a token fit in memory, they are gathered from all shards, each with the words within
reach behind it, and counted by the loops of `pattern_counts`. Where they do not, patterns that start with it are
counted over the shards in turn, one length at a time, in a hash table that holds as many as memory allows; what does
not fit is left to a later pass over the shards.

In the table a pattern is its prefix, which has one token less, and a cell, the last token and how far it stands from
the one before (`token 8 + gap`): as a key, the prefix's number shifted left by `CELL_BITS`, plus the cell. A single
token's number is its frequent rank; frequent longer patterns are numbered after these as they are found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.compiled import compiled
from goldassay.kernels.hashing import finalized
from goldassay.kernels.pattern_counts import END, RARE, TOKEN, TOKEN_BITS, may_follow

if TYPE_CHECKING:
    from numpy.typing import NDArray

GAP_BITS = 3
CELL_BITS = TOKEN_BITS + GAP_BITS
EMPTY = -1
_LONGEST = 5


@compiled
def scrambled(key: int) -> np.int64:
    """31 bits of a key in which all its bits have a part."""
    return np.int64(finalized(np.uint64(key)) >> np.uint64(33))


@compiled
def slot_of(keys: NDArray[np.int64], key: int) -> Any:
    """Where a key is in an open hash table, or where it would go; the table must not be full."""
    slot = (scrambled(key) * keys.size) >> 31
    while keys[slot] != EMPTY and keys[slot] != key:
        slot += 1
        if slot == keys.size:
            slot = 0
    return slot


@compiled
def enter(keys: NDArray[np.int64], values: NDArray[np.int32], new: NDArray[np.int64], first: int) -> None:
    """Enter keys into a table with room for them; the first gets the number `first`, the others those that follow."""
    for i in range(new.size):
        slot = slot_of(keys, new[i])
        keys[slot] = new[i]
        values[slot] = first + i


@compiled
def follow(words: NDArray[np.int32], n_distances: int, keys: NDArray[np.int64]) -> None:
    """Write above each word at which distances it starts one of the pairs in a table."""
    for p in range(words.size):
        a = words[p] & TOKEN
        if a >= END:
            continue
        bits = 0
        for d in range(n_distances):
            c = words[p + 1 + d] & TOKEN
            if c >= END:
                if c == END:
                    break
                continue
            key = (a << CELL_BITS) | (c << GAP_BITS) | d
            if keys[slot_of(keys, key)] == key:
                bits |= 1 << d
        words[p] = a | (bits << TOKEN_BITS)


@compiled
def count_shard(
    words: NDArray[np.int32],
    labels: NDArray[np.int32],
    begin: int,
    at: int,
    before: int,
    length: int,
    n_distances: int,
    first: int,
    past: int,
    modulus: int,
    residue: int,
    known_keys: NDArray[np.int64],
    known_numbers: NDArray[np.int32],
    keys: NDArray[np.int64],
    last: NDArray[np.int32],
    counts: NDArray[np.int32],
    n_used: int,
    room: int,
) -> tuple[int, int, int]:
    """Count the patterns of one length that start with the tokens `first` to `past`, until all is done or no room left.

    Sentences that were begun may be counted again: each pattern remembers the last sentence it was counted in.

    Args:
        words: One shard.
        labels: Of its sentences (N,).
        begin: The first sentence to count.
        at: Where it starts in `words`.
        before: How many sentences all shards before this one have.
        length: Tokens of a pattern, 2 or more.
        n_distances: D.
        first: First token counted.
        past: The one after the last.
        modulus: Of what is left of a range of one token, only keys with this remainder are counted.
        residue: The remainder.
        known_keys: Table of the frequent patterns of 2 to `length` - 1 tokens.
        known_numbers: Their numbers.
        keys: Table of those counted, `EMPTY` where there is none.
        last: The last sentence in which each was counted.
        counts: Their counts (.,K).
        n_used: How many are in the table.
        room: How many may be.

    Returns:
        The sentence to go on with, where it starts, and how many patterns are in the table.
    """
    distance_of = np.zeros(64, np.int64)
    for d in range(6):
        distance_of[1 << d] = d
    place = np.zeros(_LONGEST + 1, np.int64)
    number = np.zeros(_LONGEST + 1, np.int64)
    left = np.zeros(_LONGEST + 1, np.int64)
    within = (1 << n_distances) - 1
    for s in range(begin, labels.size):
        p = at
        while True:
            a = words[p] & TOKEN
            if a == END:
                break
            if a < first or a >= past:
                p += 1
                continue
            depth = 1
            place[1] = p
            number[1] = a
            # Of pairs nothing is known yet: any distance may do.
            left[1] = within if length == 2 else words[p] >> TOKEN_BITS
            while depth > 0:
                if left[depth] == 0:
                    depth -= 1
                    continue
                low = left[depth] & -left[depth]
                left[depth] ^= low
                d = distance_of[low]
                q = place[depth] + 1 + d
                c = words[q] & TOKEN
                if c >= END:
                    if c == END:
                        left[depth] = 0
                    continue
                key = (number[depth] << CELL_BITS) | (c << GAP_BITS) | d
                if depth + 1 < length:
                    slot = slot_of(known_keys, key)
                    if known_keys[slot] == key:
                        depth += 1
                        place[depth] = q
                        number[depth] = known_numbers[slot]
                        left[depth] = may_follow(words, q, d + 1, n_distances)
                    continue
                if modulus > 1 and scrambled(key) % modulus != residue:
                    continue
                slot = slot_of(keys, key)
                if keys[slot] == EMPTY:
                    if n_used == room:
                        return s, at, n_used
                    n_used += 1
                    keys[slot] = key
                    last[slot] = -1
                    for k in range(counts.shape[1]):
                        counts[slot, k] = 0
                if last[slot] != before + s:
                    last[slot] = before + s
                    counts[slot, labels[s]] += 1
            p += 1
        at = p + 1
    return labels.size, at, n_used


@compiled
def count_singles(
    words: NDArray[np.int32], labels: NDArray[np.int32], before: int, last: NDArray[np.int32], counts: NDArray[np.int32]
) -> None:
    """Count the single tokens of one shard.

    Args:
        words: The shard.
        labels: Of its sentences (N,).
        before: How many sentences all shards before this one have.
        last: The last sentence in which each was counted (F,).
        counts: Their counts (F,K).
    """
    s = 0
    for p in range(words.size):
        a = words[p] & TOKEN
        if a == END:
            s += 1
        elif a != RARE and last[a] != before + s:
            last[a] = before + s
            counts[a, labels[s]] += 1


@compiled
def survey_windows(
    words: NDArray[np.int32], reach: int, occurrences: NDArray[np.int64], spans: NDArray[np.int64]
) -> None:
    """Add up how often each token occurs, and how many words its windows have, the ends of sentences included (F,)."""
    p = 0
    while p < words.size:
        end = p
        while words[end] & TOKEN != END:
            end += 1
        for i in range(p, end):
            a = words[i] & TOKEN
            if a != RARE:
                occurrences[a] += 1
                spans[a] += min(i + reach, end) - i + 1
        p = end + 1


@compiled
def gather_windows(
    words: NDArray[np.int32],
    labels: NDArray[np.int32],
    label_bits: int,
    before: int,
    reach: int,
    first: int,
    past: int,
    at: int,
    goals: NDArray[np.int64],
    windows: NDArray[np.int32],
    places: NDArray[Any],
) -> int:
    """Copy the windows of the tokens `first` to `past`, and note where these tokens are.

    Args:
        words: The shard.
        labels: Of its sentences (N,).
        label_bits: Bits that a label takes.
        before: How many sentences all shards before this one have.
        reach: How far a window goes, unless the sentence ends before.
        first: First token.
        past: The one after the last.
        at: Where in `windows` to go on.
        goals: Where in `places` each of these tokens goes on; moved on.
        windows: Output; windows that overlap are written once.
        places: Output, by token and ascending; each a position in `windows` and the mark of its sentence.

    Returns:
        Where in `windows` the next shard goes on.
    """
    p = 0
    for s in range(labels.size):
        mark = ((before + s) << label_bits) | labels[s]
        copied = p
        ended = False
        while True:
            a = words[p] & TOKEN
            if a == END:
                break
            if first <= a < past:
                copied = max(copied, p)
                goal = goals[a - first]
                places[goal, 0] = at - (copied - p)
                places[goal, 1] = mark
                goals[a - first] = goal + 1
                while copied <= p + reach and not ended:
                    ended = words[copied] & TOKEN == END
                    windows[at] = words[copied]
                    at += 1
                    copied += 1
            p += 1
        p += 1
    return at


@compiled
def take_frequent(
    keys: NDArray[np.int64], counts: NDArray[np.int32], min_count: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The keys and counts of those in a table with a support of at least `min_count`."""
    n = 0
    for step in range(2):
        if step:
            found = np.empty(n, np.int64)
            found_counts = np.empty((n, counts.shape[1]), np.int32)
            n = 0
        for slot in range(keys.size):
            if keys[slot] != EMPTY:
                support = 0
                for k in range(counts.shape[1]):
                    support += counts[slot, k]
                if support >= min_count:
                    if step:
                        found[n] = keys[slot]
                        for k in range(counts.shape[1]):
                            found_counts[n, k] = counts[slot, k]
                    n += 1
    return found, found_counts


@compiled
def first_tokens_in(keys: NDArray[np.int64], first_of: NDArray[np.int32], n_tokens: int) -> NDArray[np.int64]:
    """How many patterns of a table start with each token (n_tokens,)."""
    n = np.zeros(n_tokens, np.int64)
    for slot in range(keys.size):
        if keys[slot] != EMPTY:
            n[first_of[keys[slot] >> CELL_BITS]] += 1
    return n


@compiled
def keep_only(
    keys: NDArray[np.int64],
    last: NDArray[np.int32],
    counts: NDArray[np.int32],
    first_of: NDArray[np.int32],
    past: int,
    modulus: int,
    residue: int,
) -> int:
    """Take out of a table what starts with `past` or a later token or has another remainder; says how many are left."""
    # An empty slot to begin at, so that no run of neighbors is cut in two.
    start = 0
    while keys[start] != EMPTY:
        start += 1
    n_left = 0
    for i in range(1, keys.size + 1):
        slot = (start + i) % keys.size
        key = keys[slot]
        if key == EMPTY:
            continue
        keys[slot] = EMPTY
        if first_of[key >> CELL_BITS] >= past or (modulus > 1 and scrambled(key) % modulus != residue):
            continue
        goal = slot_of(keys, key)
        keys[goal] = key
        last[goal] = last[slot]
        for k in range(counts.shape[1]):
            counts[goal, k] = counts[slot, k]
        n_left += 1
    return n_left
