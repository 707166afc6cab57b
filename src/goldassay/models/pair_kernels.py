"""The compiled loop of `pair_probe`: a pass of dual coordinate ascent over differences of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Newton's steps for one pair at most, and the change of its margin that ends them.
_N_NEWTON, _CLOSE = 20, 1e-9


@compiled
def ascend_pairs(
    begins: NDArray[np.int32],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    squares: NDArray[np.float64],
    rows: NDArray[np.int64],
    order: NDArray[np.int64],
    strengths: NDArray[np.float64],
    table: NDArray[np.float64],
    duals: NDArray[np.float64],
) -> float:
    """One pass; each visit solves for the dual variable of its pair: a = 1 / (1 + exp(m + c (a - a_before))).

    Args:
        begins: Where each difference begins among the columns, and where the last one's end.
        columns: Of the differences.
        values: In these columns.
        squares: The sum of each difference's squared values.
        rows: The differences that are visited, (n,).
        order: In which order, places among these, (n,).
        strengths: The weight of each over the penalty of the sum of losses, (n,).
        table: w = sum strengths a d, changed in place, (F,).
        duals: a, changed in place, (n,).

    Returns:
        The mean change of the dual variables.
    """
    moved = 0.0
    for at in range(order.size):
        r = order[at]
        begin, end = begins[rows[r]], begins[rows[r] + 1]
        margin = 0.0
        for x in range(begin, end):
            margin += values[x] * table[columns[x]]
        before, bend = duals[r], strengths[r] * squares[rows[r]]
        low, high, found, after = margin - bend * before, margin + bend * (1 - before), margin, before
        for _ in range(_N_NEWTON):
            after = 1 / (1 + np.exp(found))
            apart = found - margin - bend * (after - before)
            if apart > 0:
                high = found
            else:
                low = found
            tried = found - apart / (1 + bend * after * (1 - after))
            if not low < tried < high:
                tried = (low + high) / 2
            close = abs(tried - found) < _CLOSE
            found = tried
            if close:
                break
        after = 1 / (1 + np.exp(found))
        step = strengths[r] * (after - before)
        duals[r] = after
        moved += abs(after - before)
        for x in range(begin, end):
            table[columns[x]] += step * values[x]
    return moved / max(order.size, 1)
