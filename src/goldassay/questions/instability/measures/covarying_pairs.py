"""Exact search for the largest covariances among scores of any kind.

Products of blocks in single precision say which pairs can be among the largest; these alone are computed in double
precision. A pair is passed over only if its single-precision product lies below the bound by more than such a
product can be wrong: for R terms, (R + 2) 2⁻²⁴ sd sd to first order (Higham 2002, section 3.1).

The pairs of examples that a model gets right and wrong together, run by run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.questions.instability.measures.pattern_search import Members, group_equal_columns
from goldassay.questions.instability.measures.scores import as_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

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
    from goldassay.questions.instability.measures.pattern_search import MOST_RUNS

    low, high = values.min(), values.max()
    return n_runs <= MOST_RUNS and bool(((values == low) | (values == high)).all())


def _two_valued(values: NDArray[np.float64], k: int) -> list[tuple[int, int, float, int]]:
    from goldassay.questions.instability.measures.pattern_search import find_largest, find_patterns, first_pairs_of_key

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
