"""The compiled loop that counts, sentence by sentence, which labels a table's patterns name at each threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Labels of a node and all below it: none, or more than one.
NO_LABEL, SEVERAL = -1, -2


@compiled
def highest_below(
    child_starts: NDArray[np.int32],
    row_starts: NDArray[np.int32],
    labels: NDArray[np.int32],
    levels: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Of each node of a tree and all below it, the only label (or `NO_LABEL`, `SEVERAL`) and the highest level.

    Args:
        child_starts: As in `PatternTree`; children have larger numbers than their parent.
        row_starts: As in `PatternTree`.
        labels: Of each row, in the tree's order of rows.
        levels: Of each row, in that order; 0 for rows that do not count.
    """
    n_nodes = row_starts.size - 1
    label = np.full(n_nodes, NO_LABEL, np.int32)
    level = np.zeros(n_nodes, np.int32)
    for back in range(n_nodes):
        node = n_nodes - 1 - back
        for i in range(row_starts[node], row_starts[node + 1]):
            if levels[i] > 0:
                level[node] = max(level[node], levels[i])
                label[node] = labels[i] if label[node] == NO_LABEL or label[node] == labels[i] else SEVERAL
        for child in range(child_starts[node], child_starts[node + 1]):
            if level[child] > 0:
                level[node] = max(level[node], level[child])
                label[node] = label[child] if label[node] == NO_LABEL or label[node] == label[child] else SEVERAL
    return label, level


@compiled
def count_coverage(
    begin: int,
    end: int,
    order: NDArray[np.int64],
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    codes: NDArray[np.integer[Any]],
    numbers: NDArray[np.int32],
    n_thresholds: int,
    n_labels: int,
    n_distances: int,
    roots: NDArray[np.int32],
    keys: NDArray[np.int32],
    child_starts: NDArray[np.int32],
    row_starts: NDArray[np.int32],
    labels: NDArray[np.int32],
    levels: NDArray[np.int32],
    label_below: NDArray[np.int32],
    level_below: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Count the sentences `begin` to `end` at each of T thresholds.

    Args:
        begin: First sentence, by its place in `order`.
        end: The one after the last.
        order: The sentences in the order in which they are searched, (N,).
        ids: Token numbers of all sentences.
        offsets: Where each sentence starts in `ids`, (N+1,).
        codes: Label of each sentence, (N,); those below 0 are left out.
        numbers: The tree's number of each token number, -1 where no pattern has it.
        n_thresholds: T.
        n_labels: K.
        n_distances: As in `PatternTree`, as what follows.
        roots: As there.
        keys: As there.
        child_starts: As there.
        row_starts: As there.
        labels: Of each row, in the tree's order of rows.
        levels: How many thresholds each row's share exceeds, in that order.
        label_below: As `highest_below` gives it.
        level_below: As `highest_below` gives it.

    Returns:
        covered (T,), decided (T,), easy (T,) and left_open (T,K) as in `CoverageCount`.
    """
    covered = np.zeros(n_thresholds, np.int64)
    decided = np.zeros(n_thresholds, np.int64)
    easy = np.zeros(n_thresholds, np.int64)
    left_open = np.zeros((n_thresholds, n_labels), np.int64)
    n_tokens = roots.size
    longest = 0
    for number in range(begin, end):
        longest = max(longest, offsets[order[number] + 1] - offsets[order[number]])
    tokens = np.empty(longest, np.int64)
    nodes = np.empty(6 * (n_distances + 1), np.int64)
    places = np.empty(6 * (n_distances + 1), np.int64)
    for number in range(begin, end):
        s = order[number]
        if codes[s] < 0:
            continue
        length = offsets[s + 1] - offsets[s]
        for p in range(length):
            tokens[p] = numbers[ids[offsets[s] + p]]
        # The label with the highest level, its level, and the highest level of any other label.
        first = NO_LABEL
        highest = 0
        second = 0
        for p in range(length):
            if second == n_thresholds:
                break
            if tokens[p] < 0 or roots[tokens[p]] < 0:
                continue
            nodes[0] = roots[tokens[p]]
            places[0] = p
            height = 1
            while height > 0:
                height -= 1
                node = nodes[height]
                q = places[height]
                if level_below[node] <= (highest if label_below[node] == first else second):
                    continue
                for i in range(row_starts[node], row_starts[node + 1]):
                    if labels[i] == first:
                        highest = max(highest, levels[i])
                    elif levels[i] > highest:
                        second = highest
                        highest = levels[i]
                        first = labels[i]
                    else:
                        second = max(second, levels[i])
                start = child_starts[node]
                past = child_starts[node + 1]
                if start == past:
                    continue
                for d in range(1, min(n_distances, length - 1 - q) + 1):
                    if tokens[q + d] < 0:
                        continue
                    key = (d - 1) * n_tokens + tokens[q + d]
                    low = start
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
        for t in range(n_thresholds):
            if t < highest:
                covered[t] += 1
            if second <= t < highest:
                decided[t] += 1
                if first == codes[s]:
                    easy[t] += 1
            else:
                left_open[t, codes[s]] += 1
    return covered, decided, easy, left_open
