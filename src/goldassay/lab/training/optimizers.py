"""Optimizers, for dense weights and for tables of vectors of which a step touches few rows.

Ours rather than torch's: those load the compiler when they are made, which takes longer than a desk-size epoch, and
keep dense and sparse weights in different classes. Tests hold them against torch's own.

Gradients of a table's rows, each row once.

Schedules: by what share of its peak the learning rate goes at a step.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numba
import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.adamw import adamw

from goldassay.core.errors import InputError
from goldassay.core.naming import did_you_mean
from goldassay.lab.models.network import on_accelerator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from goldassay.lab.models.configuration import Recipe


@dataclass
class TouchedRows:
    """The rows of a table that a step touches, and the gradient of each.

    Attributes:
        rows: (n,); on an accelerator a row may stand there several times, each time with its whole gradient.
        values: (n, width).
        first: Which of them count in a norm, (n, 1), so that each row does so once; None for all.
    """

    rows: Tensor
    values: Tensor
    first: Tensor | None = None

    @classmethod
    def of(cls, gradient: Tensor) -> TouchedRows:
        """Of a sparse gradient of a table."""
        rows, values = gradient._indices()[0], gradient._values()
        if gradient.is_coalesced():
            return cls(rows, values)
        if on_accelerator(gradient.device):
            return cls._summed(rows, values)

        found = sum_rows(rows.contiguous().numpy(), values.contiguous().numpy(), len(gradient))
        return cls(*map(torch.from_numpy, found))

    @classmethod
    def _summed(cls, rows: Tensor, values: Tensor) -> TouchedRows:
        """Without a count of different rows, for which an accelerator must be waited for."""
        rows, order = torch.sort(rows, stable=True)
        first = torch.cat((torch.ones_like(rows[:1]), (rows[1:] != rows[:-1]).to(rows.dtype)))
        group = first.cumsum(0) - 1
        sums = torch.zeros_like(values).index_add_(0, group, values.index_select(0, order))
        return cls(rows, sums.index_select(0, group), first.unsqueeze(1).to(values.dtype))

    def counted(self) -> Tensor:
        """Gradients of different rows, and 0, as a norm takes them."""
        return self.values if self.first is None else self.values * self.first

    def add(self, table: Tensor, change: Tensor, scale: float = 1.0) -> None:
        """Add a change, (n, width), times a scale to the rows of a table."""
        if self.first is None:
            table.index_add_(0, self.rows, change, alpha=scale)
        else:
            # Equal rows have equal changes: whichever is written last, it is the same.
            table.index_copy_(0, self.rows, table.index_select(0, self.rows).add_(change, alpha=scale))


class Optimizer(ABC):
    """Moves weights along their gradients.

    Args:
        modules: Whose weights; those with `requires_grad` are moved.
        weight_decay: Decoupled from the gradient; of weights with two axes or more, so not of biases and
            normalization layers, and not of tables with sparse gradients.
    """

    decays: ClassVar[bool] = False
    n_moments: ClassVar[int] = 0

    def __init__(self, modules: Iterable[nn.Module], weight_decay: float = 0.0) -> None:
        self.weight_decay = weight_decay
        self.parameters = [p for module in modules for p in module.parameters() if p.requires_grad]
        self.moments = [[torch.zeros_like(p) for p in self.parameters] for _ in range(self.n_moments)]
        self.steps = 0
        # Of tables with sparse gradients, by their places, from the first look at a gradient to the end of the step.
        self._touched: dict[int, TouchedRows] = {}

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Move the weights that have a gradient; of a table with a sparse one, only the rows that it touches."""
        self.steps += 1
        dense: list[int] = []
        sparse: list[int] = []
        for place, parameter in enumerate(self.parameters):
            if parameter.grad is not None:
                (sparse if parameter.grad.is_sparse else dense).append(place)
        if dense:
            self._step_dense(dense, rate)
        for place in sparse:
            self._step_rows(place, self._rows_of(place), rate)
        self._touched.clear()

    def zero_grad(self) -> None:
        """Forget the gradients."""
        self._touched.clear()
        for parameter in self.parameters:
            parameter.grad = None

    def clip(self, largest: float) -> None:
        """Scale all gradients together so that their norm is at most `largest`."""
        values, counted = [], []
        for place, parameter in enumerate(self.parameters):
            if parameter.grad is None:
                continue
            touched = self._rows_of(place) if parameter.grad.is_sparse else None
            values.append(parameter.grad if touched is None else touched.values)
            counted.append(values[-1] if touched is None else touched.counted())
        if not values:
            return
        norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(counted)))
        torch._foreach_mul_(values, (largest / (norm + 1e-6)).clamp(max=1.0))

    def _rows_of(self, place: int) -> TouchedRows:
        """Of a parameter with a sparse gradient; found once a step."""
        if place not in self._touched:
            gradient: Any = self.parameters[place].grad
            self._touched[place] = TouchedRows.of(gradient)
        return self._touched[place]

    def tensors(self) -> dict[str, Tensor]:
        """What it remembers."""
        moments = {f"{m}.{p}": value for m, values in enumerate(self.moments) for p, value in enumerate(values)}
        return moments | {"steps": torch.tensor(self.steps)}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Take back what `tensors` gave."""
        self.steps = int(tensors["steps"])
        for m, values in enumerate(self.moments):
            for p, value in enumerate(values):
                value.copy_(tensors[f"{m}.{p}"])

    def _dense(self, places: Sequence[int]) -> tuple[list[nn.Parameter], list[Tensor]]:
        parameters = [self.parameters[place] for place in places]
        return parameters, [p.grad for p in parameters if p.grad is not None]

    @abstractmethod
    def _step_dense(self, places: Sequence[int], rate: float) -> None: ...

    @abstractmethod
    def _step_rows(self, place: int, touched: TouchedRows, rate: float) -> None: ...


class Adam(Optimizer):
    """Adam with decoupled weight decay; on rows of a table, with moments that do not fade while a row is not seen.

    Source: Kingma and Ba 2015; Loshchilov and Hutter 2019.
    """

    decays: ClassVar[bool] = True
    n_moments: ClassVar[int] = 2
    _FIRST, _SECOND, _EPSILON = 0.9, 0.999, 1e-8

    def _corrections(self) -> tuple[float, float]:
        return 1 - self._FIRST**self.steps, math.sqrt(1 - self._SECOND**self.steps)

    def _step_dense(self, places: Sequence[int], rate: float) -> None:
        # One pass over the memory, where an operation after the other took as long as the rest of a fine-tuning's step.
        of_axes = [[p for p in places if (self.parameters[p].ndim > 1) == several] for several in (True, False)]
        for some, decay in zip(of_axes, (self.weight_decay, 0.0), strict=True):
            if not some:
                continue
            parameters, gradients = self._dense(some)
            first, second = ([moment[place] for place in some] for moment in self.moments)
            # It counts each one's step itself; one fill makes all of them, for which no accelerator is waited for.
            steps = list(torch.full((len(some),), float(self.steps - 1), device=parameters[0].device).unbind())
            adamw(
                parameters, gradients, first, second, [], steps, fused=True, lr=rate, beta1=self._FIRST,
                beta2=self._SECOND, weight_decay=decay, eps=self._EPSILON, amsgrad=False, maximize=False,
            )  # fmt: skip

    def _step_rows(self, place: int, touched: TouchedRows, rate: float) -> None:
        rows, values = touched.rows, touched.values
        first, second = (moment[place] for moment in self.moments)
        some_first = first.index_select(0, rows).lerp_(values, 1 - self._FIRST)
        some_second = second.index_select(0, rows).mul_(self._SECOND).addcmul_(values, values, value=1 - self._SECOND)
        first.index_copy_(0, rows, some_first)
        second.index_copy_(0, rows, some_second)
        of_first, of_second = self._corrections()
        # The epsilon stands where torch's SparseAdam has it: before the correction, unlike in dense Adam.
        change = some_first.div_(some_second.sqrt_().add_(self._EPSILON)).mul_(-rate * of_second / of_first)
        touched.add(self.parameters[place], change)


class Adagrad(Optimizer):
    """Adagrad.

    Source: Duchi, Hazan and Singer 2011.
    """

    n_moments: ClassVar[int] = 1
    _EPSILON = 1e-10

    def _step_dense(self, places: Sequence[int], rate: float) -> None:
        parameters, gradients = self._dense(places)
        sums = [self.moments[0][place] for place in places]
        torch._foreach_addcmul_(sums, gradients, gradients)
        scale = torch._foreach_sqrt(sums)
        torch._foreach_add_(scale, self._EPSILON)
        torch._foreach_addcdiv_(parameters, gradients, scale, -rate)

    def _step_rows(self, place: int, touched: TouchedRows, rate: float) -> None:
        rows, values = touched.rows, touched.values
        sums = self.moments[0][place]
        some = sums.index_select(0, rows).addcmul_(values, values)
        sums.index_copy_(0, rows, some)
        touched.add(self.parameters[place], values / some.sqrt_().add_(self._EPSILON), -rate)


class SGD(Optimizer):
    """Gradient descent, without momentum."""

    def _step_dense(self, places: Sequence[int], rate: float) -> None:
        parameters, gradients = self._dense(places)
        torch._foreach_add_(parameters, gradients, alpha=-rate)

    def _step_rows(self, place: int, touched: TouchedRows, rate: float) -> None:
        touched.add(self.parameters[place], touched.values, -rate)


OPTIMIZERS: Mapping[str, type[Optimizer]] = {"adagrad": Adagrad, "adam": Adam, "sgd": SGD}


def build_optimizer(modules: Iterable[nn.Module], recipe: Recipe) -> Optimizer:
    """The optimizer of a recipe.

    Raises:
        InputError: See `check_optimizer`.
    """
    check_optimizer(recipe)
    return OPTIMIZERS[recipe.optimizer](modules, recipe.weight_decay)


def check_optimizer(recipe: Recipe) -> None:
    """Refuse an unknown optimizer, or weight decay of one that has none.

    Raises:
        InputError: The nearest name is given.
    """
    if recipe.optimizer not in OPTIMIZERS:
        mend = did_you_mean(recipe.optimizer, sorted(OPTIMIZERS))
        raise InputError(f"there is no optimizer {recipe.optimizer!r}", mend=mend)
    if recipe.weight_decay and not OPTIMIZERS[recipe.optimizer].decays:
        raise InputError(f"{recipe.optimizer} has no weight decay", mend="choose optimizer=adam or weight_decay=0")


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


@dataclass(frozen=True)
class Moment:
    """Where in a training a step is.

    Attributes:
        step: Steps done before it.
        total: Steps of the whole training.
        epoch: Epochs done before it.
        dev_scores: After each epoch done, where there is a dev set.
    """

    step: int
    total: int
    epoch: int
    dev_scores: tuple[float, ...] = ()


def factor(schedule: str, warmup: float, moment: Moment) -> float:
    """Share of the peak rate, in [0, 1]; a function of the moment alone, so that nothing has to be remembered.

    Raises:
        InputError: There is no such schedule.
    """
    check_schedule(schedule)
    rising = warmup * moment.total
    if moment.step < rising:
        return (moment.step + 1) / (rising + 1)
    return SCHEDULES[schedule](moment, rising)


def check_schedule(schedule: str) -> None:
    """Refuse an unknown schedule.

    Raises:
        InputError: The nearest one is named.
    """
    if schedule not in SCHEDULES:
        raise InputError(f"there is no schedule {schedule!r}", mend=did_you_mean(schedule, sorted(SCHEDULES)))


def is_spent(schedule: str, rate: float) -> bool:
    """Whether a rate is so low that the schedule ends the training: below 1e-5 for "dev_drops"."""
    return schedule == "dev_drops" and rate < 1e-5


def _constant(moment: Moment, rising: float) -> float:  # noqa: ARG001
    return 1.0


def _linear(moment: Moment, rising: float) -> float:
    return max(0.0, (moment.total - moment.step) / max(1.0, moment.total - rising))


def _cosine(moment: Moment, rising: float) -> float:
    done = (moment.step - rising) / max(1.0, moment.total - rising)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, done)))


def _dev_drops(moment: Moment, rising: float) -> float:  # noqa: ARG001
    """.99 an epoch, and a fifth whenever the dev score is not above the best before (Conneau et al. 2017)."""
    drops = sum(score <= max(moment.dev_scores[:epoch]) for epoch, score in enumerate(moment.dev_scores) if epoch > 0)
    return float(0.99**moment.epoch * 0.2**drops)


SCHEDULES: Mapping[str, Callable[[Moment, float], float]] = {
    "constant": _constant,
    "linear": _linear,
    "cosine": _cosine,
    "dev_drops": _dev_drops,
}
