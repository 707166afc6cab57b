"""The compiled loops of the search for nearest neighbors.

Distance to the k-th nearest training example.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.arguments import check_whole
from goldassay.core.compiled import compiled
from goldassay.core.cores import cores
from goldassay.core.errors import InputError
from goldassay.questions.shift.measures.false_alarms import as_finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Products compared at once, in a loop simple enough for the compiler to use vector instructions.
STRIDE = 64


@compiled
def keep_largest(products: NDArray[Any], first: int, best: NDArray[Any], places: NDArray[np.int64]) -> None:
    """Update each row's largest products, kept in falling order, by those of a block of columns.

    Nearly every product is below the row's least kept one, and whole strides are passed over without a branch: that is
    what makes the selection cheap beside the product itself.

    Args:
        products: (B, C).
        first: Number of the block's first column.
        best: The largest so far, (B, m); -inf where there are fewer.
        places: Their columns, (B, m).
    """
    n_kept = best.shape[1]
    n_columns = products.shape[1]
    for row in range(products.shape[0]):
        least = best[row, n_kept - 1]
        for start in range(0, n_columns, STRIDE):
            end = min(start + STRIDE, n_columns)
            # A slice and 32-bit counts: with either left out the loop is not turned into vector instructions.
            stride = products[row, start:end]
            above = np.int32(0)
            for i in range(stride.size):
                above += np.int32(1) if stride[i] > least else np.int32(0)
            if above == 0:
                continue
            for column in range(start, end):
                value = products[row, column]
                if value > least:
                    slot = n_kept - 1
                    while slot > 0 and best[row, slot - 1] < value:
                        best[row, slot] = best[row, slot - 1]
                        places[row, slot] = places[row, slot - 1]
                        slot -= 1
                    best[row, slot] = value
                    places[row, slot] = first + column
                    least = best[row, n_kept - 1]


@compiled
def squared_distances(
    features: NDArray[Any],
    scale: NDArray[np.float64],
    train: NDArray[Any],
    train_scale: NDArray[np.float64],
    places: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Squared distances of rows, each multiplied by its scale, to the training rows named, by differences.

    Args:
        features: (B, D).
        scale: (B,).
        train: (M, D).
        train_scale: (M,).
        places: (B, m), rows of `train`.

    Returns:
        (B, m).
    """
    found = np.empty(places.shape)
    for row in range(places.shape[0]):
        for slot in range(places.shape[1]):
            other = places[row, slot]
            total = 0.0
            for dimension in range(features.shape[1]):
                difference = features[row, dimension] * scale[row] - train[other, dimension] * train_scale[other]
                total += difference * difference
            found[row, slot] = total
    return found


_ROWS_AT_ONCE = 1024
_COLUMNS_AT_ONCE = 4096
# Kept beyond k, so that single precision cannot put the k-th one out of sight.
_SPARE = 32


def score_knn(features: ArrayLike, train_features: ArrayLike, k: int = 10) -> NDArray[np.float64]:
    """Euclidean distance to the k-th nearest in-distribution training feature, all scaled to length 1; exact.

    sqrt(2 - 2 cos) for the k-th largest cosine. A feature of zeros keeps length 0 and lies at distance 1 from all
    others. A training example scored against its own training set is its own first neighbor.

    Candidates are found by matrix products in single precision, block by block, so that no array of N x N_train
    exists; their distances are then taken by differences in double precision. Where rounding could have hidden a nearer
    neighbor (the least candidate kept lies within the error bound of the k-th), the row is searched again in double
    precision.

    Args:
        features: (N, D), of the examples to score. Single precision is used as it is, without a copy in double.
        train_features: (N_train, D), in-distribution.
        k: Which neighbor, from 1 to N_train.

    Returns:
        (N,), from 0 to 2; a higher score is more anomalous.

    Raises:
        InputError: k is below 1 or above N_train, dimensions differ, or a feature is NaN or infinite.

    Source: Sun, Ming, Zhu and Li 2022, "Out-of-Distribution Detection with Deep Nearest Neighbors".
    """
    values = _as_features(features, "features")
    train = _as_features(train_features, "training features")
    if values.shape[1] != train.shape[1]:
        raise InputError(
            f"features have {values.shape[1]} dimensions, training features {train.shape[1]}",
            mend="give features of the same model",
        )
    check_whole("k", k, 1)
    if k > len(train):
        raise InputError(
            f"k is {k}, and there are {len(train)} training features", mend="choose k from 1 to that number"
        )
    scale, train_scale = _scales(values), _scales(train)
    n_kept = min(len(train), k + _SPARE)
    squared, sure = _search(values, scale, train, train_scale, k, n_kept, np.float32)
    again = np.flatnonzero(~sure)
    if again.size:
        squared[again], _ = _search(values[again], scale[again], train, train_scale, k, n_kept, np.float64)
    return np.sqrt(squared)


def _search(
    values: NDArray[Any],
    scale: NDArray[np.float64],
    train: NDArray[Any],
    train_scale: NDArray[np.float64],
    k: int,
    n_kept: int,
    precision: type[np.float32 | np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Squared distance to the k-th nearest, (N,), and whether rounding cannot have hidden a nearer one."""
    from threadpoolctl import threadpool_limits

    # With h of length 1 or 0 the squared distance is |a|² - 2 (a.b - |b|²/2): what is compared among training
    # rows is a.b + (1 - |b|²)/2, the last term in a column of its own, needed only where a row of zeros exists.
    with_zeros = bool((train_scale == 0).any())
    columns = _unit(train, train_scale, precision, 0.5 * (train_scale == 0) if with_zeros else None)
    ones = np.ones(len(values)) if with_zeros else None
    # Of a product of D terms in rounded unit vectors; u is half the spacing at 1.
    bound = 1.01 * (columns.shape[1] + 3) * float(np.finfo(precision).eps) / 2
    squared, sure = np.empty(len(values)), np.ones(len(values), dtype=np.bool_)

    def work(start: int) -> None:
        block = slice(start, min(start + n_rows, len(values)))
        rows = _unit(values[block], scale[block], precision, None if ones is None else ones[block])
        best = np.full((len(rows), n_kept), -np.inf, dtype=precision)
        places = np.zeros((len(rows), n_kept), dtype=np.int64)
        # One room for the products of all blocks: fetching it from the system anew costs beside so short a product.
        room = np.empty(len(rows) * min(_COLUMNS_AT_ONCE, len(columns)), dtype=precision)
        for first in range(0, len(columns), _COLUMNS_AT_ONCE):
            others = columns[first : first + _COLUMNS_AT_ONCE]
            products = room[: len(rows) * len(others)].reshape(len(rows), len(others))
            keep_largest(np.matmul(rows, others.T, out=products), first, best, places)
        exact = np.sort(squared_distances(values[block], scale[block], train, train_scale, places), axis=1)
        squared[block] = exact[:, k - 1]
        if n_kept < len(train):
            # No row left out has a true product above the least one kept plus the bound.
            own = (scale[block] > 0).astype(np.float64)
            sure[block] = 1.0 + own - 2.0 * (best[:, -1] + bound) >= exact[:, k - 1]

    # Every core takes rows of its own through all three steps, so that none waits while another selects.
    n_threads = cores()
    n_rows = min(_ROWS_AT_ONCE, -(-len(values) // n_threads))
    with threadpool_limits(1), ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(work, range(0, len(values), n_rows)))
    return squared, sure


def _unit(
    values: NDArray[Any],
    scale: NDArray[np.float64],
    precision: type[np.float32 | np.float64],
    extra: NDArray[np.float64] | None,
) -> NDArray[Any]:
    """Rows of length 1 in a precision, with one more column if there is one; scaled block by block to save memory."""
    unit = np.empty((len(values), values.shape[1] + (extra is not None)), dtype=precision)
    for start in range(0, len(values), _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        unit[block, : values.shape[1]] = values[block] * scale[block, np.newaxis]
    if extra is not None:
        unit[:, -1] = extra
    return unit


def _scales(values: NDArray[Any]) -> NDArray[np.float64]:
    """1/length of each row, and 0 for a row of zeros."""
    largest = np.abs(values).max(axis=1).astype(np.float64)
    largest[largest < 1e-290] = 0.0
    safe = np.where(largest > 0, largest, 1.0)
    lengths = np.empty(len(values))
    for start in range(0, len(values), _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        lengths[block] = np.sqrt(np.square(values[block] / safe[block, np.newaxis]).sum(axis=1))
    return np.where(largest > 0, 1.0 / (np.where(lengths > 0, lengths, 1.0) * safe), 0.0)


def _as_features(features: ArrayLike, what: str) -> NDArray[Any]:
    values = np.asarray(features)
    if values.dtype == np.float32 and values.ndim == 2 and values.size and np.isfinite(values).all():
        return np.ascontiguousarray(values)
    return np.ascontiguousarray(as_finite(values, what, ("(N, D)",)))
