"""The largest difference over all pairs of columns, draw by draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def largest_differences(shifts: NDArray[np.float64], inverse: NDArray[np.float32]) -> NDArray[np.float64]:
    """The largest |shifts[b, j] - shifts[b, k]| inverse[j, k] over j < k for each draw b, (B,).

    Args:
        shifts: How far each mean moved in a draw, (B, M).
        inverse: One over the standard error of each pair's difference, 0 for pairs without one, (M, M).
    """
    n_draws, n = shifts.shape
    found = np.zeros(n_draws)
    for b in range(n_draws):
        row = shifts[b].astype(np.float32)
        most = np.float32(0.0)
        for j in range(n):
            own = row[j]
            for k in range(j):
                value = abs(own - row[k]) * inverse[j, k]
                most = max(most, value)
        found[b] = most
    return found
