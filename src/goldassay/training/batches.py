"""Batches of examples of similar length, in an order that the seed decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def shuffled_batches(
    costs: NDArray[np.int64], batch_size: int, pool: int, rng: np.random.Generator
) -> list[NDArray[np.int64]]:
    """Every row once, in random order but for this: rows of similar length stand in the same batch.

    Rows are shuffled, sorted by length within pools of some batches, cut into batches, and the batches shuffled.

    Args:
        costs: Length of each row, (N,).
        batch_size: Rows a batch; the last one of a pool may be smaller.
        pool: Batches sorted together; the more, the less is padded, and the less are lengths mixed. 1 sorts nothing
            but the rows of a batch among themselves.
        rng: Decides the order.
    """
    order = rng.permutation(costs.size)
    batches = []
    for start in range(0, order.size, pool * batch_size):
        rows = order[start : start + pool * batch_size]
        rows = rows[np.argsort(costs[rows], kind="stable")]
        batches += [rows[at : at + batch_size] for at in range(0, rows.size, batch_size)]
    return [batches[place] for place in rng.permutation(len(batches))]


def sorted_batches(costs: NDArray[np.int64], batch_size: int, longest_first: bool = False) -> list[NDArray[np.int64]]:
    """Every row once, by length: for evaluation, where the order does not matter."""
    order = np.argsort(-costs if longest_first else costs, kind="stable")
    return [order[start : start + batch_size] for start in range(0, order.size, batch_size)]
