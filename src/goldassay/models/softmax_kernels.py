"""The compiled loops of `softmax_regression`: passes of dual coordinate ascent, and the margins of rows.

Rows are those of `ProbeFeatures`. A row's features are gathered once, as places in the table of weights and values,
and then serve the margins and the step. The constant is one feature more, in the table's last row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.models.lanes import WIDTH, add, divide, exponential, fetch, fill, larger, load, multiply, store, subtract

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ZERO, _ONE, _HALF, _TWO, _HIGHEST = (np.float32(value) for value in (0, 1, 0.5, 2, 87))
_LOWEST = np.float32(-1e30)
_LANES, _LANES_2 = np.uint64(WIDTH), np.uint64(2 * WIDTH)
_START = np.uint64(0)
# Visits ahead, and numbers of 4 bytes in a line of the caches.
_FAR, _NEAR, _LINE = 12, 6, 16
# Square roots and quotients of small whole numbers took a third of the time of short rows.
_INVERSE_ROOTS = np.ones(1024, dtype=np.float32)
_INVERSE_ROOTS[1:] = 1 / np.sqrt(np.arange(1, 1024, dtype=np.float64))


@compiled_within
def _gather(
    i: int, rows_of: Any, widths: Any, firsts: Any, stride: int, places: NDArray[np.uint64], values: NDArray[np.float32]
) -> int:
    """Where in the table the weights of row i's features begin, and their values; the constant last."""
    columns, starts, sizes = rows_of
    n = 0
    begin = starts[i]
    for b in range(widths.size):
        size = sizes[i, b]
        if widths[b] > 0 and size > 0:
            value = _INVERSE_ROOTS[size] if size < _INVERSE_ROOTS.size else _ONE / np.float32(np.sqrt(np.float32(size)))
            for at in range(begin, begin + size):
                if columns[at] < widths[b]:
                    places[n] = np.uint64((columns[at] + firsts[b]) * stride)
                    values[n] = value
                    n += 1
        begin += size
    places[n] = np.uint64(firsts[widths.size] * stride)
    values[n] = _ONE
    return n + 1


@compiled_within
def _fetch_row(
    at: int, rows_of: Any, rows: NDArray[np.int64], order: NDArray[np.int64], stride: int, duals: NDArray[np.float32]
) -> None:
    """Ask for what the visits some steps ahead will read: rows are visited at random, and memory answers late."""
    columns, starts, sizes = rows_of
    if at + _FAR < order.size:
        i = rows[order[at + _FAR]]
        fetch(starts, np.uint64(i))
        fetch(sizes, np.uint64(i * sizes.shape[1]))
    if at + _NEAR < order.size:
        r = order[at + _NEAR]
        for place in range(starts[rows[r]], starts[rows[r] + 1], _LINE):
            fetch(columns, np.uint64(place))
        for place in range(r * stride, (r + 1) * stride, _LINE):
            fetch(duals, np.uint64(place))


@compiled_within
def _fetch_weights(table: NDArray[np.float32], places: NDArray[np.uint64], n: int, stride: int) -> None:
    for x in range(n):
        for k in range(0, stride, _LINE):
            fetch(table, places[x] + np.uint64(k))


@compiled_within
def _sum_weights(
    table: NDArray[np.float32], places: NDArray[np.uint64], values: NDArray[np.float32], n: int, z: NDArray[np.float32]
) -> None:
    """Set z to the sum of values times the table's rows; z is as long as such a row."""
    # Sums of one to three vectors stay in registers.
    if z.size == WIDTH:
        a = fill(_ZERO)
        for x in range(n):
            a = add(a, multiply(fill(values[x]), load(table, places[x])))
        store(z, _START, a)
    elif z.size == 3 * WIDTH:
        a = fill(_ZERO)
        b = fill(_ZERO)
        c = fill(_ZERO)
        for x in range(n):
            value = fill(values[x])
            a = add(a, multiply(value, load(table, places[x])))
            b = add(b, multiply(value, load(table, places[x] + _LANES)))
            c = add(c, multiply(value, load(table, places[x] + _LANES_2)))
        store(z, _START, a)
        store(z, _LANES, b)
        store(z, _LANES_2, c)
    else:
        z[:] = _ZERO
        for x in range(n):
            value = fill(values[x])
            for at in range(0, z.size, WIDTH):
                k = np.uint64(at)
                store(z, k, add(load(z, k), multiply(value, load(table, places[x] + k))))


@compiled_within
def _add_step(
    table: NDArray[np.float32], places: NDArray[np.uint64], values: NDArray[np.float32], n: int, z: NDArray[np.float32]
) -> None:
    """Add values times z to the table's rows."""
    if z.size == WIDTH:
        a = load(z, _START)
        for x in range(n):
            store(table, places[x], add(load(table, places[x]), multiply(fill(values[x]), a)))
    else:
        for x in range(n):
            value = fill(values[x])
            for at in range(0, z.size, WIDTH):
                k = np.uint64(at)
                place = places[x] + k
                store(table, place, add(load(table, place), multiply(value, load(z, k))))


@compiled_within
def _squared_length(values: NDArray[np.float32], n: int) -> np.float32:
    total = _ZERO
    for x in range(n):
        total += values[x] * values[x]
    return total


@compiled
def ascend_penalties(
    rows_of: Any,
    widths: NDArray[np.int64],
    firsts: NDArray[np.int64],
    longest: int,
    rows: NDArray[np.int64],
    order: NDArray[np.int64],
    weights: NDArray[np.float32],
    offsets: NDArray[np.float32],
    strengths: NDArray[np.float32],
    table: NDArray[np.float32],
    duals: NDArray[np.float32],
) -> None:
    """One pass over some rows for eight penalties at once; with two classes one table serves both, with its sign.

    Args:
        rows_of: Columns, starts and sizes of `ProbeFeatures`.
        widths: Columns of each block, (B,).
        firsts: Where each block's columns begin in the table, and the constant's row, (B + 1,).
        longest: Entries that a row has at most.
        rows: Rows of the features, (n,).
        order: In which the rows are visited: positions in `rows`.
        weights: Of the rows, (n,).
        offsets: Added to the margins, (K,).
        strengths: 1 / penalty, (8,).
        table: Weights, changed in place, (columns + 1, C, 8) in one piece, C = 1 for two classes and else K.
        duals: q of `softmax_regression`, changed in place, (n, C, 8) in one piece; of two classes that of the second.
    """
    n_classes = offsets.size
    n_vectors = 1 if n_classes == 2 else n_classes
    stride = WIDTH * n_vectors
    z = np.empty(stride, np.float32)
    both_places = np.empty((2, longest + 1), np.uint64)
    both_values = np.empty((2, longest + 1), np.float32)
    n_next = _gather(rows[order[0]], rows_of, widths, firsts, stride, both_places[0], both_values[0])
    strength = load(strengths, _START)
    one = fill(_ONE)
    for at in range(order.size):
        r = order[at]
        n = n_next
        places, values = both_places[at & 1], both_values[at & 1]
        _fetch_row(at, rows_of, rows, order, stride, duals)
        if at + 1 < order.size:
            other = (at + 1) & 1
            row = rows[order[at + 1]]
            n_next = _gather(row, rows_of, widths, firsts, stride, both_places[other], both_values[other])
            _fetch_weights(table, both_places[other], n_next, stride)
        _sum_weights(table, places, values, n, z)
        share = multiply(strength, fill(weights[r]))
        step = divide(one, add(one, multiply(share, fill(_HALF * _squared_length(values, n)))))
        back = subtract(fill(_ZERO), multiply(share, step))
        dual = np.uint64(r * stride)
        if n_vectors == 1:
            raised = multiply(fill(-_TWO), load(z, _START))
            raised = add(raised, fill(offsets[0] - offsets[1]))
            # No larger than its highest, by way of the signs.
            raised = subtract(fill(_ZERO), larger(subtract(fill(_ZERO), raised), fill(-_HIGHEST)))
            probability = divide(one, add(one, exponential(raised)))
            apart = subtract(probability, load(duals, dual))
            store(duals, dual, add(load(duals, dual), multiply(step, apart)))
            store(z, _START, multiply(back, apart))
        else:
            top = fill(_LOWEST)
            for k in range(n_vectors):
                place = np.uint64(WIDTH * k)
                margin = add(load(z, place), fill(offsets[k]))
                store(z, place, margin)
                top = larger(top, margin)
            total = fill(_ZERO)
            for k in range(n_vectors):
                place = np.uint64(WIDTH * k)
                raised = exponential(subtract(load(z, place), top))
                store(z, place, raised)
                total = add(total, raised)
            inverse = divide(one, total)
            for k in range(n_vectors):
                place = np.uint64(WIDTH * k)
                apart = subtract(multiply(load(z, place), inverse), load(duals, dual + place))
                store(duals, dual + place, add(load(duals, dual + place), multiply(step, apart)))
                store(z, place, multiply(back, apart))
        _add_step(table, places, values, n, z)


@compiled
def ascend_classes(
    rows_of: Any,
    widths: NDArray[np.int64],
    firsts: NDArray[np.int64],
    longest: int,
    rows: NDArray[np.int64],
    order: NDArray[np.int64],
    weights: NDArray[np.float32],
    offsets: NDArray[np.float32],
    strength: np.float32,
    table: NDArray[np.float32],
    duals: NDArray[np.float32],
) -> None:
    """One pass over some rows for one penalty, eight classes at once; arguments as those of `ascend_penalties`.

    Args:
        rows_of: Columns, starts and sizes of `ProbeFeatures`.
        widths: Columns of each block, (B,).
        firsts: Where each block's columns begin in the table, and the constant's row, (B + 1,).
        longest: Entries that a row has at most.
        rows: Rows of the features, (n,).
        order: In which the rows are visited: positions in `rows`.
        weights: Of the rows, (n,).
        offsets: Added to the margins, (K,).
        strength: 1 / penalty.
        table: Weights, changed in place, (columns + 1, P) in one piece; P is K or the next multiple of 8, and what is
            beyond K stays 0.
        duals: q of `softmax_regression`, changed in place, (n, P) in one piece.
    """
    n_classes = offsets.size
    stride = (n_classes + WIDTH - 1) // WIDTH * WIDTH
    z = np.empty(stride, np.float32)
    both_places = np.empty((2, longest + 1), np.uint64)
    both_values = np.empty((2, longest + 1), np.float32)
    n_next = _gather(rows[order[0]], rows_of, widths, firsts, stride, both_places[0], both_values[0])
    for at in range(order.size):
        r = order[at]
        n = n_next
        places, values = both_places[at & 1], both_values[at & 1]
        _fetch_row(at, rows_of, rows, order, stride, duals)
        if at + 1 < order.size:
            other = (at + 1) & 1
            row = rows[order[at + 1]]
            n_next = _gather(row, rows_of, widths, firsts, stride, both_places[other], both_values[other])
            _fetch_weights(table, both_places[other], n_next, stride)
        _sum_weights(table, places, values, n, z)
        top = _LOWEST
        for k in range(n_classes):
            z[k] += offsets[k]
            top = max(top, z[k])
        for k in range(0, stride, WIDTH):
            place = np.uint64(k)
            store(z, place, exponential(subtract(load(z, place), fill(top))))
        total = _ZERO
        for k in range(n_classes):
            total += z[k]
        for k in range(n_classes, stride):
            z[k] = _ZERO
        share = strength * weights[r]
        step = _ONE / (_ONE + share * _HALF * _squared_length(values, n))
        inverse = fill(_ONE / total)
        steps, back = fill(step), fill(-share * step)
        dual = np.uint64(r * stride)
        for k in range(0, stride, WIDTH):
            place = np.uint64(k)
            apart = subtract(multiply(load(z, place), inverse), load(duals, dual + place))
            store(duals, dual + place, add(load(duals, dual + place), multiply(steps, apart)))
            store(z, place, multiply(back, apart))
        _add_step(table, places, values, n, z)


@compiled
def sum_rows(
    rows_of: Any,
    widths: NDArray[np.int64],
    firsts: NDArray[np.int64],
    longest: int,
    rows: NDArray[np.int64],
    stride: int,
    table: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Sums of the table's rows over each row's features, times their values, (n, stride)."""
    sums = np.empty((rows.size, stride), np.float32)
    places = np.empty(longest + 1, np.uint64)
    values = np.empty(longest + 1, np.float32)
    for r in range(rows.size):
        n = _gather(rows[r], rows_of, widths, firsts, stride, places, values)
        _sum_weights(table, places, values, n, sums[r])
    return sums
