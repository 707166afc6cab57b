"""Compiled loops that count gapped patterns, one first token at a time.

No hash table: the occurrences of each frequent token are gathered, and whatever follows them is counted in dense
arrays, one record for each distance and next token. A record holds the last sentence counted (a pattern counts
once a sentence) and a count for each label. `follows` marks, for each position, the distances at which it starts a
frequent pair; only these can continue a longer pattern, since no pattern is more frequent than its parts.

Words used here: D is max_gap + 1, a distance d in 1..D is gap + 1, F is the number of frequent tokens, K of labels.
`sentence_label` is the sentence's number shifted left by `label_bits`, plus the label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NEW = -1
_FREQUENT = -2


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
def gather(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    labels: NDArray[np.int64],
    label_bits: int,
    rank: NDArray[np.int32],
    starts: NDArray[np.int64],
    tokens: NDArray[np.int32],
    sentence_label: NDArray[Any],
    positions: NDArray[Any],
) -> None:
    """Fill `tokens` (frequent rank, else -1), `sentence_label` and the `positions` of each frequent token.

    Args:
        ids: Token numbers of all sentences.
        offsets: Where each sentence starts (N+1,).
        labels: Label of each sentence (N,).
        label_bits: Bits that a label takes.
        rank: Frequent rank of each token number, -1 where it is rare.
        starts: Where each frequent token's positions start (F+1,).
        tokens: Output, as long as `ids`.
        sentence_label: Output, as long as `ids`.
        positions: Output, one for each occurrence of a frequent token.
    """
    filled = starts[:-1].copy()
    for s in range(offsets.size - 1):
        mark = (s << label_bits) | labels[s]
        for p in range(offsets[s], offsets[s + 1]):
            token = rank[ids[p]]
            tokens[p] = token
            sentence_label[p] = mark
            if token >= 0:
                positions[filled[token]] = p
                filled[token] += 1


@compiled
def _with_room(table: NDArray[Any], rows: int) -> NDArray[Any]:
    """The same table if it has that many rows, else a copy with room for twice as many."""
    if rows <= table.shape[0]:
        return table
    larger = np.empty((2 * rows, table.shape[1]), table.dtype)
    larger[: table.shape[0]] = table
    return larger


@compiled
def count_pairs(
    begin: int,
    end: int,
    positions: NDArray[Any],
    starts: NDArray[np.int64],
    tokens: NDArray[np.int32],
    sentence_label: NDArray[Any],
    label_bits: int,
    n_labels: int,
    n_distances: int,
    min_count: int,
    single_counts: NDArray[np.int32],
    follows: NDArray[np.uint8],
) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.int32]]:
    """Count the single tokens `begin` to `end` and the pairs that start with one of them.

    `single_counts` (F,K) and `follows` are filled for these tokens.

    Returns:
        The frequent pairs: tokens (V,2), gaps (V,1), counts (V,K).
    """
    n_frequent = starts.size - 1
    stride = n_labels + 1
    label_mask = (1 << label_bits) - 1
    records = np.zeros(n_distances * n_frequent * stride, sentence_label.dtype)
    records[::stride] = _NEW
    touched = np.empty(n_distances * n_frequent, np.int64)
    out_tokens = np.empty((256, 2), np.int32)
    out_gaps = np.empty((256, 1), np.int8)
    out_counts = np.empty((256, n_labels), np.int32)
    n_out = 0
    for a in range(begin, end):
        n_touched = 0
        last = sentence_label[positions[starts[a]]] - 1
        for i in range(starts[a], starts[a + 1]):
            p = positions[i]
            here = sentence_label[p]
            label = here & label_mask
            if here != last:
                last = here
                single_counts[a, label] += 1
            for d in range(1, n_distances + 1):
                q = p + d
                if q >= tokens.size or sentence_label[q] != here:
                    break
                c = tokens[q]
                if c < 0:
                    continue
                record = ((d - 1) * n_frequent + c) * stride
                if records[record] != here:
                    if records[record] == _NEW:
                        touched[n_touched] = record
                        n_touched += 1
                    records[record] = here
                    records[record + 1 + label] += 1
        n_before = n_out
        for i in range(n_touched):
            record = touched[i]
            total = 0
            for k in range(n_labels):
                total += records[record + 1 + k]
            if total >= min_count:
                out_tokens = _with_room(out_tokens, n_out + 1)
                out_gaps = _with_room(out_gaps, n_out + 1)
                out_counts = _with_room(out_counts, n_out + 1)
                out_tokens[n_out, 0] = a
                out_tokens[n_out, 1] = (record // stride) % n_frequent
                out_gaps[n_out, 0] = (record // stride) // n_frequent
                for k in range(n_labels):
                    out_counts[n_out, k] = records[record + 1 + k]
                n_out += 1
                records[record] = _FREQUENT
        if n_out > n_before:
            for i in range(starts[a], starts[a + 1]):
                p = positions[i]
                here = sentence_label[p]
                bits = 0
                for d in range(1, n_distances + 1):
                    q = p + d
                    if q >= tokens.size or sentence_label[q] != here:
                        break
                    if tokens[q] >= 0 and records[((d - 1) * n_frequent + tokens[q]) * stride] == _FREQUENT:
                        bits |= 1 << (d - 1)
                follows[p] = bits
        for i in range(n_touched):
            records[touched[i]] = _NEW
            records[touched[i] + 1 : touched[i] + stride] = 0
    return out_tokens[:n_out], out_gaps[:n_out], out_counts[:n_out]


@compiled
def _may_follow(follows: NDArray[np.uint8], q: int, d: int, n_distances: int) -> int:
    """Distances (as bits) at which a pattern that ends at q, a distance d after its last but one, may go on.

    The last token must start a frequent pair there, and so must the last but one, where its reach is that far.
    """
    in_reach = (1 << (n_distances - d)) - 1
    return follows[q] & ((follows[q - d] >> d) | ~in_reach)


@compiled
def count_longer(
    begin: int,
    end: int,
    positions: NDArray[Any],
    starts: NDArray[np.int64],
    tokens: NDArray[np.int32],
    sentence_label: NDArray[Any],
    label_bits: int,
    n_labels: int,
    n_distances: int,
    max_tokens: int,
    min_count: int,
    follows: NDArray[np.uint8],
) -> tuple[NDArray[np.int32], NDArray[np.int8], NDArray[np.int32]]:
    """Count the patterns of 3 to `max_tokens` tokens that start with one of the tokens `begin` to `end`.

    Depth first: a frequent pattern's occurrences (the positions of its last token) are set aside and extended
    before its sibling's, so that memory holds one path of the tree and not a level.

    Returns:
        The frequent ones: tokens (V,max_tokens), -1 where there is none; gaps (V,max_tokens-1), -1 where there is
        none; counts (V,K).
    """
    n_frequent = starts.size - 1
    stride = n_labels + 1
    label_mask = (1 << label_bits) - 1
    records = np.zeros(n_distances * n_frequent * stride, sentence_label.dtype)
    records[::stride] = _NEW
    touched = np.empty(n_distances * n_frequent, np.int64)
    slot = np.full(n_distances * n_frequent, -1, np.int64)
    out_tokens = np.empty((1024, max_tokens), np.int32)
    out_gaps = np.empty((1024, max_tokens - 1), np.int8)
    out_counts = np.empty((1024, n_labels), np.int32)
    n_out = 0
    # Nodes of the tree that wait: length of the pattern, its last distance and token, its occurrences in `arena`.
    nodes = np.empty((1024, 5), np.int64)
    arena = np.empty((4096, 1), positions.dtype)
    path_tokens = np.full(max_tokens, -1, np.int32)
    path_gaps = np.full(max_tokens - 1, -1, np.int8)
    for a in range(begin, end):
        path_tokens[0] = a
        n_nodes = 0
        # The frequent pairs of this token become the first nodes.
        n_children = 0
        for i in range(starts[a], starts[a + 1]):
            p = positions[i]
            bits = follows[p]
            d = 1
            while bits:
                if bits & 1:
                    cell = (d - 1) * n_frequent + tokens[p + d]
                    if slot[cell] < 0:
                        slot[cell] = n_children
                        nodes = _with_room(nodes, n_children + 1)
                        nodes[n_children, 0] = 2
                        nodes[n_children, 1] = d
                        nodes[n_children, 2] = tokens[p + d]
                        nodes[n_children, 4] = 0
                        n_children += 1
                    nodes[slot[cell], 4] += 1
                bits >>= 1
                d += 1
        if n_children == 0:
            continue
        top = 0
        for j in range(n_children):
            nodes[j, 3] = top
            top += nodes[j, 4]
            nodes[j, 4] = nodes[j, 3]
        arena = _with_room(arena, top)
        for i in range(starts[a], starts[a + 1]):
            p = positions[i]
            bits = follows[p]
            d = 1
            while bits:
                if bits & 1:
                    j = slot[(d - 1) * n_frequent + tokens[p + d]]
                    arena[nodes[j, 4], 0] = p + d
                    nodes[j, 4] += 1
                bits >>= 1
                d += 1
        for j in range(n_children):
            slot[(nodes[j, 1] - 1) * n_frequent + nodes[j, 2]] = -1
        n_nodes = n_children
        while n_nodes > 0:
            n_nodes -= 1
            length = nodes[n_nodes, 0]
            reach = nodes[n_nodes, 1]
            path_tokens[length - 1] = nodes[n_nodes, 2]
            path_gaps[length - 2] = reach - 1
            first = nodes[n_nodes, 3]
            past = nodes[n_nodes, 4]
            if past - first < min_count:
                continue
            n_touched = 0
            for i in range(first, past):
                q = arena[i, 0]
                bits = _may_follow(follows, q, reach, n_distances)
                here = sentence_label[q]
                label = here & label_mask
                d = 1
                while bits:
                    if bits & 1:
                        record = ((d - 1) * n_frequent + tokens[q + d]) * stride
                        if records[record] != here:
                            if records[record] == _NEW:
                                touched[n_touched] = record
                                n_touched += 1
                            records[record] = here
                            records[record + 1 + label] += 1
                    bits >>= 1
                    d += 1
            n_children = 0
            for i in range(n_touched):
                record = touched[i]
                total = 0
                for k in range(n_labels):
                    total += records[record + 1 + k]
                if total >= min_count:
                    cell = record // stride
                    out_tokens = _with_room(out_tokens, n_out + 1)
                    out_gaps = _with_room(out_gaps, n_out + 1)
                    out_counts = _with_room(out_counts, n_out + 1)
                    out_tokens[n_out] = path_tokens
                    out_gaps[n_out] = path_gaps
                    out_tokens[n_out, length] = cell % n_frequent
                    out_gaps[n_out, length - 1] = cell // n_frequent
                    out_tokens[n_out, length + 1 :] = -1
                    out_gaps[n_out, length:] = -1
                    for k in range(n_labels):
                        out_counts[n_out, k] = records[record + 1 + k]
                    n_out += 1
                    if length + 1 < max_tokens:
                        nodes = _with_room(nodes, n_nodes + n_children + 1)
                        node = n_nodes + n_children
                        nodes[node, 0] = length + 1
                        nodes[node, 1] = cell // n_frequent + 1
                        nodes[node, 2] = cell % n_frequent
                        nodes[node, 4] = 0
                        slot[cell] = node
                        n_children += 1
                records[record] = _NEW
                records[record + 1 : record + stride] = 0
            if n_children == 0:
                continue
            for i in range(first, past):
                q = arena[i, 0]
                bits = _may_follow(follows, q, reach, n_distances)
                d = 1
                while bits:
                    if bits & 1:
                        node = slot[(d - 1) * n_frequent + tokens[q + d]]
                        if node >= 0:
                            nodes[node, 4] += 1
                    bits >>= 1
                    d += 1
            top = past
            for node in range(n_nodes, n_nodes + n_children):
                nodes[node, 3] = top
                top += nodes[node, 4]
                nodes[node, 4] = nodes[node, 3]
            arena = _with_room(arena, top)
            for i in range(first, past):
                q = arena[i, 0]
                bits = _may_follow(follows, q, reach, n_distances)
                d = 1
                while bits:
                    if bits & 1:
                        node = slot[(d - 1) * n_frequent + tokens[q + d]]
                        if node >= 0:
                            arena[nodes[node, 4], 0] = q + d
                            nodes[node, 4] += 1
                    bits >>= 1
                    d += 1
            for node in range(n_nodes, n_nodes + n_children):
                slot[(nodes[node, 1] - 1) * n_frequent + nodes[node, 2]] = -1
            n_nodes += n_children
    return out_tokens[:n_out], out_gaps[:n_out], out_counts[:n_out]
