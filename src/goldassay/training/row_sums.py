"""Gradients of a table's rows, each row once."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np


@numba.njit(fastmath=True, nogil=True, cache=True)
def sum_rows(rows: Any, values: Any, n_rows: Any) -> Any:
    """Different rows in the order in which they first come, (U,), and the sum of each one's values, (U, E).

    One pass without sorting, which is what makes torch's own several times slower.

    Args:
        rows: Numbers of rows, (T,).
        values: (T, E).
        n_rows: Of the table.
    """
    n, width = values.shape
    place = np.full(n_rows, -1, np.int64)
    different = np.empty(n, np.int64)
    sums = np.empty((n, width), values.dtype)
    found = 0
    for t in range(n):
        row, value = rows[t], values[t]
        at = place[row]
        if at < 0:
            place[row] = found
            different[found] = row
            new = sums[found]
            for j in range(width):
                new[j] = value[j]
            found += 1
        else:
            known = sums[at]
            for j in range(width):
                known[j] += value[j]
    return different[:found], sums[:found]
