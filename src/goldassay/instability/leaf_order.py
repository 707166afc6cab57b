"""An order in which what is alike stands side by side, found without a second matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def leaf_order(similarity: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
    """Leaves of the average-linkage tree of a similarity matrix, from left to right, (M,).

    The tree is grown in the lower triangle by the nearest-neighbor chain, and the triangle is then written anew from
    the upper one. So the matrix is as before when this returns, and a matrix of 10,000 examples needs no other beside
    it, where scipy's linkage takes two of half its size in double precision. Where several pairs are equally
    similar, any of them may be joined first. Not to be used on one matrix from two threads.

    Args:
        similarity: (M, M), symmetric and writable; NaN counts as 0, which is what unrelated things have.

    Source: the chain is Benzécri's and Juan's (1982), as described by Müllner 2011.
    """
    size = len(similarity)
    if size < 3:
        return np.arange(size)
    try:
        joined, heights = _grow(similarity)
    finally:
        _restore(similarity)
    return _leaves(joined, np.argsort(-heights, kind="stable"), size)


@numba.njit(cache=True, nogil=True)
def _grow(similarity: Any) -> Any:
    """Join the most similar clusters until one is left: the members that stand for each two, and how similar."""
    size = len(similarity)
    for i in range(size):
        for j in range(i):
            if np.isnan(similarity[i, j]):
                similarity[i, j] = 0
    weights = np.ones(size, dtype=np.int64)
    joined = np.empty((size - 1, 2), dtype=np.int64)
    heights = np.empty(size - 1, dtype=np.float64)
    chain = np.empty(size, dtype=np.int64)
    length = 0
    for step in range(size - 1):
        if length == 0:
            chain[0] = np.flatnonzero(weights)[0]
            length = 1
        while True:
            end = chain[length - 1]
            near, closest = _nearest(similarity, weights, end, chain[length - 2] if length > 1 else -1)
            if length > 1 and near == chain[length - 2]:
                break
            chain[length] = near
            length += 1
        length -= 2
        gone, kept = min(end, near), max(end, near)
        joined[step, 0], joined[step, 1], heights[step] = gone, kept, closest
        _join(similarity, weights, gone, kept)
    return joined, heights


@numba.njit(cache=True, nogil=True)
def _nearest(similarity: Any, weights: Any, one: int, before: int) -> Any:
    """The cluster most similar to one; the one before it in the chain where that is as similar as any."""
    near, closest = before, -np.inf
    if before >= 0:
        closest = similarity[max(one, before), min(one, before)]
    for other in range(len(weights)):
        if weights[other] and other != one:
            value = similarity[max(one, other), min(one, other)]
            if value > closest:
                near, closest = other, value
    return near, closest


@numba.njit(cache=True, nogil=True)
def _join(similarity: Any, weights: Any, gone: int, kept: int) -> None:
    n, m = weights[gone], weights[kept]
    weights[gone], weights[kept] = 0, n + m
    for other in range(len(weights)):
        if weights[other] and other != kept:
            theirs = similarity[max(gone, other), min(gone, other)]
            row, column = max(kept, other), min(kept, other)
            own = similarity[row, column]
            # Rounding must not carry a mean beyond its parts: the chain relies on it to come to an end.
            similarity[row, column] = min(max(theirs, own), (n * theirs + m * own) / (n + m))


@numba.njit(cache=True, nogil=True)
def _restore(similarity: Any) -> None:
    """Write the lower triangle from the upper one, in squares that fit into the cache."""
    size = len(similarity)
    side = 64
    for top in range(0, size, side):
        for left in range(0, top + 1, side):
            for i in range(top, min(top + side, size)):
                for j in range(left, min(left + side, i)):
                    similarity[i, j] = similarity[j, i]


@numba.njit(cache=True, nogil=True)
def _leaves(joined: Any, order: Any, size: int) -> Any:
    """Members of the last cluster, each two put end to end in the order in which they were joined."""
    # Each cluster is a linked list of its members: its first is kept at its root, its last likewise.
    root, after = np.arange(size), np.full(size, -1)
    first, last, label = np.arange(size), np.arange(size), np.arange(size)
    for rank in range(len(order)):
        one, other = _root(root, joined[order[rank], 0]), _root(root, joined[order[rank], 1])
        if label[one] > label[other]:
            one, other = other, one
        after[last[one]] = first[other]
        last[one] = last[other]
        root[other] = one
        label[one] = size + rank
    leaves = np.empty(size, dtype=np.int64)
    leaf = first[_root(root, 0)]
    for position in range(size):
        leaves[position] = leaf
        leaf = after[leaf]
    return leaves


@numba.njit(cache=True, nogil=True)
def _root(root: Any, member: int) -> int:
    while root[member] != member:
        root[member] = root[root[member]]
        member = root[member]
    return member
