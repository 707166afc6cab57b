"""The features of rows as a table of weights wants them: row after row, which of its lines, and what to multiply it by.

`ProbeFeatures` has columns block by block, without values, for the probes of some texts and of all. To take a row's
apart costs as much as a visit of a regression to it does, so that of rows that are visited again and again it is
done once.

The compiled loops of `softmax_regression`: passes of dual coordinate ascent, and the margins of rows.

A row's features are the entries of `row_entries`: lines of the table of weights, and values. The next row to visit is
not known to the processor before, and is asked for some visits ahead; lines of the table some entries ahead.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.readers.lanes import (
    WIDTH,
    add,
    address,
    behind,
    divide,
    exponential,
    fetch,
    fill,
    first,
    larger,
    load,
    multiply,
    number,
    store,
    subtract,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from goldassay.readers.probe_features import ProbeFeatures

    Entries = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32], NDArray[np.float32]]

# Entries that are kept for all passes of a fit (64 MiB) and for all folds (512 MiB), and that are gathered at once
# where there are more (4 MiB).
KEPT_ENTRIES, SHARED_ENTRIES, ENTRIES_AT_ONCE = 1 << 23, 1 << 26, 1 << 19
# Entries behind the last one, for loops that look ahead.
AHEAD = 16

# Square roots and quotients of small whole numbers took a third of the time of short rows.
_INVERSE_ROOTS = np.ones(1024, dtype=np.float32)
_INVERSE_ROOTS[1:] = 1 / np.sqrt(np.arange(1, 1024, dtype=np.float64))


def gather(features: ProbeFeatures, widths: NDArray[np.int64], rows: NDArray[np.int64]) -> Entries:
    """Entries of some rows, 8 bytes each; the constant is one more feature, each row's last and the table's last line.

    Args:
        features: Of all rows.
        widths: How many columns of each block are used, (B,).
        rows: Which, (n,).

    Returns:
        Where each row's entries begin, and where the last one's end, (n + 1,); the line of the table of each, and what
        to multiply it by, (entries,) and `AHEAD` more; the sum of each row's squared values, (n,).
    """
    firsts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    found: Entries = _gather(features.columns, features.starts, features.sizes, widths, firsts, rows)
    return found


def in_parts(
    features: ProbeFeatures, widths: NDArray[np.int64], rows: NDArray[np.int64]
) -> Iterator[tuple[slice, Entries]]:
    """Entries of some rows, stretch after stretch, of so many rows that memory is bounded."""
    ends = np.cumsum(count_entries(features.sizes, widths, rows))
    bounds = np.searchsorted(ends, np.arange(0, ends[-1:].sum(), ENTRIES_AT_ONCE))
    for begin, end in pairwise([*bounds.tolist(), rows.size]):
        if begin < end:
            yield slice(begin, end), gather(features, widths, rows[begin:end])


@compiled
def count_entries(sizes: NDArray[np.int32], widths: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many entries each row has at most, the constant among them, (n,)."""
    counts = np.ones(rows.size, np.int64)
    for b in range(widths.size):
        if widths[b] > 0:
            for r in range(rows.size):
                counts[r] += sizes[rows[r], b]
    return counts


@compiled
def _gather(
    columns: NDArray[np.int32],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int32],
    widths: NDArray[np.int64],
    firsts: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> Entries:
    most = count_entries(sizes, widths, rows).sum()
    begins = np.empty(rows.size + 1, np.int64)
    lines = np.empty(most + AHEAD, np.uint32)
    values = np.empty(most + AHEAD, np.float32)
    squares = np.empty(rows.size, np.float32)
    n = 0
    for r in range(rows.size):
        i = rows[r]
        begins[r] = n
        begin = starts[i]
        total = _ZERO
        for b in range(widths.size):
            size = sizes[i, b]
            if widths[b] > 0 and size > 0:
                value = (
                    _INVERSE_ROOTS[size] if size < _INVERSE_ROOTS.size else _ONE / np.float32(np.sqrt(np.float32(size)))
                )
                for at in range(begin, begin + size):
                    if columns[at] < widths[b]:
                        lines[n] = np.uint32(columns[at] + firsts[b])
                        values[n] = value
                        n += 1
                        total += value * value
            begin += size
        lines[n] = np.uint32(firsts[widths.size])
        values[n] = _ONE
        squares[r] = total + _ONE
        n += 1
    begins[rows.size] = n
    lines[n : n + AHEAD] = 0
    return begins, lines, values, squares


_ZERO, _ONE, _HALF, _TWO, _HIGHEST = (np.float32(value) for value in (0, 1, 0.5, 2, 87))
_LOWEST = np.float32(-1e30)
_START, _LANES, _LANES_2, _LANES_3 = (np.uint64(times * WIDTH) for times in range(4))
_AHEAD = np.uint64(AHEAD)
# Visits ahead, and numbers of 4 bytes in a line of the caches.
_NEAR, _LINE = 4, np.uint64(16)


@compiled_within
def _fetch_row(entries: Any, begin: np.uint64, end: np.uint64, duals: Any, dual: np.uint64, stride: np.uint64) -> None:
    """Ask for what a later visit will read: rows are visited at random, and memory answers late."""
    lines, values = entries
    for x in range(begin, end, _LINE):
        fetch(lines, x)
        fetch(values, x)
    for k in range(dual, dual + stride, _LINE):
        fetch(duals, k)


@compiled_within
def _sum_lines(table: Any, entries: Any, begin: np.uint64, end: np.uint64, stride: np.uint64, z: Any) -> None:
    """Set z to the sum of values times the table's lines; z is as long as a line."""
    lines, values = entries
    # Sums of one to three vectors stay in registers.
    if stride == _LANES:
        a = fill(_ZERO)
        for x in range(begin, end):
            fetch(table, np.uint64(number(lines, x + _AHEAD)) * _LANES)
            line = np.uint64(number(lines, x)) * _LANES
            a = add(a, multiply(fill(number(values, x)), load(table, line)))
        store(z, _START, a)
    elif stride == _LANES_3:
        a = fill(_ZERO)
        b = fill(_ZERO)
        c = fill(_ZERO)
        for x in range(begin, end):
            ahead = np.uint64(number(lines, x + _AHEAD)) * _LANES_3
            fetch(table, ahead)
            fetch(table, ahead + _LANES_2)
            line = np.uint64(number(lines, x)) * _LANES_3
            value = fill(number(values, x))
            a = add(a, multiply(value, load(table, line)))
            b = add(b, multiply(value, load(table, line + _LANES)))
            c = add(c, multiply(value, load(table, line + _LANES_2)))
        store(z, _START, a)
        store(z, _LANES, b)
        store(z, _LANES_2, c)
    else:
        for k in range(_START, stride, _LANES):
            store(z, k, fill(_ZERO))
        for x in range(begin, end):
            line = np.uint64(number(lines, x)) * stride
            value = fill(number(values, x))
            for k in range(_START, stride, _LANES):
                store(z, k, add(load(z, k), multiply(value, load(table, line + k))))


@compiled_within
def _sum_entries(table: Any, entries: Any, begin: np.uint64, end: np.uint64) -> Any:
    """The sum of values times the numbers of a table of one number a line."""
    lines, values = entries
    total = _ZERO
    for x in range(begin, end):
        fetch(table, np.uint64(number(lines, x + _AHEAD)))
        total += number(values, x) * number(table, np.uint64(number(lines, x)))
    return total


@compiled_within
def _add_step(table: Any, entries: Any, begin: np.uint64, end: np.uint64, stride: np.uint64, z: Any) -> None:
    """Add values times z to the table's lines."""
    lines, values = entries
    if stride == _LANES:
        a = load(z, _START)
        for x in range(begin, end):
            line = np.uint64(number(lines, x)) * _LANES
            store(table, line, add(load(table, line), multiply(fill(number(values, x)), a)))
    elif stride == _LANES_3:
        a = load(z, _START)
        b = load(z, _LANES)
        c = load(z, _LANES_2)
        for x in range(begin, end):
            line = np.uint64(number(lines, x)) * _LANES_3
            value = fill(number(values, x))
            store(table, line, add(load(table, line), multiply(value, a)))
            store(table, line + _LANES, add(load(table, line + _LANES), multiply(value, b)))
            store(table, line + _LANES_2, add(load(table, line + _LANES_2), multiply(value, c)))
    else:
        for x in range(begin, end):
            line = np.uint64(number(lines, x)) * stride
            value = fill(number(values, x))
            for k in range(_START, stride, _LANES):
                store(table, line + k, add(load(table, line + k), multiply(value, load(z, k))))


@compiled
def ascend_penalties(
    entries: Any,
    places: NDArray[np.int64],
    order: NDArray[np.int64],
    weights: NDArray[np.float32],
    offsets: NDArray[np.float32],
    strengths: NDArray[np.float32],
    table: NDArray[np.float32],
    duals: NDArray[np.float32],
    room: NDArray[np.float32],
) -> None:
    """One pass over some rows for eight penalties at once; with two classes one table serves both, with its sign.

    Args:
        entries: Of rows, see `row_entries.gather`.
        places: Of the rows among those of `entries`, in the order in which they are visited.
        order: The same rows' places in `weights` and `duals`.
        weights: Of the rows, (n,).
        offsets: Added to the margins, (K,).
        strengths: 1 / penalty, (8,).
        table: Weights, changed in place, (columns + 1, C, 8) in one piece, C = 1 for two classes and else K.
        duals: q of `softmax_regression`, changed in place, (n, C, 8) in one piece; of two classes that of the second.
        room: To work in, (C * 8,).
    """
    n_classes = offsets.size
    n_vectors = 1 if n_classes == 2 else n_classes
    stride = np.uint64(WIDTH * n_vectors)
    begins, lines, values, squares = entries
    own, w, q, z = (address(lines), address(values)), address(table), address(duals), address(room)
    strength = load(address(strengths), _START)
    one = fill(_ONE)
    for at in range(order.size):
        if at + _NEAR < order.size:
            row = places[at + _NEAR]
            begin, end = np.uint64(begins[row]), np.uint64(begins[row + 1])
            _fetch_row(own, begin, end, q, np.uint64(order[at + _NEAR]) * stride, stride)
        row, r = places[at], order[at]
        begin, end = np.uint64(begins[row]), np.uint64(begins[row + 1])
        _sum_lines(w, own, begin, end, stride, z)
        share = multiply(strength, fill(weights[r]))
        step = divide(one, add(one, multiply(share, fill(_HALF * squares[row]))))
        back = subtract(fill(_ZERO), multiply(share, step))
        dual = np.uint64(r) * stride
        if n_vectors == 1:
            raised = multiply(fill(-_TWO), load(z, _START))
            raised = add(raised, fill(offsets[0] - offsets[1]))
            # No larger than its highest, by way of the signs.
            raised = subtract(fill(_ZERO), larger(subtract(fill(_ZERO), raised), fill(-_HIGHEST)))
            probability = divide(one, add(one, exponential(raised)))
            apart = subtract(probability, load(q, dual))
            store(q, dual, add(load(q, dual), multiply(step, apart)))
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
                apart = subtract(multiply(load(z, place), inverse), load(q, dual + place))
                store(q, dual + place, add(load(q, dual + place), multiply(step, apart)))
                store(z, place, multiply(back, apart))
        _add_step(w, own, begin, end, stride, z)


@compiled
def ascend_classes(
    entries: Any,
    places: NDArray[np.int64],
    order: NDArray[np.int64],
    weights: NDArray[np.float32],
    offsets: NDArray[np.float32],
    strength: np.float32,
    table: NDArray[np.float32],
    duals: NDArray[np.float32],
    room: NDArray[np.float32],
) -> None:
    """One pass over some rows for one penalty, eight of three classes or more; arguments as in `ascend_penalties`.

    Args:
        entries: Of rows, see `row_entries.gather`.
        places: Of the rows among those of `entries`, in the order in which they are visited.
        order: The same rows' places in `weights` and `duals`.
        weights: Of the rows, (n,).
        offsets: Added to the margins, (K,).
        strength: 1 / penalty.
        table: Weights, changed in place, (columns + 1, P) in one piece; P is K or the next multiple of 8, and what is
            beyond K stays 0.
        duals: q of `softmax_regression`, changed in place, (n, P) in one piece.
        room: To work in, (P,).
    """
    n_classes = offsets.size
    n_padded = (n_classes + WIDTH - 1) // WIDTH * WIDTH
    stride = np.uint64(n_padded)
    begins, lines, values, squares = entries
    own, w, q, z = (address(lines), address(values)), address(table), address(duals), address(room)
    for at in range(order.size):
        if at + _NEAR < order.size:
            row = places[at + _NEAR]
            begin, end = np.uint64(begins[row]), np.uint64(begins[row + 1])
            _fetch_row(own, begin, end, q, np.uint64(order[at + _NEAR]) * stride, stride)
        row, r = places[at], order[at]
        begin, end = np.uint64(begins[row]), np.uint64(begins[row + 1])
        _sum_lines(w, own, begin, end, stride, z)
        top = _LOWEST
        for k in range(n_classes):
            room[k] += offsets[k]
            top = max(top, room[k])
        for k in range(0, n_padded, WIDTH):
            place = np.uint64(k)
            store(z, place, exponential(subtract(load(z, place), fill(top))))
        total = _ZERO
        for k in range(n_classes):
            total += room[k]
        for k in range(n_classes, n_padded):
            room[k] = _ZERO
        share = strength * weights[r]
        step = _ONE / (_ONE + share * _HALF * squares[row])
        inverse = fill(_ONE / total)
        steps, back = fill(step), fill(-share * step)
        dual = np.uint64(r) * stride
        for k in range(0, n_padded, WIDTH):
            place = np.uint64(k)
            apart = subtract(multiply(load(z, place), inverse), load(q, dual + place))
            store(q, dual + place, add(load(q, dual + place), multiply(steps, apart)))
            store(z, place, multiply(back, apart))
        _add_step(w, own, begin, end, stride, z)


@compiled
def ascend_two_classes(
    entries: Any,
    places: NDArray[np.int64],
    order: NDArray[np.int64],
    weights: NDArray[np.float32],
    offsets: NDArray[np.float32],
    strength: np.float32,
    table: NDArray[np.float32],
    duals: NDArray[np.float32],
) -> None:
    """One pass over some rows for one penalty and two classes, whose weights differ in sign only.

    Args:
        entries: Of rows, see `row_entries.gather`.
        places: Of the rows among those of `entries`, in the order in which they are visited.
        order: The same rows' places in `weights` and `duals`.
        weights: Of the rows, (n,).
        offsets: Added to the margins, (2,).
        strength: 1 / penalty.
        table: The second class's weights, changed in place, (columns + 1,).
        duals: The second class's q of `softmax_regression`, changed in place, (n,).
    """
    begins, lines, values, squares = entries
    own, w, q = (address(lines), address(values)), address(table), address(duals)
    apart_offsets = offsets[0] - offsets[1]
    for at in range(order.size):
        if at + _NEAR < order.size:
            row = places[at + _NEAR]
            begin, end = np.uint64(begins[row]), np.uint64(begins[row + 1])
            _fetch_row(own, begin, end, q, np.uint64(order[at + _NEAR]), np.uint64(1))
        row, r = places[at], order[at]
        begin, end = np.uint64(begins[row]), np.uint64(begins[row + 1])
        raised = min(apart_offsets - _TWO * _sum_entries(w, own, begin, end), _HIGHEST)
        probability = _ONE / (_ONE + first(exponential(fill(raised))))
        share = strength * weights[r]
        step = _ONE / (_ONE + share * _HALF * squares[row])
        apart = probability - duals[r]
        duals[r] += step * apart
        moved = -share * step * apart
        for x in range(begin, end):
            table[lines[x]] += values[x] * moved


@compiled
def sum_rows(entries: Any, table: NDArray[np.float32], sums: NDArray[np.float32]) -> None:
    """Set sums to those of the table's lines over each row's entries, times their values, (n, stride)."""
    begins, lines, values, _ = entries
    own, w, found = (address(lines), address(values)), address(table), address(sums)
    stride = np.uint64(sums.shape[1])
    if stride == 1:
        for r in range(sums.shape[0]):
            sums[r, 0] = _sum_entries(w, own, np.uint64(begins[r]), np.uint64(begins[r + 1]))
        return
    for r in range(sums.shape[0]):
        _sum_lines(w, own, np.uint64(begins[r]), np.uint64(begins[r + 1]), stride, behind(found, np.uint64(r) * stride))
