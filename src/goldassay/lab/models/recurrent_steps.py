"""What an LSTM does between its matrix products, each step of all directions in one compiled pass.

Arrays of D directions; tokens in the order of the steps, those of step s from `starts[s]` to `starts[s + 1]`, so that
row r of each step is the same text. Gates stand side by side in torch's order i, f, g, o. Numbers of 16 bits are handed
over as uint16. Loops are short and write to one row each, since only such are compiled to vector instructions.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.extending import overload

# Division by 0 gives infinity, as in numpy: the check for it would keep loops from becoming vector instructions.
_compiled = numba.njit(fastmath=True, error_model="numpy", nogil=True, cache=True)


@_compiled
def gather(vectors: Any, orders: Any, inputs: Any, states: Any, end: Any, first: Any) -> None:
    """Put each token's vector where its step needs it; the first step has no states before it, filling is 0."""
    width = vectors.shape[1]
    for d in range(orders.shape[0]):
        for p in range(orders.shape[1]):
            if p < end:
                _write(vectors[orders[d, p]], inputs[d, p, :width])
                if p < first:
                    inputs[d, p, width:] = 0
            else:
                inputs[d, p, :] = 0
                states[d, p] = 0


@_compiled
def step_forwards(
    product: Any, bias: Any, gates: Any, cells: Any, inputs: Any, states: Any, starts: Any, step: Any
) -> None:
    """From a step's product to its gates, its cells c = f c' + i g, and its states h = o tanh(c).

    The states are written beside the inputs of the next step too, where that has the text.
    """
    start, end = starts[step], starts[step + 1]
    on = starts[step + 2] - end if step + 2 < starts.size else 0
    units = cells.shape[2]
    width = inputs.shape[2] - units
    half = np.float32(0.5)
    work = np.empty(4 * units, np.float32)
    i, f, g, o = work[:units], work[units : 2 * units], work[2 * units : 3 * units], work[3 * units :]
    for d in range(cells.shape[0]):
        of_if, of_g, of_o = bias[d, : 2 * units], bias[d, 2 * units : 3 * units], bias[d, 3 * units :]
        for r in range(end - start):
            c, h = cells[d, start + r], states[d, start + r]
            _read(product[d, r], work)
            for j in range(2 * units):
                work[j] = half + half * _tanh(half * (work[j] + of_if[j]))
            for j in range(units):
                g[j] = _tanh(g[j] + of_g[j])
            for j in range(units):
                o[j] = half + half * _tanh(half * (o[j] + of_o[j]))
            _write(work, gates[d, start + r])
            if step:
                before = cells[d, starts[step - 1] + r]
                for j in range(units):
                    c[j] = f[j] * before[j] + i[j] * g[j]
            else:
                for j in range(units):
                    c[j] = i[j] * g[j]
            for j in range(units):
                h[j] = o[j] * _tanh(c[j])
            if r < on:
                _write(h, inputs[d, end + r, width:])


@_compiled
def step_backwards(
    product: Any,
    gates: Any,
    cells: Any,
    of_states: Any,
    of_cells: Any,
    of_vectors: Any,
    of_bias: Any,
    orders: Any,
    starts: Any,
    step: Any,
) -> None:
    """From the gradients at a step's states and cells to those before its gates' functions.

    `product` holds the gradients at the inputs of the step after it and at this step's states through them; the former
    are added to `of_vectors` on the way. What is found takes the gates' place. `of_cells` goes from the step's cells to
    those before it.
    """
    start, end = starts[step], starts[step + 1]
    on = starts[step + 2] - end if step + 2 < starts.size else 0
    units, width = cells.shape[2], of_vectors.shape[1]
    one = np.float32(1)
    work, found = np.empty(4 * units, np.float32), np.empty(4 * units, np.float32)
    i, f, g, o = work[:units], work[units : 2 * units], work[2 * units : 3 * units], work[3 * units :]
    di, df, dg, do = found[:units], found[units : 2 * units], found[2 * units : 3 * units], found[3 * units :]
    v, t, none = np.empty(units, np.float32), np.empty(units, np.float32), np.zeros(units, np.float32)
    add_gradients(product, of_vectors, orders, end, end + on)
    for d in range(cells.shape[0]):
        sums = of_bias[d]
        for r in range(end - start):
            above, c, dc = of_states[d, start + r], cells[d, start + r], of_cells[d, r]
            before = cells[d, starts[step - 1] + r] if step else none
            _read(gates[d, start + r], work)
            if r < on:
                _read(product[d, r, width:], v)
                for j in range(units):
                    v[j] += above[j]
            else:
                for j in range(units):
                    v[j] = above[j]
            for j in range(units):
                t[j] = _tanh(c[j])
            for j in range(units):
                do[j] = v[j] * t[j] * o[j] * (one - o[j])
            for j in range(units):
                dc[j] += v[j] * o[j] * (one - t[j] * t[j])
            for j in range(units):
                di[j] = dc[j] * g[j] * i[j] * (one - i[j])
            for j in range(units):
                df[j] = dc[j] * before[j] * f[j] * (one - f[j])
            for j in range(units):
                dg[j] = dc[j] * i[j] * (one - g[j] * g[j])
            for j in range(units):
                dc[j] *= f[j]
            _write(found, gates[d, start + r])
            for j in range(4 * units):
                sums[j] += found[j]


@_compiled
def add_gradients(product: Any, of_vectors: Any, orders: Any, start: Any, end: Any) -> None:
    """Add the gradients at a step's inputs to those at the tokens' vectors."""
    width = of_vectors.shape[1]
    work = np.empty(width, np.float32)
    for d in range(orders.shape[0]):
        for r in range(end - start):
            _read(product[d, r, :width], work)
            to = of_vectors[orders[d, start + r]]
            for j in range(width):
                to[j] += work[j]


@_compiled
def find_maxima(states: Any, starts: Any, best: Any, at: Any) -> None:
    """The largest state of each text and unit, and the first step that has it."""
    for d in range(states.shape[0]):
        for step in range(starts.size - 1):
            number = np.int32(step)
            for r in range(starts[step + 1] - starts[step]):
                h, most, where = states[d, starts[step] + r], best[d, r], at[d, r]
                if step == 0:
                    most[:] = h
                    where[:] = 0
                for j in range(h.size):
                    higher = h[j] > most[j]
                    most[j] = h[j] if higher else most[j]
                    where[j] = number if higher else where[j]


@_compiled
def spread_maxima(of_best: Any, starts: Any, at: Any, of_states: Any) -> None:
    """The gradients at all states from those at the largest."""
    nothing = np.float32(0)
    for d in range(of_states.shape[0]):
        for step in range(starts.size - 1):
            number = np.int32(step)
            for r in range(starts[step + 1] - starts[step]):
                to, most, where = of_states[d, starts[step] + r], of_best[d, r], at[d, r]
                for j in range(to.size):
                    to[j] = most[j] if where[j] == number else nothing


@_compiled
def _tanh(x: Any) -> Any:
    """Within 3e-7: an odd polynomial over an even one, its ends held where tanh is 1 in 32 bits.

    The coefficients are those of the minimax fraction of degree 13 over 6 that numeric libraries share.
    """
    end = np.float32(7.90531110763549805)
    x = min(end, x)
    x = max(-end, x)
    s = x * x
    above = np.float32(-2.76076847742355e-16)
    above = above * s + np.float32(2.00018790482477e-13)
    above = above * s + np.float32(-8.60467152213735e-11)
    above = above * s + np.float32(5.12229709037114e-08)
    above = above * s + np.float32(1.48572235717979e-05)
    above = above * s + np.float32(6.37261928875436e-04)
    above = above * s + np.float32(4.89352455891786e-03)
    below = np.float32(1.19825839466702e-06)
    below = below * s + np.float32(1.18534705686654e-04)
    below = below * s + np.float32(2.26843463243900e-03)
    below = below * s + np.float32(4.89352518554385e-03)
    return x * above / below


def _read(row: Any, out: Any) -> None:
    """A row of 16 or 32 bits as 32 bits; compiled code only."""


def _write(row: Any, out: Any) -> None:
    """A row of 32 bits as 16, to the nearest and of two the even one, or as 32; compiled code only."""


@overload(_read, jit_options={"fastmath": True})
def _read_as(row: Any, out: Any) -> Any:  # noqa: ARG001
    if row.dtype == numba.uint16:
        return _widen
    return _copy


@overload(_write, jit_options={"fastmath": True})
def _write_as(row: Any, out: Any) -> Any:  # noqa: ARG001
    if out.dtype == numba.uint16:
        return _narrow
    return _copy


def _copy(row: Any, out: Any) -> None:
    for j in range(row.size):
        out[j] = row[j]


def _widen(row: Any, out: Any) -> None:
    for j in range(row.size):
        out[j] = np.uint32(np.uint32(row[j]) << np.uint32(16)).view(np.float32)


def _narrow(row: Any, out: Any) -> None:
    for j in range(row.size):
        bits = np.float32(row[j]).view(np.uint32)
        rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
        out[j] = np.uint16(np.uint32(rounded) >> np.uint32(16))
