"""The pairs of examples that a model gets right and wrong together, run by run: an exact search for the largest.

Scores that are right or wrong form patterns: one example's correctness in R runs, held as bits. For two patterns with n
and m right runs, b of them in common, the covariance is (R b - n m)/(R(R - 1)), so the whole search runs on the integer
R b - n m, the key of the pair, which also makes ties exact. Every pair is looked at whose key could be large enough;
that costs a few machine instructions for each 8 or 16 pairs.

For scores of any other kind, products of blocks in single precision say which pairs can be among the largest; these
alone are computed in double precision. A pair is passed over only if its single-precision product lies below the bound
by more than such a product can be wrong: for R terms, (R + 2) 2⁻²⁴ sd sd to first order (Higham 2002, section 3.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
import polars as pl
from numba.core import types
from numba.extending import intrinsic

from goldassay.core.errors import InputError
from goldassay.kernels.hashing import STEP
from goldassay.questions.instability.measures.scores import as_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

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
_PATTERN_SAMPLE = 128
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
    n_threads = min(numba.get_num_threads(), max(1, len(right) // _PATTERN_SAMPLE))
    sample = np.linspace(0, len(right) - 1, min(len(right), _PATTERN_SAMPLE)).astype(np.int64)
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


# Covariances count as tied when they agree to so many decimals.
DECIMALS = 12
_UNIT = 10.0**-DECIMALS
# A product of this size stays in a core's cache together with what it is a product of.
_ROWS, _COLUMNS = 256, 2048
_SAMPLE = 512


class Pairs(NamedTuple):
    """Pairs of groups of equal columns.

    Attributes:
        p: (M,) one group.
        q: (M,) the other, later one; or the same, where it has two columns.
        covariances: (M,) with ddof 1, to 12 decimals.
    """

    p: NDArray[np.int64]
    q: NDArray[np.int64]
    covariances: NDArray[np.float64]


class _Series(NamedTuple):
    """Distinct columns in descending order of deviation: (P, R) centered and divided by sqrt(R - 1)."""

    double: NDArray[np.float64]
    single: NDArray[np.float32]
    sd: NDArray[np.float64]
    counts: NDArray[np.int64]
    scale: float


def find_largest_products(scores: NDArray[np.float64], k: int) -> tuple[Members, Pairs]:
    """Group the equal columns of scores (R, N), and find the pairs of groups that hold or tie with the k largest."""
    members, series = _series(scores)
    size = len(series.sd)
    # The columns that vary most give a first bound, which spares most of the work to come.
    ahead = slice(0, min(_SAMPLE, size))
    bound = _kth(_look(series, ahead, ahead, -np.inf), series.counts, k)[0]
    found = Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
    for start in range(0, size, _ROWS):
        for left in range(start, size, _COLUMNS):
            # |cov| <= sd sd, and no later column has a larger one.
            if series.sd[start] * series.sd[left] * (1 + 1e-9) + _UNIT < bound:
                break
            rows, columns = slice(start, min(start + _ROWS, size)), slice(left, min(left + _COLUMNS, size))
            new = _look(series, rows, columns, bound)
            if len(new.p):
                kth, found = _kth(_joined(found, new), series.counts, k)
                bound = max(bound, kth)
    return members, _from(bound, found)


def _series(scores: NDArray[np.float64]) -> tuple[Members, _Series]:
    centered = scores - scores.mean(axis=0)
    centered /= np.sqrt(len(scores) - 1)
    sd = np.sqrt(np.einsum("ri,ri->i", centered, centered))
    # Zero has two forms, which must not tell columns apart.
    members = group_equal_columns((scores + 0.0).view(np.uint64), -sd)
    first = members.order[members.starts[:-1]]
    double, sd = np.ascontiguousarray(centered[:, first].T), sd[first]
    # Single precision has a narrow range as well as few digits: the largest deviation is made 1.
    scale = float(sd[0]) or 1.0
    return members, _Series(double, (double / scale).astype(np.float32), sd, members.counts, scale)


def _look(series: _Series, rows: slice, columns: slice, bound: float) -> Pairs:
    """The pairs of some rows with some columns whose covariance is at least the bound."""
    product = series.single[rows] @ series.single[columns].T
    slack = 1.01 * (series.single.shape[1] + 2) * 2.0**-24 * series.sd[rows] * series.sd[columns.start]
    least = np.float32((bound - _UNIT - slack) / series.scale**2)
    p, q = _candidates(product, np.nextafter(least, np.float32(-np.inf)), rows.start, columns.start, series.counts)
    covariances = np.round(_covariances(series.double, p, q), DECIMALS)
    return _from(bound, Pairs(p, q, covariances))


def _kth(found: Pairs, counts: NDArray[np.int64], k: int) -> tuple[float, Pairs]:
    """The k-th largest covariance among pairs of examples, -inf where there are fewer; and the pairs from it up."""
    order = np.argsort(-found.covariances, kind="stable")
    p, q = found.p[order], found.q[order]
    reached = np.cumsum(np.where(p == q, counts[p] * (counts[p] - 1) // 2, counts[p] * counts[q])) >= k
    if not reached.any():
        return -np.inf, found
    bound = float(found.covariances[order[int(reached.argmax())]])
    return bound, _from(bound, found)


def _from(bound: float, found: Pairs) -> Pairs:
    """The pairs whose covariance is at least the bound."""
    kept = found.covariances >= bound
    return Pairs(found.p[kept], found.q[kept], found.covariances[kept])


def _joined(found: Pairs, new: Pairs) -> Pairs:
    return Pairs(
        np.concatenate([found.p, new.p]),
        np.concatenate([found.q, new.q]),
        np.concatenate([found.covariances, new.covariances]),
    )


@numba.njit(cache=True, nogil=True)
def _candidates(product: Any, least: Any, row: int, column: int, counts: Any) -> Any:
    """Which pairs of different groups, each once, and of groups with themselves, are at least the row's bound."""
    height, width = product.shape
    per_row = np.zeros(height, dtype=np.int64)
    for i in range(height):
        n = 0
        for j in range(width):
            n += product[i, j] >= least[i]
        per_row[i] = n
    p = np.empty(per_row.sum(), dtype=np.int64)
    q = np.empty_like(p)
    size = 0
    for i in range(height):
        if per_row[i] == 0:
            continue
        for j in range(width):
            one, other = row + i, column + j
            if product[i, j] >= least[i] and (other > one or (other == one and counts[one] > 1)):
                p[size], q[size] = one, other
                size += 1
    return p[:size], q[:size]


@numba.njit(cache=True, nogil=True)
def _covariances(series: Any, p: Any, q: Any) -> Any:
    out = np.empty(len(p))
    for pair in range(len(p)):
        one, other = series[p[pair]], series[q[pair]]
        total = 0.0
        for run in range(len(one)):
            total += one[run] * other[run]
        out[pair] = total
    return out


_SCHEMA = {"i": pl.Int64, "j": pl.Int64, "covariance": pl.Float64, "ties": pl.Int64}


def top_covarying_pairs(scores: ArrayLike, k: int = 20) -> pl.DataFrame:
    """The k pairs of examples i < j with the largest covariance over runs.

    cov_r(C_i, C_j) with ddof 1. For scores in [0, 1] it is at most R/(4(R-1)): 0.278 with 10 runs, which any two
    examples reach that are right in the same 5 runs. So the largest pair is seldom alone, and `ties` says how
    many pairs of the whole set share its covariance. Pairs of equal covariance come in ascending order of (i, j).

    The search is exact. Examples with equal scores are looked at once. Scores of two values, such as right and
    wrong, are counted in whole numbers, so their ties are exact too; covariances of other scores count as tied when
    they agree to 12 decimals.

    Args:
        scores: (R, N).
        k: How many pairs.

    Returns:
        Columns i, j (positions in the input), covariance, ties; empty where no example ever changes.

    Raises:
        InputError: There are fewer than 2 runs, scores are not finite, or k is below 1.

    Source: Zhou, Nie, Tan and Bansal 2020, Tables 5 and 11.
    """
    values = as_scores(scores, min_runs=2)
    if k < 1:
        raise InputError(f"k is {k}", mend="ask for at least 1 pair")
    n_runs, n_examples = values.shape
    if n_examples < 2 or bool((values == values[0]).all()):
        return pl.DataFrame(schema=_SCHEMA)
    wanted = min(k, n_examples * (n_examples - 1) // 2)
    rows = _two_valued(values, wanted) if _takes_two_values(values, n_runs) else _any_valued(values, wanted)
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _takes_two_values(values: NDArray[np.float64], n_runs: int) -> bool:

    low, high = values.min(), values.max()
    return n_runs <= MOST_RUNS and bool(((values == low) | (values == high)).all())


def _two_valued(values: NDArray[np.float64], k: int) -> list[tuple[int, int, float, int]]:

    low, high = float(values.min()), float(values.max())
    patterns = find_patterns(values, low)
    found = find_largest(patterns, k)
    scale = (high - low) ** 2 / (patterns.n_runs * (patterns.n_runs - 1))
    rows: list[tuple[int, int, float, int]] = []
    for key in np.flatnonzero(found.ties)[::-1] + found.last:
        tied = found.keys == key
        wanted = k - len(rows)
        if key > found.last or found.complete:
            pairs = _first_pairs(patterns.members, found.p[tied], found.q[tied], wanted)
        else:
            pairs = first_pairs_of_key(patterns, int(key), wanted)
        ties = int(found.ties[key - found.last])
        rows.extend((i, j, int(key) * scale, ties) for i, j in pairs)
    return rows


def _any_valued(values: NDArray[np.float64], k: int) -> list[tuple[int, int, float, int]]:

    members, (p, q, covariances) = find_largest_products(values, k)
    counts = members.counts
    weights = np.where(p == q, counts[p] * (counts[p] - 1) // 2, counts[p] * counts[q])
    rows: list[tuple[int, int, float, int]] = []
    for covariance in np.unique(covariances)[::-1]:
        tied = covariances == covariance
        pairs = _first_pairs(members, p[tied], q[tied], k - len(rows))
        rows.extend((i, j, float(covariance), int(weights[tied].sum())) for i, j in pairs)
        if len(rows) == k:
            break
    return rows


def _first_pairs(members: Members, p: NDArray[np.int64], q: NDArray[np.int64], wanted: int) -> list[tuple[int, int]]:
    """The first pairs of examples i < j, in ascending order, whose groups of equal examples are a pair (p, q)."""
    partners: dict[int, set[int]] = {}
    for one, other in zip(p.tolist(), q.tolist(), strict=True):
        partners.setdefault(one, set()).add(other)
        partners.setdefault(other, set()).add(one)
    involved = np.concatenate([members.of(group) for group in partners])
    group_of = np.repeat(list(partners), [len(members.of(group)) for group in partners])
    candidates: dict[int, NDArray[np.int64]] = {}
    pairs: list[tuple[int, int]] = []
    for position in np.argsort(involved):
        i, group = int(involved[position]), int(group_of[position])
        if group not in candidates:
            candidates[group] = np.sort(np.concatenate([members.of(other) for other in partners[group]]))
        others = candidates[group]
        later = others[np.searchsorted(others, i, side="right") :]
        pairs.extend((i, j) for j in later[: wanted - len(pairs)].tolist())
        if len(pairs) == wanted:
            break
    return pairs
