"""The compiled loops of the search for nearest neighbors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
