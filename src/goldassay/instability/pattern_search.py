"""Exact search for the largest covariances among distinct patterns of right and wrong.

A pattern is one example's correctness in R runs, held as bits. For two patterns with n and m right runs, b of
them in common, the covariance is (R b - n m)/(R(R - 1)), so the whole search runs on the integer R b - n m, which
also makes ties exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Rows looked at to find a first bound, and columns scored at once.
_SAMPLE = 128
_BLOCK = 512


@intrinsic
def _popcount(typing_context: Any, word: Any) -> Any:  # noqa: ARG001
    """Number of bits set, as one machine instruction."""
    signature = types.uint32(types.uint32)

    def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.ctpop(arguments[0])

    return signature, emit


class Patterns(NamedTuple):
    """Distinct patterns in ascending order of how many runs are right.

    Attributes:
        bits: (W, P) words of 32 runs.
        right: (P,) runs that are right.
        counts: (P,) examples with the pattern.
        members: For each pattern, positions of its examples, ascending.
        n_runs: R.
    """

    bits: NDArray[np.uint32]
    right: NDArray[np.int32]
    counts: NDArray[np.int64]
    members: list[NDArray[np.int64]]
    n_runs: int


def find_patterns(scores: NDArray[np.float64]) -> Patterns:
    """Group the examples of binary scores (R, N) by pattern."""
    n_runs, n_examples = scores.shape
    n_words = -(-n_runs // 32)
    packed = np.zeros((n_examples, 4 * n_words), dtype=np.uint8)
    packed[:, : -(-n_runs // 8)] = np.packbits(scores.T != 0, axis=1)
    words = packed.view(np.uint32)
    keys = words.ravel() if n_words == 1 else packed.view(f"V{4 * n_words}").ravel()
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    right = (scores[:, first] != 0).sum(axis=0)
    order = np.argsort(right, kind="stable")
    by_pattern = np.argsort(inverse.ravel(), kind="stable")
    members = np.split(by_pattern, np.cumsum(counts)[:-1])
    return Patterns(
        bits=np.ascontiguousarray(words[first[order]].T),
        right=right[order].astype(np.int32),
        counts=counts[order].astype(np.int64),
        members=[members[position] for position in order],
        n_runs=n_runs,
    )


def count_keys(patterns: Patterns, k: int) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Count the pairs of examples by key, from a bound up that leaves at least k pairs where there are k.

    Returns:
        The bound; how many pairs have key bound + i, exactly, (number of keys,); and each pattern's largest key
        with any other example, (P,), exact from the bound up.
    """
    bits, right, counts, _, n_runs = patterns
    lowest = -(n_runs * n_runs // 4) - 1
    highest = n_runs * n_runs // 4 + 1
    size = highest - lowest + 1
    n_patterns = len(right)
    rows = np.arange(n_patterns)
    sample = rows if n_patterns <= _SAMPLE else np.linspace(0, n_patterns - 1, _SAMPLE).astype(np.int64)
    best = np.full(n_patterns, lowest, dtype=np.int64)
    histogram = np.zeros(size, dtype=np.int64)
    _scan(bits, right, counts, n_runs, sample, lowest, lowest, histogram, best)
    # All pairs of one pattern count besides: they are few to look at and tend to be the largest.
    known = histogram[::-1].cumsum()
    bound = lowest if known[-1] < k else highest - int(np.searchsorted(known, k))
    if n_patterns <= _SAMPLE:
        return lowest, histogram, best
    n_threads = numba.get_num_threads()
    histograms = np.zeros((n_threads, size), dtype=np.int64)
    bests = np.full((n_threads, n_patterns), lowest, dtype=np.int64)
    _scan_all(bits, right, counts, n_runs, bound, lowest, histograms, bests)
    total = histograms.sum(axis=0)
    return bound, total[bound - lowest :], bests.max(axis=0)


def pairs_from(
    patterns: Patterns, best: NDArray[np.int64], bound: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of patterns p <= q whose key is at least `bound`: p, q and the key; p = q if it has two examples."""
    n_patterns = len(patterns.right)
    scratch = np.empty(n_patterns, dtype=np.int32)
    found = []
    for p in np.flatnonzero(best >= bound).tolist():
        _score_block(patterns.bits, patterns.right, np.int32(patterns.n_runs), p, p, n_patterns, scratch)
        keys = scratch[: n_patterns - p]
        if patterns.counts[p] < 2:
            keys[0] = bound - 1
        q = np.flatnonzero(keys >= bound)
        found.append((np.full(len(q), p), q + p, keys[q].astype(np.int64)))
    p_all, q_all, keys_all = (np.concatenate(column) for column in zip(*found, strict=True))
    return p_all, q_all, keys_all


@numba.njit(cache=True, nogil=True)
def _scan_row(
    bits: Any,
    right: Any,
    counts: Any,
    n_runs: int,
    row: int,
    bound: int,
    lowest: int,
    histogram: Any,
    best: Any,
    keys: Any,
) -> None:
    _n_words, n_patterns = bits.shape
    own = right[row]
    if counts[row] > 1:
        key = n_runs * own - own * own
        if key >= bound:
            histogram[key - lowest] += counts[row] * (counts[row] - 1) // 2
            best[row] = max(best[row], key)
    for start in range(row + 1, n_patterns, _BLOCK):
        # Patterns come in ascending order of right runs m >= n, for which R b - n m <= n (R - m).
        if own * (n_runs - right[start]) < bound:
            break
        stop = min(start + _BLOCK, n_patterns)
        if _score_block(bits, right, np.int32(n_runs), row, start, stop, keys) < bound:
            continue
        for column in range(start, stop):
            key = np.int64(keys[column - start])
            if key >= bound:
                histogram[key - lowest] += counts[row] * counts[column]
                best[row] = max(best[row], key)
                best[column] = max(best[column], key)


@numba.njit(cache=True, nogil=True)
def _score_block(bits: Any, right: Any, n_runs: Any, row: int, start: int, stop: int, keys: Any) -> Any:
    """Fill in the keys of one row with a block of columns, and return the largest.

    Everything is 32 bits wide and runs along memory, so that the compiler handles 8 or 16 pairs at once.
    """
    size = stop - start
    out = keys[:size]
    out[:] = 0
    for word in range(len(bits)):
        mine = bits[word, row]
        others = bits[word, start:stop]
        for column in range(size):
            out[column] += np.int32(_popcount(mine & others[column]))
    own = np.int32(right[row])
    theirs = right[start:stop]
    top = np.int32(-(1 << 30))
    for column in range(size):
        key = np.int32(n_runs * out[column] - own * theirs[column])
        out[column] = key
        top = max(top, key)
    return top


@numba.njit(cache=True, nogil=True)
def _scan(
    bits: Any,
    right: Any,
    counts: Any,
    n_runs: int,
    rows: Any,
    bound: int,
    lowest: int,
    histogram: Any,
    best: Any,
) -> None:
    keys = np.empty(_BLOCK, dtype=np.int32)
    for row in rows:
        _scan_row(bits, right, counts, n_runs, row, bound, lowest, histogram, best, keys)


@numba.njit(cache=True, nogil=True, parallel=True)
def _scan_all(
    bits: Any, right: Any, counts: Any, n_runs: int, bound: int, lowest: int, histograms: Any, bests: Any
) -> None:
    n_threads = len(histograms)
    for thread in numba.prange(n_threads):
        keys = np.empty(_BLOCK, dtype=np.int32)
        # Rows are dealt in turn, since the early ones have the most columns to their right.
        for row in range(thread, len(right), n_threads):
            _scan_row(bits, right, counts, n_runs, row, bound, lowest, histograms[thread], bests[thread], keys)
