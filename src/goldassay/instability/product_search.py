"""Exact search for the largest covariances among scores of any kind.

Products of blocks in single precision say which pairs can be among the largest; these alone are computed in double
precision. A pair is passed over only if its single-precision product lies below the bound by more than such a
product can be wrong: for R terms, (R + 2) 2⁻²⁴ sd sd to first order (Higham 2002, section 3.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np

from goldassay.instability.equal_columns import Members, group_equal_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

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


def find_largest(scores: NDArray[np.float64], k: int) -> tuple[Members, Pairs]:
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
