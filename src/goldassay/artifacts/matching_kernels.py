"""The compiled loop that finds a table's patterns in sentences, by walking the tree of their beginnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def find_patterns(
    begin: int,
    end: int,
    tokens: NDArray[np.int32],
    offsets: NDArray[np.int64],
    n_distances: int,
    n_tokens: int,
    n_rows: int,
    roots: NDArray[np.int32],
    keys: NDArray[np.int32],
    child_starts: NDArray[np.int32],
    row_starts: NDArray[np.int32],
    rows: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find which rows' patterns are in the sentences `begin` to `end`; each is named once a sentence.

    Args:
        begin: First sentence.
        end: Past the last sentence.
        tokens: The patterns' number of each token of all sentences, -1 for one that no pattern has.
        offsets: Where each sentence starts (N+1,).
        n_distances: Largest gap + 1.
        n_tokens: F, how many tokens the patterns have.
        n_rows: How many rows the table has.
        roots: Node of each token as a pattern's first, -1 where none starts so, (F,).
        keys: gap F + token of each node under its parent; ascending within a parent.
        child_starts: Where each node's children start in `keys`; they end where the next node's start.
        row_starts: Where each node's rows start in `rows`.
        rows: Rows of the table by node.

    Returns:
        Sentence and row of each match, sentences ascending.
    """
    found_sentences = np.empty(1024, np.int64)
    found_rows = np.empty(1024, np.int64)
    n_found = 0
    last = np.full(n_rows, -1, np.int64)
    nodes = np.empty(6 * (n_distances + 1), np.int64)
    places = np.empty(6 * (n_distances + 1), np.int64)
    for s in range(begin, end):
        for p in range(offsets[s], offsets[s + 1]):
            if tokens[p] < 0 or roots[tokens[p]] < 0:
                continue
            nodes[0] = roots[tokens[p]]
            places[0] = p
            height = 1
            while height > 0:
                height -= 1
                node = nodes[height]
                q = places[height]
                for i in range(row_starts[node], row_starts[node + 1]):
                    row = rows[i]
                    if last[row] != s:
                        last[row] = s
                        if n_found == found_rows.size:
                            found_rows = np.concatenate((found_rows, np.empty_like(found_rows)))
                            found_sentences = np.concatenate((found_sentences, np.empty_like(found_sentences)))
                        found_sentences[n_found] = s
                        found_rows[n_found] = row
                        n_found += 1
                first = child_starts[node]
                past = child_starts[node + 1]
                if first == past:
                    continue
                for d in range(1, min(n_distances, offsets[s + 1] - 1 - q) + 1):
                    if tokens[q + d] < 0:
                        continue
                    key = (d - 1) * n_tokens + tokens[q + d]
                    low = first
                    high = past
                    while low < high:
                        middle = (low + high) >> 1
                        if keys[middle] < key:
                            low = middle + 1
                        else:
                            high = middle
                    if low < past and keys[low] == key:
                        nodes[height] = low
                        places[height] = q + d
                        height += 1
    return found_sentences[:n_found], found_rows[:n_found]
