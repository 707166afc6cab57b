"""The compiled loops that look for a pattern's parts among other patterns and fold what adds nothing to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.kernels.hashing import lower_bound

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled_within
def find_part(
    row: int,
    kept: int,
    tokens: NDArray[np.int32],
    gaps: NDArray[np.int64],
    starts: NDArray[np.int64],
    n_distances: int,
    n_tokens: int,
    roots: NDArray[np.int32],
    keys: NDArray[np.int32],
    child_starts: NDArray[np.int32],
) -> int:
    """The node of the pattern that is left of a row when only some of its tokens are kept; -1 where there is none.

    Args:
        row: A pattern.
        kept: Its tokens that are kept, as bits, the first one the lowest.
        tokens: As in `PatternTokens`, with the numbers of the tree, -1 for a token that it lacks.
        gaps: As in `PatternTokens`.
        starts: As in `PatternTokens`.
        n_distances: As in `PatternTree`, as what follows.
        n_tokens: How many tokens the tree has.
        roots: Node of each token as a first one.
        keys: gap times the number of tokens plus token, of each node.
        child_starts: Where each node's children start.
    """
    node = -1
    distance = 0
    for i in range(starts[row + 1] - starts[row]):
        if i > 0:
            distance += gaps[starts[row] - row + i - 1] + 1
        if not (kept >> i) & 1:
            continue
        token = tokens[starts[row] + i]
        if token < 0:
            return -1
        if node < 0:
            node = roots[token]
            if node < 0:
                return -1
        else:
            if distance > n_distances:
                return -1
            key = (distance - 1) * n_tokens + token
            past = child_starts[node + 1]
            node = lower_bound(keys, child_starts[node], past, key)
            if node == past or keys[node] != key:
                return -1
        distance = 0
    return node


@compiled
def mark_parts(
    tokens: NDArray[np.int32],
    gaps: NDArray[np.int64],
    starts: NDArray[np.int64],
    n_distances: int,
    n_tokens: int,
    roots: NDArray[np.int32],
    keys: NDArray[np.int32],
    child_starts: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Which nodes of a tree are a part of some row and no row themselves; arguments as for `find_part`."""
    wanted = np.zeros(keys.size, np.bool_)
    own = np.zeros(keys.size, np.bool_)
    for row in range(starts.size - 1):
        whole = (1 << (starts[row + 1] - starts[row])) - 1
        for kept in range(1, whole + 1):
            node = find_part(row, kept, tokens, gaps, starts, n_distances, n_tokens, roots, keys, child_starts)
            if node >= 0:
                if kept == whole:
                    own[node] = True
                else:
                    wanted[node] = True
    return wanted & ~own


@compiled
def fold_rows(
    order: NDArray[np.int64],
    labels: NDArray[np.int64],
    support: NDArray[np.int64],
    probability: NDArray[np.float64],
    low: NDArray[np.float64],
    row_starts: NDArray[np.int32],
    rows: NDArray[np.int32],
    tokens: NDArray[np.int32],
    gaps: NDArray[np.int64],
    starts: NDArray[np.int64],
    n_distances: int,
    n_tokens: int,
    roots: NDArray[np.int32],
    keys: NDArray[np.int32],
    child_starts: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Fold each of V rows under a part of itself, as `fold_redundant` describes; W more rows were cut away.

    Args:
        order: The rows in the order in which they are judged, (V,).
        labels: Of the rows and then of those cut away, (V+W,).
        support: Of the rows, (V,).
        probability: Of the rows and then of those cut away, (V+W,).
        low: Lower end of each row's interval, (V,).
        row_starts: Where each node's rows start in `rows`.
        rows: Rows by node, those cut away numbered from V on.
        tokens: As for `find_part`, as what follows.
        gaps: As there.
        starts: As there.
        n_distances: As there.
        n_tokens: As there.
        roots: As there.
        keys: As there.
        child_starts: As there.

    Returns:
        The row that each is folded under, -1 where it stands for itself, (V,).
    """
    n_rows = order.size
    head = np.full(n_rows, -1, np.int64)
    stands = np.zeros(n_rows, np.bool_)
    # For each row cut away, the first row that stands for itself and contains it.
    holder = np.full(labels.size, -1, np.int64)
    longest = 1
    for row in range(n_rows):
        longest = max(longest, starts[row + 1] - starts[row])
    nodes = np.empty(1 << longest, np.int64)
    for row in order:
        whole = (1 << (starts[row + 1] - starts[row])) - 1
        # Not -1 itself, for which numba would compile `_first` once more.
        taker = np.int64(-1)
        for kept in range(1, whole):
            node = find_part(row, kept, tokens, gaps, starts, n_distances, n_tokens, roots, keys, child_starts)
            nodes[kept] = node
            if node < 0:
                continue
            for i in range(row_starts[node], row_starts[node + 1]):
                part = np.int64(rows[i])
                if part < n_rows and stands[part] and labels[part] == labels[row] and low[row] <= probability[part]:
                    taker = _first(taker, part, support)
        if taker < 0:
            for kept in range(1, whole):
                if nodes[kept] < 0:
                    continue
                for i in range(row_starts[nodes[kept]], row_starts[nodes[kept] + 1]):
                    part = np.int64(rows[i])
                    if holder[part] >= 0 and labels[part] == labels[row] and low[row] <= probability[part]:
                        taker = _first(taker, holder[part], support)
        head[row] = taker
        if taker < 0:
            stands[row] = True
            for kept in range(1, whole):
                if nodes[kept] < 0:
                    continue
                for i in range(row_starts[nodes[kept]], row_starts[nodes[kept] + 1]):
                    part = np.int64(rows[i])
                    if part >= n_rows and labels[part] == labels[row] and holder[part] < 0:
                        holder[part] = row
    return head


@compiled_within
def _first(taker: int, other: int, support: NDArray[np.int64]) -> int:
    """Of two rows the more frequent, of equally frequent ones the first; `taker` may be -1 for none."""
    if taker < 0 or support[other] > support[taker] or (support[other] == support[taker] and other < taker):
        return other
    return taker
