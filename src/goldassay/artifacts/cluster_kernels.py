"""Compiled loops that sum, pattern by pattern, the squares of what clusters of sentences hold.

Patterns are looked for as they are mined: the occurrences of a pattern's first token are gathered, and those of each
longer pattern from those of its beginning. A pattern's occurrences thus come one after the other, cluster by cluster,
and its sums are made once; to walk through the sentences would touch other patterns with each match, and so mostly
wait for memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.artifacts.mining_kernels import with_room
from goldassay.core.compiled import compiled, compiled_within

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def place_tokens(
    tokens: NDArray[np.int32], offsets: NDArray[np.int64], n_tokens: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Where each token occurs.

    Args:
        tokens: Token numbers of all sentences, -1 for one that is not looked for.
        offsets: Where each sentence starts (N+1,).
        n_tokens: F.

    Returns:
        Where each token's occurrences start among all (F+1,), and of these, ascending, position and sentence (P,2).
    """
    starts = np.zeros(n_tokens + 1, np.int64)
    for token in tokens:
        if token >= 0:
            starts[token + 1] += 1
    for token in range(n_tokens):
        starts[token + 1] += starts[token]
    goals = starts[:-1].copy()
    places = np.empty((starts[n_tokens], 2), np.int32)
    for s in range(offsets.size - 1):
        for p in range(offsets[s], offsets[s + 1]):
            token = tokens[p]
            if token >= 0:
                places[goals[token], 0] = p
                places[goals[token], 1] = s
                goals[token] += 1
    return starts, places


@compiled_within
def _add_occurrences(
    occurrences: NDArray[np.int32],
    first: int,
    past: int,
    labels: NDArray[np.int64],
    clusters: NDArray[np.int64],
    held: NDArray[np.int64],
    row: int,
    sums: Any,
) -> None:
    """Add the sums over clusters of a pattern's occurrences from `first` to `past`; `held` is all 0, and is again."""
    inside, sizes, squares, products = sums
    n = 0
    sentence = cluster = -1
    for i in range(first, past + 1):
        s = occurrences[i, 1] if i < past else -1
        if s == sentence:
            continue
        sentence = s
        if i == past or clusters[s] != cluster:
            sizes[row] += n * n
            for label in range(held.size):
                inside[row, label] += held[label]
                squares[row, label] += held[label] * held[label]
                products[row, label] += held[label] * n
                held[label] = 0
            n = 0
            if i == past:
                break
            cluster = clusters[s]
        held[labels[s]] += 1
        n += 1


@compiled
def add_squares(
    begin: int,
    end: int,
    tokens: NDArray[np.int32],
    offsets: NDArray[np.int64],
    labels: NDArray[np.int64],
    clusters: NDArray[np.int64],
    starts: NDArray[np.int64],
    places: NDArray[np.int32],
    n_distances: int,
    tree: Any,
    sums: Any,
) -> None:
    """Add what the patterns that begin with the tokens `begin` to `end` have in sentences that come by cluster.

    Of each pattern n_g sentences of cluster g hold it, n_gl of them with label l.

    Args:
        begin: First token.
        end: The one after the last.
        tokens: The patterns' number of each token of all sentences, -1 for one that no pattern has.
        offsets: Where each sentence starts (N+1,).
        labels: Of each sentence.
        clusters: Of each sentence, ascending.
        starts: Of `place_tokens`.
        places: Of `place_tokens`.
        n_distances: Largest gap + 1.
        tree: Of `PatternTree`: roots, keys, child_starts, row_starts and rows.
        sums: To add to, of each pattern: sum of n_gl, (V, K); of n_g^2, (V,); of n_gl^2, (V, K); of n_gl n_g, (V, K).
    """
    roots, keys, child_starts, row_starts, rows = tree
    n_tokens = roots.size
    held = np.zeros(sums[0].shape[1], np.int64)
    # Which child of the node a token at a distance leads to, -1 for none; and where a child's next occurrence goes.
    child_of = np.full(n_distances * n_tokens, -1, np.int32)
    goals = np.empty(1, np.int64)
    # Nodes that wait, and their occurrences from and to in the arena: position of the last token, and sentence.
    nodes = np.empty((1024, 3), np.int64)
    arena = np.empty((4096, 2), np.int32)
    for token in range(begin, end):
        n_found = starts[token + 1] - starts[token]
        if roots[token] < 0 or n_found == 0:
            continue
        arena = with_room(arena, n_found)
        for i in range(n_found):
            arena[i, 0] = places[starts[token] + i, 0]
            arena[i, 1] = places[starts[token] + i, 1]
        nodes[0, 0] = roots[token]
        nodes[0, 1] = 0
        nodes[0, 2] = n_found
        n_nodes = 1
        while n_nodes > 0:
            n_nodes -= 1
            node = nodes[n_nodes, 0]
            first = nodes[n_nodes, 1]
            past = nodes[n_nodes, 2]
            for i in range(row_starts[node], row_starts[node + 1]):
                _add_occurrences(arena, first, past, labels, clusters, held, rows[i], sums)
            begin_children = child_starts[node]
            n_children = child_starts[node + 1] - begin_children
            if n_children == 0:
                continue
            if goals.size < n_children:
                goals = np.empty(2 * n_children, np.int64)
            for child in range(n_children):
                child_of[keys[begin_children + child]] = child
                goals[child] = 0
            # How many occurrences each child has, then where they go, then the occurrences.
            for step in range(2):
                for i in range(first, past):
                    q = arena[i, 0]
                    s = arena[i, 1]
                    for d in range(1, min(n_distances, offsets[s + 1] - 1 - q) + 1):
                        if tokens[q + d] >= 0:
                            child = child_of[(d - 1) * n_tokens + tokens[q + d]]
                            if child >= 0:
                                if step:
                                    arena[goals[child], 0] = q + d
                                    arena[goals[child], 1] = s
                                goals[child] += 1
                if step == 0:
                    top = past
                    nodes = with_room(nodes, n_nodes + n_children)
                    for child in range(n_children):
                        n_found = goals[child]
                        goals[child] = top
                        if n_found > 0:
                            nodes[n_nodes, 0] = begin_children + child
                            nodes[n_nodes, 1] = top
                            nodes[n_nodes, 2] = top + n_found
                            n_nodes += 1
                            top += n_found
                    arena = with_room(arena, top)
            for child in range(n_children):
                child_of[keys[begin_children + child]] = -1
