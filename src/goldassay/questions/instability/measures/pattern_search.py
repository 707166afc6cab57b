"""Examples that score alike in every run, put together.

Exact search for the largest covariances among distinct patterns of right and wrong.

A pattern is one example's correctness in R runs, held as bits. For two patterns with n and m right runs, b of
them in common, the covariance is (R b - n m)/(R(R - 1)), so the whole search runs on the integer R b - n m, the
key of the pair, which also makes ties exact. Every pair is looked at whose key could be large enough; that costs a
few machine instructions for each 8 or 16 pairs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

from goldassay.kernels.hashing import STEP

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHIFT = np.uint64(29)


class Members(NamedTuple):
    """Which columns lie in which of P groups of equal columns.

    Attributes:
        order: (N,) positions of the columns, group by group, ascending within each.
        starts: (P + 1,) where each group begins in `order`, and the end.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """(P,) how many columns each group has."""
        return np.diff(self.starts)

    def of(self, group: int) -> NDArray[np.int64]:
        """Positions of the columns of a group, ascending."""
        return self.order[self.starts[group] : self.starts[group + 1]]


def group_equal_columns(words: NDArray[Any], key: NDArray[Any]) -> Members:
    """Put equal columns together, the groups in ascending order of a key.

    Columns are sorted by the key and a digest, and neighbors that are equal word for word make a group. Were two
    different columns to share a digest, equal columns might end up in two groups; they are never mixed with others.

    Args:
        words: (W, N) unsigned integers.
        key: (N,) equal where columns are equal.
    """
    digest = np.zeros(words.shape[1], dtype=np.uint64)
    for row in words:
        digest ^= row
        digest *= STEP
        digest ^= digest >> _SHIFT
    order = np.lexsort((digest, key))
    differs = np.zeros(len(order) - 1, dtype=np.bool_)
    for row in words:
        placed = row[order]
        differs |= placed[1:] != placed[:-1]
    starts = np.concatenate([[0], np.flatnonzero(differs) + 1, [len(order)]])
    return Members(order.astype(np.int64), starts.astype(np.int64))


# Keys reach R²/4 either way and are counted one by one, so this bounds the counters to 16 MB a thread.
MOST_RUNS = 2000
# Rows looked at to find a first bound, and columns scored at once.
_SAMPLE = 128
_BLOCK = 512
# Tied pairs that a thread remembers before it leaves them to a search of their own.
_TIED = 1 << 15


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
        members: Which examples have which pattern.
        n_runs: R.
    """

    bits: NDArray[np.uint32]
    right: NDArray[np.int32]
    members: Members
    n_runs: int


class Found(NamedTuple):
    """The pairs of patterns with the largest keys.

    Attributes:
        p: (M,) one pattern.
        q: (M,) the other; the same one, where it has two examples.
        keys: (M,) R b - n m.
        last: Key of the k-th pair of examples, or the lowest there is where there are fewer pairs.
        ties: For each key from `last` up, how many pairs of examples have it.
        complete: Whether all pairs of key `last` are among those found; those with larger keys always are.
    """

    p: NDArray[np.int64]
    q: NDArray[np.int64]
    keys: NDArray[np.int64]
    last: int
    ties: NDArray[np.int64]
    complete: bool


def find_patterns(scores: NDArray[np.float64], low: float) -> Patterns:
    """Group the examples of scores (R, N) that take two values, of which `low` is the lower, by pattern."""
    n_runs, n_examples = scores.shape
    words = np.zeros((-(-n_runs // 32), n_examples), dtype=np.uint32)
    right = np.zeros(n_examples, dtype=np.int32)
    _pack(scores, low, words, right)
    members = group_equal_columns(words, right)
    first = members.order[members.starts[:-1]]
    return Patterns(np.ascontiguousarray(words[:, first]), right[first], members, n_runs)


def find_largest(patterns: Patterns, k: int) -> Found:
    """Find the pairs of patterns that make up the k largest pairs of examples, and count all that tie with them."""
    bits, right, members, n_runs = patterns
    counts = members.counts
    lowest = -(n_runs * n_runs // 4) - 1
    size = n_runs * n_runs // 4 + 2 - lowest
    n_threads = min(numba.get_num_threads(), max(1, len(right) // _SAMPLE))
    sample = np.linspace(0, len(right) - 1, min(len(right), _SAMPLE)).astype(np.int64)
    # A row's pairs with all later rows are distinct, so those of some rows bound the k-th pair of all.
    bound = _scan(bits, right, counts, n_runs, sample, k, lowest, lowest, np.zeros(size, np.int64), _no_pairs(0))[0]
    histograms = np.zeros((n_threads, size), dtype=np.int64)
    pairs = np.empty((n_threads, 3, k + _TIED), dtype=np.int32)
    ends = np.empty((n_threads, 3), dtype=np.int64)
    _scan_all(bits, right, counts, n_runs, k, bound, lowest, histograms, pairs, ends)
    histogram = histograms.sum(axis=0)
    # Below the highest bound of a thread that thread has stopped counting.
    bound = int(ends[:, 0].max())
    above = histogram[bound - lowest :][::-1].cumsum()
    last = lowest + size - 1 - min(int(np.searchsorted(above, k)), len(above) - 1)
    found = np.concatenate([pairs[thread, :, : ends[thread, 1]] for thread in range(n_threads)], axis=1)
    p, q, keys = found[:, found[2] >= last].astype(np.int64)
    return Found(p, q, keys, last, histogram[last - lowest :], complete=bool((ends[:, 2] < last).all()))


def first_pairs_of_key(patterns: Patterns, key: int, wanted: int) -> list[tuple[int, int]]:
    """The first pairs of examples i < j, in ascending order, with a key that very many pairs have."""
    order, starts = patterns.members
    pattern_of = np.empty(len(order), dtype=np.int64)
    pattern_of[order] = np.repeat(np.arange(len(patterns.right)), np.diff(starts))
    keys = np.empty(len(patterns.right), dtype=np.int32)
    pairs: list[tuple[int, int]] = []
    for i, pattern in enumerate(pattern_of.tolist()):
        _score(patterns.bits, patterns.right, np.int32(patterns.n_runs), pattern, 0, len(keys), keys)
        later = np.flatnonzero(keys[pattern_of[i + 1 :]] == key) + i + 1
        pairs.extend((i, j) for j in later[: wanted - len(pairs)].tolist())
        if len(pairs) == wanted:
            break
    return pairs


def _no_pairs(size: int) -> NDArray[np.int32]:
    return np.empty((3, size), dtype=np.int32)


@numba.njit(cache=True, nogil=True)
def _pack(scores: Any, low: float, words: Any, right: Any) -> None:
    for run in range(len(scores)):
        row, out = scores[run], words[run // 32]
        bit = np.uint32(run % 32)
        for example in range(len(row)):
            high = np.uint32(row[example] != low)
            out[example] |= high << bit
            right[example] += np.int32(high)


@numba.njit(cache=True, nogil=True)
def _score(bits: Any, right: Any, n_runs: Any, row: int, start: int, stop: int, keys: Any) -> Any:
    """Fill in the keys of one row with a block of columns, and return the largest.

    Everything is 32 bits wide and runs along memory, so that the compiler handles 8 or 16 pairs at once, and four
    words are taken in one go, which leaves the sums in registers.
    """
    size = stop - start
    n_words = len(bits)
    out = keys[:size]
    rest = n_words % 4
    if rest == 0:
        out[:] = 0
    elif rest == 1:
        a, x = bits[0, row], bits[0, start:stop]
        for i in range(size):
            out[i] = np.int32(_popcount(a & x[i]))
    elif rest == 2:
        a, x = bits[0, row], bits[0, start:stop]
        b, y = bits[1, row], bits[1, start:stop]
        for i in range(size):
            out[i] = np.int32(_popcount(a & x[i]) + _popcount(b & y[i]))
    else:
        a, x = bits[0, row], bits[0, start:stop]
        b, y = bits[1, row], bits[1, start:stop]
        c, z = bits[2, row], bits[2, start:stop]
        for i in range(size):
            out[i] = np.int32(_popcount(a & x[i]) + _popcount(b & y[i]) + _popcount(c & z[i]))
    for word in range(rest, n_words, 4):
        a, x = bits[word, row], bits[word, start:stop]
        b, y = bits[word + 1, row], bits[word + 1, start:stop]
        c, z = bits[word + 2, row], bits[word + 2, start:stop]
        d, w = bits[word + 3, row], bits[word + 3, start:stop]
        for i in range(size):
            out[i] += np.int32(_popcount(a & x[i]) + _popcount(b & y[i]) + _popcount(c & z[i]) + _popcount(d & w[i]))
    own = np.int32(right[row])
    theirs = right[start:stop]
    top = np.int32(-(1 << 30))
    for i in range(size):
        key = np.int32(n_runs * out[i] - own * theirs[i])
        out[i] = key
        top = max(top, key)
    return top


@numba.njit(cache=True, nogil=True)
def _scan(
    bits: Any,
    right: Any,
    counts: Any,
    n_runs: int,
    rows: Any,
    k: int,
    bound: int,
    lowest: int,
    histogram: Any,
    pairs: Any,
) -> Any:
    """Count the pairs of some rows with all later ones by key, from a bound up that rises with the k-th largest.

    Returns:
        The bound; how many pairs of patterns were remembered, all those above the bound among them; and the key
        up to which some were not.
    """
    n_patterns = len(right)
    capacity = pairs.shape[1]
    keys = np.empty(_BLOCK, dtype=np.int32)
    # Pairs of examples with keys above the bound: always fewer than k.
    above = 0
    n_pairs = 0
    forgotten = lowest - 1
    for row in rows:
        own = np.int64(right[row])
        for start in range(row if counts[row] > 1 else row + 1, n_patterns, _BLOCK):
            # Patterns come in ascending order of right runs m >= n, for which R b - n m <= n (R - m).
            if own * (n_runs - right[start]) < bound:
                break
            stop = min(start + _BLOCK, n_patterns)
            if _score(bits, right, np.int32(n_runs), row, start, stop, keys) < bound:
                continue
            for column in range(start, stop):
                key = np.int64(keys[column - start])
                if key < bound:
                    continue
                weight = counts[row] * counts[column] if column > row else counts[row] * (counts[row] - 1) // 2
                histogram[key - lowest] += weight
                if key > bound:
                    above += weight
                while above >= k:
                    bound += 1
                    above -= histogram[bound - lowest]
                if capacity == 0 or key < bound:
                    continue
                if n_pairs == capacity:
                    n_pairs, forgotten = _forget(pairs, bound, forgotten)
                pairs[0, n_pairs], pairs[1, n_pairs], pairs[2, n_pairs] = row, column, key
                n_pairs += 1
    return bound, n_pairs, forgotten


@numba.njit(cache=True, nogil=True)
def _forget(pairs: Any, bound: int, forgotten: int) -> Any:
    """Drop what has fallen below the bound, and, if that is too little, the pairs at the bound."""
    at_least = bound
    while True:
        kept = 0
        for pair in range(pairs.shape[1]):
            if pairs[2, pair] >= at_least:
                for part in range(3):
                    pairs[part, kept] = pairs[part, pair]
                kept += 1
        if kept <= pairs.shape[1] - _TIED // 2 or at_least > bound:
            return kept, max(forgotten, at_least - 1) if at_least > bound else forgotten
        at_least = bound + 1


@numba.njit(cache=True, nogil=True, parallel=True)
def _scan_all(
    bits: Any,
    right: Any,
    counts: Any,
    n_runs: int,
    k: int,
    bound: int,
    lowest: int,
    histograms: Any,
    pairs: Any,
    ends: Any,
) -> None:
    n_threads = len(histograms)
    for thread in numba.prange(n_threads):
        # Rows are dealt in turn, since the early ones have the most columns to their right.
        rows = np.arange(thread, len(right), n_threads)
        ends[thread, 0], ends[thread, 1], ends[thread, 2] = _scan(
            bits, right, counts, n_runs, rows, k, bound, lowest, histograms[thread], pairs[thread]
        )
