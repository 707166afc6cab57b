"""A bidirectional LSTM's maximum over time, for training on a processor.

Why not torch's: it pads, and on a processor its recurrent layers use neither larger batches nor 16-bit products well.
Here the tokens of all texts of a batch lie one step after the other without padding (the longest text first, as in a
packed sequence), the maximum is taken on the way, what is left between two matrix products is one compiled pass, and
the gradient of each weight is one product over all steps. Tests hold it against torch's.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from torch import Tensor, nn

# The library that multiplies 16-bit numbers compiles a program for each new shape: there shall be few.
_ROWS, _TOKENS = 32, 256


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

    Where two steps share a maximum, the gradient goes to the first of them; torch would share it out. Under autocast
    the products are of 16 bits, the states and what is summed up of 32.

    Args:
        vectors: Of all tokens, text by text, (T, E), on a processor.
        packed: The arrays of `Packing`, as tensors.
        directions: The LSTM that reads forwards and the one that reads backwards, of one layer each.
    """
    forwards, backwards, starts, places = packed
    kind = torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32
    vectors = vectors.to(kind)
    both = [
        _Maximum.apply(
            vectors.index_select(0, order), starts.tolist(), len(places),
            lstm.weight_ih_l0, lstm.weight_hh_l0, lstm.bias_ih_l0 + lstm.bias_hh_l0,
        )
        for order, lstm in zip((forwards, backwards), directions, strict=True)
    ]  # fmt: skip
    return torch.cat(both, dim=1).index_select(0, places)


class _Maximum(torch.autograd.Function):
    """One direction: tokens in the order of the steps, (T', E); gates in torch's order i, f, g, o."""

    @staticmethod
    def forward(
        ctx: Any, vectors: Tensor, starts: list[int], n: int, of_input: Tensor, of_state: Tensor, bias: Tensor
    ) -> Tensor:
        kind, units = vectors.dtype, of_state.shape[1]
        narrow = kind != torch.float32
        with torch.autocast("cpu", enabled=False):
            came = torch.addmm(bias.to(kind), vectors, of_input.to(kind).t())
            gates = torch.empty_like(came, dtype=torch.float32) if narrow else came
            across = of_state.to(kind).t()
            cells, squashed, states = (torch.empty(len(vectors), units) for _ in range(3))
            states[starts[-1] :] = 0.0
            given = torch.zeros_like(states, dtype=kind) if narrow else states
            best = torch.full((n, units), torch.finfo(torch.float32).min)
            at = torch.zeros((n, units), dtype=torch.int32)
            before = torch.zeros(n, units)
            arrays = [each.numpy() for each in (gates, cells, squashed, states, best, at)]
            for step, (start, end) in enumerate(pairwise(starts)):
                here = gates[start:end]
                if step:
                    last = slice(starts[step - 1], starts[step - 1] + end - start)
                    before = cells[last]
                    torch.add(came[start:end], _times(given, last, across), out=here)
                elif narrow:
                    here.copy_(came[start:end])
                here[:, : 2 * units].sigmoid_()
                here[:, 2 * units : 3 * units].tanh_()
                here[:, 3 * units :].sigmoid_()
                of_step = [each[start:end] for each in arrays[:4]]
                _move_cells(of_step[0], before.numpy(), of_step[1])
                torch.tanh(cells[start:end], out=squashed[start:end])
                _move_states(of_step[0], of_step[2], of_step[3], arrays[4], arrays[5], np.int32(step))
                if narrow:
                    given[start:end] = states[start:end]
            best[starts[1] if len(starts) > 1 else 0 :] = 0.0
        ctx.save_for_backward(vectors, of_input, of_state, gates, cells, squashed, given, at)
        ctx.starts = starts
        return best

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        vectors, of_input, of_state, gates, cells, squashed, given, at = ctx.saved_tensors
        starts: list[int] = ctx.starts
        kind, units = vectors.dtype, of_state.shape[1]
        narrow = kind != torch.float32
        with torch.autocast("cpu", enabled=False):
            across = of_state.to(kind)
            of_best = gradients[0].float().contiguous()
            sent = torch.empty_like(gates, dtype=kind)
            # Of one step where 16 bits are kept of it: what fits into the cache is not written to memory.
            of_gates = torch.empty(len(of_best), 4 * units) if narrow else sent
            of_states, of_cells = torch.zeros_like(of_best), torch.zeros_like(of_best)
            before = np.zeros(of_best.shape, np.float32)
            arrays = [each.numpy() for each in (gates, squashed)]
            running = [each.numpy() for each in (of_states, of_cells, of_best, at)]
            for step in range(len(starts) - 2, -1, -1):
                start, end = starts[step], starts[step + 1]
                previous = cells[starts[step - 1] :][: end - start].numpy() if step else before
                here = of_gates[: end - start] if narrow else of_gates[start:end]
                _move_back(*(each[start:end] for each in arrays), here.numpy(), previous, *running, np.int32(step))
                if narrow:
                    sent[start:end] = here
                if step:
                    of_states[: end - start] = _times(sent, slice(start, end), across)
            sent[starts[-1] :] = 0.0
            # What came into each step but the first: the states of the step before.
            first = starts[1] if len(starts) > 1 else 0
            of_before = np.zeros(len(sent) - first, np.int64)
            for before_it, (start, end) in zip(starts, pairwise(starts[1:]), strict=False):
                of_before[start - first : end - first] = np.arange(before_it, before_it + end - start)
            into = given[torch.from_numpy(of_before)]
            return (
                sent @ of_input.to(kind),
                None,
                None,
                (sent.t() @ vectors).float(),
                (sent[first:].t() @ into).float(),
                sent.sum(0, dtype=torch.float32),
            )


def _times(rows: Tensor, some: slice, weights: Tensor) -> Tensor:
    """The product of some rows; made with a few more, so that there are few shapes."""
    n = some.stop - some.start
    more = min(some.start + n + -n % _ROWS, len(rows))
    return (rows[some.start : more] @ weights)[:n]


# Rows of `gates` are i, f, g and o after their functions; rows of all arrays are texts.


@numba.njit(fastmath=True, nogil=True, cache=True)
def _move_cells(gates: Any, before: Any, cells: Any) -> None:
    """The cells c = f c' + i g."""
    n, units = cells.shape
    for row in range(n):
        i, f, g = gates[row, :units], gates[row, units : 2 * units], gates[row, 2 * units : 3 * units]
        old, new = before[row], cells[row]
        for j in range(units):
            new[j] = f[j] * old[j] + i[j] * g[j]


@numba.njit(fastmath=True, nogil=True, cache=True)
def _move_states(gates: Any, squashed: Any, states: Any, best: Any, at: Any, step: Any) -> None:
    """The states h = o tanh(c), and the largest h so far with its step."""
    n, units = states.shape
    for row in range(n):
        o, t, h = gates[row, 3 * units :], squashed[row], states[row]
        most, where = best[row], at[row]
        for j in range(units):
            h[j] = o[j] * t[j]
        for j in range(units):
            higher = h[j] > most[j]
            most[j] = h[j] if higher else most[j]
            where[j] = step if higher else where[j]


@numba.njit(fastmath=True, nogil=True, cache=True)
def _move_back(
    gates: Any,
    squashed: Any,
    of_gates: Any,
    before: Any,
    of_states: Any,
    of_cells: Any,
    of_best: Any,
    at: Any,
    step: Any,
) -> None:
    """From the gradients at a step's states and cells to those before its gates' functions and at the cells before."""
    n, units = squashed.shape
    one, nothing = np.float32(1), np.float32(0)
    for row in range(n):
        i, f = gates[row, :units], gates[row, units : 2 * units]
        g, o = gates[row, 2 * units : 3 * units], gates[row, 3 * units :]
        di, df = of_gates[row, :units], of_gates[row, units : 2 * units]
        dg, do = of_gates[row, 2 * units : 3 * units], of_gates[row, 3 * units :]
        t, old, dh, dc = squashed[row], before[row], of_states[row], of_cells[row]
        most, where = of_best[row], at[row]
        for j in range(units):
            v = dh[j] + (most[j] if where[j] == step else nothing)
            do[j] = v * t[j] * o[j] * (one - o[j])
            w = dc[j] + v * o[j] * (one - t[j] * t[j])
            di[j] = w * g[j] * i[j] * (one - i[j])
            df[j] = w * old[j] * f[j] * (one - f[j])
            dg[j] = w * i[j] * (one - g[j] * g[j])
            dc[j] = w * f[j]
