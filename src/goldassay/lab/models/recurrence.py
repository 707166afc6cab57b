"""LSTMs over texts of different lengths without padding, for training on a processor.

Why not torch's: it pads, and on a processor its recurrent layers use neither larger batches nor 16-bit products well.
Here the tokens of all texts of a batch lie one step after the other without padding (the longest text first, as in a
packed sequence), both directions go side by side, input and state are multiplied at once, what is left between two
products is one compiled pass, and the gradient of all weights is one product over all steps. Tests hold it against
torch's.

Arrays of D directions; tokens in the order of the steps, those of step s from `starts[s]` to `starts[s + 1]`, so that
row r of each step is the same text. Gates stand side by side in torch's order i, f, g, o. Numbers of 16 bits are handed
over as uint16. Loops are short and write to one row each, since only such are compiled to vector instructions.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import torch
from numba.extending import overload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor, nn

# Division by 0 gives infinity, as in numpy: the check for it would keep loops from becoming vector instructions.
_compiled = numba.njit(fastmath=True, error_model="numpy", nogil=True, cache=True)
# The library that multiplies 16-bit numbers compiles a program for each new shape: there shall be few.
_ROWS, _TOKENS = 32, 256


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


@dataclass(frozen=True)
class Packing:
    """Where each token of a batch of N texts with T tokens goes, whose longest has L.

    Attributes:
        forwards: Place among the tokens, text by text, of each token in the order of the steps; filled up with 0 to
            a round length, (T',).
        backwards: The same with each text turned around, (T',).
        starts: Where each step begins in that order, and the end of the last, (L+1,).
        places: Where each text stands when they are sorted by length, (N,).
    """

    forwards: NDArray[np.int64]
    backwards: NDArray[np.int64]
    starts: NDArray[np.int64]
    places: NDArray[np.int64]

    @classmethod
    def of(cls, lengths: NDArray[np.int64]) -> Packing:
        """Of texts that lie one after the other."""
        order = np.argsort(-lengths, kind="stable")
        sizes = lengths[order]
        first = (np.cumsum(lengths) - lengths)[order]
        longest = int(sizes[0]) if sizes.size else 0
        # How many texts are longer than each step's number.
        counts = np.searchsorted(-sizes, -np.arange(longest), side="left")
        starts = np.concatenate(([0], np.cumsum(counts)))
        step = np.repeat(np.arange(longest), counts)
        row = np.arange(starts[-1]) - starts[:-1][step]
        places = np.empty_like(order)
        places[order] = np.arange(order.size)
        more = np.zeros(-starts[-1] % _TOKENS, np.int64)
        forwards = np.concatenate((first[row] + step, more))
        backwards = np.concatenate((first[row] + sizes[row] - 1 - step, more))
        return cls(forwards, backwards, starts, places)


def maximum_over_time(
    vectors: Tensor, packed: tuple[Tensor, Tensor, Tensor, Tensor], directions: Sequence[nn.LSTM]
) -> Tensor:
    """The maximum over time of the states of an LSTM in each direction, (N, 2 units); 0 for an empty text.

    Where two steps share a maximum, the gradient goes to the first of them; torch would share it out.

    Args:
        vectors: Of all tokens, text by text, (T, E), on a processor.
        packed: The arrays of `Packing`, as tensors.
        directions: The LSTM that reads forwards and the one that reads backwards, of one layer each.
    """
    forwards, backwards, starts, places = packed
    best: Tensor = _Maximum.apply(
        packed_states(vectors, (forwards, backwards), starts, directions), starts, len(places)
    )
    return torch.cat(best.index_select(1, places).unbind(), dim=1)


def states_over_time(
    vectors: Tensor, packed: tuple[Tensor, Tensor, Tensor, Tensor], directions: Sequence[nn.LSTM]
) -> Tensor:
    """The states of an LSTM in each direction at all tokens, text by text, (T, 2 units); see `maximum_over_time`."""
    orders, starts = packed[:2], packed[2]
    states = packed_states(vectors, orders, starts, directions)
    places = torch.arange(len(vectors))
    found = [
        each.index_select(0, torch.empty_like(places).scatter_(0, order[: len(places)], places))
        for each, order in zip(states, orders, strict=True)
    ]
    return torch.cat(found, dim=1)


def packed_states(vectors: Tensor, orders: Sequence[Tensor], starts: Tensor, directions: Sequence[nn.LSTM]) -> Tensor:
    """The states of D LSTMs in the order of their steps, (D, T', units); 0 at filling.

    Under autocast products and what is kept for the gradients are of 16 bits, cells, states and sums of 32.

    Args:
        vectors: Of all tokens, text by text, (T, E), on a processor.
        orders: For each LSTM the place among the tokens of each token in the order of its steps, (T',).
        starts: Where each step begins in that order, and the end of the last, (L+1,).
        directions: Of one layer and one direction each.
    """
    weights = [
        weight
        for lstm in directions
        for weight in (lstm.weight_ih_l0, lstm.weight_hh_l0, lstm.bias_ih_l0, lstm.bias_hh_l0)
    ]
    states: Tensor = _States.apply(vectors.float(), torch.stack(tuple(orders)), starts, *weights)
    return states


class _States(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, vectors: Tensor, orders: Tensor, starts: Tensor, *weights: Tensor) -> Tensor:
        kind = torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32
        with torch.autocast("cpu", enabled=False):
            both = torch.stack(
                [torch.cat(pair, dim=1).to(kind) for pair in zip(weights[::4], weights[1::4], strict=True)]
            )
            bias = torch.stack([a + b for a, b in zip(weights[2::4], weights[3::4], strict=True)])
            (n, total), units = orders.shape, both.shape[1] // 4
            at = starts.tolist()
            inputs = torch.empty(n, total, both.shape[2], dtype=kind)
            gates = torch.empty(n, total, 4 * units, dtype=kind)
            cells, states = torch.empty(n, total, units), torch.empty(n, total, units)
            arrays = [_array(each) for each in (bias, gates, cells, inputs, states)]
            gather(_array(vectors), orders.numpy(), arrays[3], arrays[4], at[-1], at[min(1, len(at) - 1)])
            products = _Products(inputs, both.transpose(1, 2), at)
            for step in range(len(at) - 1):
                step_forwards(products.of(step), *arrays, starts.numpy(), step)
        ctx.save_for_backward(orders, starts, both, gates, cells, inputs)
        ctx.n_tokens = len(vectors)
        return states

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        orders, starts, both, gates, cells, inputs = ctx.saved_tensors
        with torch.autocast("cpu", enabled=False):
            n, _, units = cells.shape
            width, at = both.shape[2] - units, starts.tolist()
            # They take the gates' place, which saves fetching as much memory again; torch refuses a second pass.
            gates[:, at[-1] :] = 0
            of_cells = torch.zeros(n, at[min(1, len(at) - 1)], units)
            of_vectors, of_bias = torch.zeros(ctx.n_tokens, width), torch.zeros(n, 4 * units)
            kept = (gates, cells, gradients[0].contiguous(), of_cells, of_vectors, of_bias, orders)
            arrays = [_array(each) for each in kept]
            products = _Products(gates, both, at)
            product = _array(both)
            of_both = _Sums(gates, inputs)
            for step in range(len(at) - 2, -1, -1):
                step_backwards(product, *arrays, starts.numpy(), step)
                product = products.of(step)
                of_both.add(at[step])
            add_gradients(product, _array(of_vectors), orders.numpy(), 0, at[min(1, len(at) - 1)])
        of_weights = []
        for total, of_its_bias in zip(of_both.sums, of_bias, strict=True):
            # Two biases with one gradient, but not one memory: gradients are scaled in place.
            of_weights += [total[:, :width].contiguous(), total[:, width:].contiguous()]
            of_weights += [of_its_bias.clone(), of_its_bias.clone()]
        return of_vectors, None, None, *of_weights


class _Products:
    """Products of each step's rows with weights, (D, rows, width), in one piece of memory.

    Made with a few rows more than the step has, so that there are few shapes.
    """

    def __init__(self, rows: Tensor, weights: Tensor, starts: Sequence[int]) -> None:
        self.rows, self.weights, self.starts = rows, weights, starts
        most = max((end - start for start, end in pairwise(starts)), default=0)
        self._room = torch.empty(len(rows) * (most + _ROWS) * weights.shape[2], dtype=rows.dtype)
        self._shaped: dict[int, tuple[Tensor, Any]] = {}

    def of(self, step: int) -> Any:
        """Of a step, as an array; it holds until the next is asked for."""
        start, end = self.starts[step : step + 2]
        number = min(end - start + -(end - start) % _ROWS, self.rows.shape[1] - start)
        if number not in self._shaped:
            shape = (len(self.rows), number, self.weights.shape[2])
            room = self._room[: shape[0] * shape[1] * shape[2]].view(shape)
            self._shaped[number] = room, _array(room)
        room, array = self._shaped[number]
        torch.bmm(self.rows[:, start : start + number], self.weights, out=room)
        return array


class _Sums:
    """The gradients of the weights, (D, 4 units, width), summed over tokens from the last to the first.

    Some hundred tokens at a time, while they are in the cache: the product reads them by columns, which took ten times
    as long from memory.
    """

    def __init__(self, of_gates: Tensor, inputs: Tensor) -> None:
        self.sums = torch.zeros(len(of_gates), of_gates.shape[2], inputs.shape[2])
        self._of_gates, self._inputs = of_gates, inputs
        self._done = of_gates.shape[1]

    def add(self, start: int) -> None:
        """Add what is known from a token on, in round numbers."""
        start += -start % _TOKENS
        if self._done - start < (2 * _TOKENS if start else 1):
            return
        for total, left, right in zip(self.sums, self._of_gates, self._inputs, strict=True):
            total += left[start : self._done].t() @ right[start : self._done]
        self._done = start


class _Maximum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, starts: Tensor, n_texts: int) -> Tensor:
        best = torch.zeros(states.shape[0], n_texts, states.shape[2])
        at = torch.empty(best.shape, dtype=torch.int32)
        find_maxima(states.numpy(), starts.numpy(), best.numpy(), at.numpy())
        ctx.save_for_backward(starts, at)
        ctx.shape = states.shape
        return best

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        starts, at = ctx.saved_tensors
        of_states = torch.empty(ctx.shape)
        spread_maxima(gradients[0].contiguous().numpy(), starts.numpy(), at.numpy(), of_states.numpy())
        return of_states, None, None


def _array(tensor: Tensor) -> NDArray[Any]:
    """A tensor's own memory; numbers of 16 bits, which numpy lacks, as whole ones."""
    tensor = tensor.detach()
    return (tensor.view(torch.uint16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def on_processor(weights: Tensor) -> bool:
    """Whether weights are numbers of 32 bits on a processor, which is what the compiled passes take."""
    return weights.device.type == "cpu" and weights.dtype == torch.float32
