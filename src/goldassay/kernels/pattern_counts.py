"""Compiled loops that count gapped patterns, one first token at a time.

No hash table: the occurrences of each frequent token are gathered, and whatever follows them is counted in dense
arrays, one record for each next token and distance. A record holds the last sentence counted (a pattern counts once
a sentence) and a count for each label. No pattern is more frequent than its parts; so what continues a pattern must,
with each of its last two tokens, form a frequent pair, and each position remembers at which distances it starts one.

Words used here: D is max_gap + 1; a distance d in 1..D is gap + 1; F is the number of frequent tokens, K of labels;
a cell, token D + d - 1, is a next token at a distance. `words` holds every token's frequent rank in its lower bits
(`RARE` where it has none), and above them `follows`, the distances (bit d-1) at which it starts a frequent pair;
each sentence ends with `END`. A mark is a sentence's number shifted left by `label_bits`, plus its label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOKEN_BITS = 24
TOKEN = (1 << TOKEN_BITS) - 1
RARE = TOKEN
END = TOKEN - 1

_NEW = -1
# Of a sentence's first tokens, as many as go into one number.
_KEY_TOKENS = 5
_KEY_BITS = 12


@compiled
def count_tokens(
    ids: NDArray[np.int32], offsets: NDArray[np.int64], n_tokens: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each token, in how many sentences it is and how often it occurs, both (n_tokens,)."""
    support = np.zeros(n_tokens, np.int64)
    occurrences = np.zeros(n_tokens, np.int64)
    last = np.full(n_tokens, -1, np.int64)
    for s in range(offsets.size - 1):
        for p in range(offsets[s], offsets[s + 1]):
            token = ids[p]
            occurrences[token] += 1
            if last[token] != s:
                last[token] = s
                support[token] += 1
    return support, occurrences


@compiled
def beginnings(ids: NDArray[np.int32], offsets: NDArray[np.int64], rank: NDArray[np.int32]) -> NDArray[np.int64]:
    """The frequent ranks of each sentence's first tokens as one number, (N,), such that like beginnings are close."""
    keys = np.empty(offsets.size - 1, np.int64)
    largest = (1 << _KEY_BITS) - 1
    for s in range(keys.size):
        key = 0
        for j in range(_KEY_TOKENS):
            p = offsets[s] + j
            key = (key << _KEY_BITS) | (min(rank[ids[p]] + 1, largest) if p < offsets[s + 1] else 0)
        keys[s] = key
    return keys


@compiled
def length_of(begin: int, end: int, order: NDArray[np.int64], offsets: NDArray[np.int64]) -> int:
    """How much room sentences `begin` to `end` of the order take in `words`."""
    length = 0
    for number in range(begin, end):
        length += offsets[order[number] + 1] - offsets[order[number]] + 1
    return length


@compiled
def write_words(
    begin: int,
    end: int,
    at: int,
    order: NDArray[np.int64],
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    rank: NDArray[np.int32],
    n_frequent: int,
    words: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Fill `words` from `at` on with sentences `begin` to `end` of the order.

    Args:
        begin: First sentence, by its place in `order`.
        end: The one after the last.
        at: Where they start in `words`.
        order: The sentences in the order in which they are numbered (N,).
        ids: Token numbers of all sentences.
        offsets: Where each sentence starts (N+1,).
        rank: Frequent rank of each token number, `RARE` where it has none.
        n_frequent: How many tokens have a rank.
        words: Output, as long as `ids` and one more for each sentence.

    Returns:
        How often each frequent token occurs in these sentences (F,).
    """
    counts = np.zeros(n_frequent, np.int64)
    for number in range(begin, end):
        s = order[number]
        for p in range(offsets[s], offsets[s + 1]):
            token = rank[ids[p]]
            words[at] = token
            at += 1
            if token != RARE:
                counts[token] += 1
        words[at] = END
        at += 1
    return counts


@compiled
def write_places(
    begin: int,
    end: int,
    at: int,
    goals: NDArray[np.int64],
    first: int,
    past: int,
    words: NDArray[np.int32],
    labels: NDArray[np.int32],
    label_bits: int,
    places: NDArray[Any],
) -> None:
    """Fill `places`, where the tokens `first` to `past` occur, for sentences `begin` to `end` of the order.

    Args:
        begin: First sentence, by its number.
        end: The one after the last.
        at: Where they start in `words`.
        goals: Where in `places` their occurrences of each of these tokens go (past-first,); moved on.
        first: First token.
        past: The one after the last.
        words: As filled by `write_words`.
        labels: Label of each sentence, by its number (N,).
        label_bits: Bits that a label takes.
        places: Output, by token and ascending; each a position in `words` and the mark of its sentence.
    """
    for number in range(begin, end):
        mark = (number << label_bits) | labels[number]
        while True:
            token = words[at] & TOKEN
            if token == END:
                break
            if first <= token < past:
                goal = goals[token - first]
                places[goal, 0] = at
                places[goal, 1] = mark
                goals[token - first] = goal + 1
            at += 1
        at += 1


@compiled_within
def with_room(table: NDArray[Any], rows: int) -> NDArray[Any]:
    """The same table if it has that many rows, else a copy with room for twice as many."""
    if rows <= table.shape[0]:
        return table
    larger = np.empty((2 * rows, table.shape[1]), table.dtype)
    # Loops, since assigning a slice to a slice takes numba seconds to compile.
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            larger[i, j] = table[i, j]
    return larger


@compiled
def count_pairs(
    begin: int,
    end: int,
    words: NDArray[np.int32],
    places: NDArray[Any],
    starts: NDArray[np.int64],
    label_bits: int,
    n_labels: int,
    n_distances: int,
    min_count: int,
    single_counts: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.int32], NDArray[np.int64]]:
    """Count the single tokens `begin` to `end` and the pairs that start with one of them.

    Fills `single_counts` (F,K) and what `words` says about follows, both for these tokens only.

    Returns:
        The frequent pairs, by first token: tokens (V,2), gaps (V,1), counts (V,K), and occurrences (V,1).
    """
    n_frequent = starts.size - 1
    stride = n_labels + 1
    label_mask = (1 << label_bits) - 1
    records = np.zeros(n_distances * n_frequent * stride, places.dtype)
    records[::stride] = _NEW
    touched = np.empty(n_distances * n_frequent, np.int64)
    out_tokens = np.empty((256, 2), np.int32)
    out_gaps = np.empty((256, 1), np.int8)
    out_counts = np.empty((256, n_labels), np.int32)
    out_sizes = np.empty((256, 1), np.int64)
    n_out = 0
    for a in range(begin, end):
        n_touched = 0
        last = -1
        for i in range(starts[a], starts[a + 1]):
            p = places[i, 0]
            here = places[i, 1]
            label = here & label_mask
            if here != last:
                last = here
                single_counts[a, label] += 1
            for d in range(n_distances):
                c = words[p + 1 + d] & TOKEN
                if c >= END:
                    if c == END:
                        break
                    continue
                record = (c * n_distances + d) * stride
                seen = records[record]
                if seen != here:
                    if seen == _NEW:
                        touched[n_touched] = record
                        n_touched += 1
                    records[record] = here
                    records[record + 1 + label] += 1
        n_before = n_out
        for i in range(n_touched):
            record = touched[i]
            total = 0
            for k in range(record + 1, record + stride):
                total += records[k]
            if total >= min_count:
                out_tokens = with_room(out_tokens, n_out + 1)
                out_gaps = with_room(out_gaps, n_out + 1)
                out_counts = with_room(out_counts, n_out + 1)
                out_sizes = with_room(out_sizes, n_out + 1)
                out_tokens[n_out, 0] = a
                out_tokens[n_out, 1] = (record // stride) // n_distances
                out_gaps[n_out, 0] = (record // stride) % n_distances
                for k in range(n_labels):
                    out_counts[n_out, k] = records[record + 1 + k]
                out_sizes[n_out, 0] = 0
                # From here to the end of this token: which pair it became, and below zero.
                records[record] = n_before - n_out - 2
                n_out += 1
        if n_out > n_before:
            for i in range(starts[a], starts[a + 1]):
                p = places[i, 0]
                bits = 0
                for d in range(n_distances):
                    c = words[p + 1 + d] & TOKEN
                    if c >= END:
                        if c == END:
                            break
                        continue
                    pair = records[(c * n_distances + d) * stride]
                    if pair < _NEW:
                        bits |= 1 << d
                        out_sizes[n_before - pair - 2, 0] += 1
                words[p] |= bits << TOKEN_BITS
        for i in range(n_touched):
            records[touched[i]] = _NEW
            for k in range(touched[i] + 1, touched[i] + stride):
                records[k] = 0
    return out_tokens[:n_out], out_gaps[:n_out], out_counts[:n_out], out_sizes[:n_out, 0]


@compiled_within
def may_follow(words: NDArray[np.int32], q: int, reach: int, n_distances: int) -> int:
    """Distances (as bits) at which a pattern may go on that ends at q, `reach` after its last token but one.

    The last token must start a frequent pair there, and so must the last but one, where D reaches that far.
    """
    near = (1 << (n_distances - reach)) - 1
    return (words[q] >> TOKEN_BITS) & ((words[q - reach] >> (TOKEN_BITS + reach)) | ~near)


@compiled
def count_longer(
    begin: int,
    end: int,
    words: NDArray[np.int32],
    places: NDArray[Any],
    starts: NDArray[np.int64],
    label_bits: int,
    n_labels: int,
    n_distances: int,
    min_count: int,
    max_tokens: int,
    pair_starts: NDArray[np.int64],
    pair_tokens: NDArray[np.int32],
    pair_gaps: NDArray[np.int8],
    pair_sizes: NDArray[np.int64],
) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.int32]]:
    """Count the patterns of 3 to `max_tokens` tokens that start with one of the tokens `begin` to `end`.

    Depth first: a frequent pattern's occurrences (where its last token is) are set aside and extended before its
    sibling's, so that memory holds one path of the tree and not a level.

    Returns:
        The frequent ones: tokens (V,max_tokens), -1 where there is none; gaps (V,max_tokens-1), -1 where there is
        none; counts (V,K).
    """
    n_frequent = starts.size - 1
    stride = n_labels + 1
    label_mask = (1 << label_bits) - 1
    records = np.zeros(n_distances * n_frequent * stride, places.dtype)
    records[::stride] = _NEW
    touched = np.empty(n_distances * n_frequent, np.int64)
    # Where the next occurrence of a cell's node goes in the arena; -1 where the cell has no node now.
    goal = np.full(n_distances * n_frequent, -1, np.int64)
    distance_of = np.zeros(64, np.int64)
    for d in range(6):
        distance_of[1 << d] = d
    out_tokens = np.empty((1024, max_tokens), np.int32)
    out_gaps = np.empty((1024, max_tokens - 1), np.int8)
    out_counts = np.empty((1024, n_labels), np.int32)
    n_out = 0
    # Nodes of the tree that wait: length of the pattern, its last cell, its occurrences from and to in the arena.
    nodes = np.empty((1024, 4), np.int64)
    arena = np.empty((4096, 2), places.dtype)
    path_tokens = np.full(max_tokens, -1, np.int32)
    path_gaps = np.full(max_tokens - 1, -1, np.int8)
    for a in range(begin, end):
        path_tokens[0] = a
        n_nodes = pair_starts[a + 1] - pair_starts[a]
        nodes = with_room(nodes, n_nodes)
        top = 0
        for j in range(n_nodes):
            pair = pair_starts[a] + j
            cell = pair_tokens[pair, 1] * n_distances + pair_gaps[pair, 0]
            nodes[j, 0] = 2
            nodes[j, 1] = cell
            nodes[j, 2] = top
            goal[cell] = top
            top += pair_sizes[pair]
            nodes[j, 3] = top
        arena = with_room(arena, top)
        if n_nodes > 0:
            for i in range(starts[a], starts[a + 1]):
                p = places[i, 0]
                bits = words[p] >> TOKEN_BITS
                while bits:
                    low = bits & -bits
                    bits ^= low
                    d = distance_of[low]
                    cell = (words[p + 1 + d] & TOKEN) * n_distances + d
                    arena[goal[cell], 0] = p + 1 + d
                    arena[goal[cell], 1] = places[i, 1]
                    goal[cell] += 1
            for j in range(n_nodes):
                goal[nodes[j, 1]] = -1
        while n_nodes > 0:
            n_nodes -= 1
            length = nodes[n_nodes, 0]
            reach = nodes[n_nodes, 1] % n_distances + 1
            path_tokens[length - 1] = nodes[n_nodes, 1] // n_distances
            path_gaps[length - 2] = reach - 1
            first = nodes[n_nodes, 2]
            past = nodes[n_nodes, 3]
            n_touched = 0
            for i in range(first, past):
                q = arena[i, 0]
                here = arena[i, 1]
                label = here & label_mask
                bits = may_follow(words, q, reach, n_distances)
                while bits:
                    low = bits & -bits
                    bits ^= low
                    d = distance_of[low]
                    record = ((words[q + 1 + d] & TOKEN) * n_distances + d) * stride
                    seen = records[record]
                    if seen != here:
                        if seen == _NEW:
                            touched[n_touched] = record
                            n_touched += 1
                        records[record] = here
                        records[record + 1 + label] += 1
            n_children = 0
            for i in range(n_touched):
                record = touched[i]
                total = 0
                for k in range(record + 1, record + stride):
                    total += records[k]
                if total >= min_count:
                    cell = record // stride
                    out_tokens = with_room(out_tokens, n_out + 1)
                    out_gaps = with_room(out_gaps, n_out + 1)
                    out_counts = with_room(out_counts, n_out + 1)
                    for k in range(length):
                        out_tokens[n_out, k] = path_tokens[k]
                    for k in range(length - 1):
                        out_gaps[n_out, k] = path_gaps[k]
                    out_tokens[n_out, length] = cell // n_distances
                    out_gaps[n_out, length - 1] = cell % n_distances
                    for k in range(length + 1, max_tokens):
                        out_tokens[n_out, k] = -1
                        out_gaps[n_out, k - 1] = -1
                    for k in range(n_labels):
                        out_counts[n_out, k] = records[record + 1 + k]
                    n_out += 1
                    if length + 1 < max_tokens:
                        nodes = with_room(nodes, n_nodes + n_children + 1)
                        nodes[n_nodes + n_children, 0] = length + 1
                        nodes[n_nodes + n_children, 1] = cell
                        goal[cell] = 0
                        n_children += 1
                records[record] = _NEW
                for k in range(record + 1, record + stride):
                    records[k] = 0
            if n_children == 0:
                continue
            # How many occurrences each child has, then where they go, then the occurrences.
            for step in range(2):
                for i in range(first, past):
                    q = arena[i, 0]
                    bits = may_follow(words, q, reach, n_distances)
                    while bits:
                        low = bits & -bits
                        bits ^= low
                        d = distance_of[low]
                        cell = (words[q + 1 + d] & TOKEN) * n_distances + d
                        if goal[cell] >= 0:
                            if step:
                                arena[goal[cell], 0] = q + 1 + d
                                arena[goal[cell], 1] = arena[i, 1]
                            goal[cell] += 1
                if step == 0:
                    top = past
                    for j in range(n_nodes, n_nodes + n_children):
                        nodes[j, 2] = top
                        top += goal[nodes[j, 1]]
                        nodes[j, 3] = top
                        goal[nodes[j, 1]] = nodes[j, 2]
                    arena = with_room(arena, top)
            for j in range(n_nodes, n_nodes + n_children):
                goal[nodes[j, 1]] = -1
            n_nodes += n_children
    return out_tokens[:n_out], out_gaps[:n_out], out_counts[:n_out]
