"""One training on several GPUs: the processes that `accelerate launch` or `torchrun` starts share every batch.

Each process takes its part of a batch, gradients are summed, and all make the same step, so that weights stay equal;
the first one alone evaluates and writes. The batch is the recipe's, however many share it, and what is learnt differs
by the order of sums and by what dropout draws. What an objective reports of the training rows is of the first one's.

Gradients are summed here rather than by torch's DistributedDataParallel: that one watches calls of a whole network,
while objectives also call its parts, and it cannot add up the sparse gradients of tables of vectors on GPUs.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar, cast

from goldassay.core.errors import GoldassayError, InputError, TrainingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy as np
    from accelerate import Accelerator
    from numpy.typing import NDArray
    from torch import Tensor, nn


T = TypeVar("T")


def launched() -> bool:
    """Whether this process is one of several that a launcher started."""
    return "RANK" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1


def leads() -> bool:
    """Whether this process is the one that writes and speaks."""
    return not launched() or int(os.environ["RANK"]) == 0


class Team:
    """The processes of a training; one alone where nothing was launched.

    Args:
        accelerator: Of this process.
    """

    def __init__(self, accelerator: Accelerator) -> None:
        self.size, self.place = accelerator.num_processes, accelerator.process_index
        self.leads = self.place == 0

    def part(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], float]:
        """The rows of a batch that are this process's, and which share of the batch they are.

        A process for which none are left takes one whose share is 0, so that all do the same.
        """
        mine = rows[self.place :: self.size]
        return (mine, mine.size / rows.size) if mine.size else (rows[:1], 0.0)

    def sum_up(self, parameters: Sequence[nn.Parameter], loss: Tensor) -> Tensor:
        """Replace gradients by their sums over all processes, and give that of a loss, ()."""
        if self.size == 1:
            return loss
        import torch
        from torch import distributed

        # 0 none, 1 dense, 2 sparse: a process whose rows do not touch a weight must still take part in its sum.
        kinds = [0 if each.grad is None else 2 if each.grad.is_sparse else 1 for each in parameters]
        common = torch.tensor(kinds, device=loss.device)
        distributed.all_reduce(common, distributed.ReduceOp.MAX)
        dense = []
        for parameter, kind in zip(parameters, common.tolist(), strict=True):
            if kind == 1:
                parameter.grad = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
                dense.append(parameter.grad)
            elif kind == 2:
                self._sum_rows(parameter)
        flat = torch.cat([loss.reshape(1), *(gradient.reshape(-1) for gradient in dense)])
        distributed.all_reduce(flat)
        total, *sums = flat.split([1, *(gradient.numel() for gradient in dense)])
        for gradient, summed in zip(dense, sums, strict=True):
            gradient.copy_(summed.view_as(gradient))
        return total[0]

    def _sum_rows(self, parameter: nn.Parameter) -> None:
        import torch

        if parameter.grad is None:
            rows, values = torch.zeros(0, dtype=torch.int64, device=parameter.device), parameter.detach()[:0]
        else:
            gradient = parameter.grad.coalesce()
            rows, values = gradient.indices()[0], gradient.values()
        rows, values = _joined(rows, values)
        parameter.grad = torch.sparse_coo_tensor(rows[None], values, parameter.shape, check_invariants=False).coalesce()

    def gathered(self, rows: NDArray[np.int64], values: Tensor) -> Tensor:
        """What belongs to the rows of a batch, in their order, of what each process has of its part."""
        if self.size == 1:
            return values
        from accelerate.utils import gather
        from torch.nn.functional import pad

        # How much each has is known without being asked for: the first has the most, one without rows a row too many.
        most = -(-len(rows) // self.size)
        parts = gather(pad(values, (0, 0, 0, most - len(values)))).view(self.size, most, -1)
        return parts.transpose(0, 1).flatten(0, 1)[: len(rows)]

    def told(self, make: Callable[[], T]) -> T:
        """What the first process makes, given to all; the others wait."""
        if self.size == 1:
            return make()
        from accelerate.utils import broadcast_object_list

        box: list[T | None] = [make() if self.leads else None]
        broadcast_object_list(box, from_process=0)
        return cast("T", box[0])

    def check_same(self, step: int) -> None:
        """Refuse to go on from different steps.

        Raises:
            InputError: The processes do not see the same files.
        """
        if self.size == 1:
            return
        from accelerate.utils import gather_object

        if len(set(gather_object([step]))) > 1:
            raise InputError("the processes do not see the same checkpoint", mend="use a folder that all of them share")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """While the first process works alone: the others cannot know that a training failed then, so all ends.

        Raises:
            GoldassayError: In place of a TrainingError, which lets other jobs go on.
        """
        try:
            yield
        except TrainingError as error:
            if self.size == 1:
                raise
            raise GoldassayError(str(error)) from error


def _joined(rows: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Rows and values of all processes, in their order; of each as many as it has."""
    from accelerate.utils import gather, pad_across_processes

    rows = gather(pad_across_processes(rows, pad_index=-1))
    values = gather(pad_across_processes(values))
    return rows[rows >= 0], values[rows >= 0]
