"""Device and precision, by the accelerate library.

One training on several GPUs: the processes that `accelerate launch` or `torchrun` starts share every batch.

Each process takes its part of a batch, gradients are summed, and all make the same step, so that weights stay equal;
the first one alone evaluates and writes. The batch is the recipe's, however many share it, and what is learnt differs
by the order of sums and by what dropout draws. What an objective reports of the training rows is of the first one's.

Gradients are summed here rather than by torch's DistributedDataParallel: that one watches calls of a whole network,
while objectives also call its parts, and it cannot add up the sparse gradients of tables of vectors on GPUs.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar, cast

from goldassay.core.errors import GoldassayError, InputError, TrainingError, option
from goldassay.core.naming import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np
    from accelerate import Accelerator
    from numpy.typing import NDArray
    from torch import Tensor, nn


DEVICES = ("auto", "cpu", "cuda", "mps")
AUTO = "auto"
PRECISIONS = ("float32", "bfloat16", AUTO)
# What multiplies numbers of 16 bits on processors: of Intel and AMD the first two, of ARM the others.
_MULTIPLIERS = ("amx_bf16", "avx512_bf16", "bf16", "sve_bf16")
_LONGEST_WAIT = timedelta(days=7)
# What NVIDIA's library for matrix products needs to be given before its first product, so that all later ones give the
# same bits again, and the values that torch takes.
_WORKSPACE, _WORKSPACES = "CUBLAS_WORKSPACE_CONFIG", (":4096:8", ":16:8")


def open_accelerator(device: str, precision: str) -> Accelerator:
    """The device and precision that were asked for.

    Of several processes that were launched to share a training each gets a GPU of its own, or they share the processor.

    Args:
        device: "auto" is a GPU if there is one, else the CPU.
        precision: "bfloat16" computes matrix products in 16 bits and keeps weights in 32.

    Raises:
        InputError: There is no such device, or it cannot do that.
    """
    import torch
    from accelerate import Accelerator
    from accelerate.state import AcceleratorState
    from accelerate.utils import InitProcessGroupKwargs

    if device == "cuda" and not torch.cuda.is_available():
        raise InputError(
            "a GPU was asked for, and torch finds none", mend=f"leave out {option('device')}, or install its driver"
        )
    if device == "mps" and not torch.backends.mps.is_available():
        raise InputError("the Mac's GPU was asked for, and torch finds none", mend=f"leave out {option('device')}")
    # Left to itself, NVIDIA's library for recurrent layers multiplies numbers of 32 bits as numbers of 19.
    torch.backends.cudnn.allow_tf32 = False
    # The library keeps device and precision for the whole process; a process here does jobs of both kinds.
    AcceleratorState._reset_state(reset_partial_state=True)
    together = launched()
    return Accelerator(
        # Left to itself, the library lets each of several processes without GPUs train alone.
        cpu=device == "cpu" or (together and not torch.cuda.is_available()),
        mixed_precision="bf16" if precision == "bfloat16" else "no",
        # While one process evaluates and writes the others wait, however long that takes.
        kwargs_handlers=[InitProcessGroupKwargs(timeout=_LONGEST_WAIT)] if together else None,
    )


def multiplies_bfloat16(device: str) -> bool:
    """Whether the device has instructions for matrix products of 16 bits.

    On processors older than AVX-512 torch multiplies them number by number, at a fiftieth of the pace of 32 bits and
    less.

    Args:
        device: One of `DEVICES`.

    Raises:
        MissingDependencyError: The extra `train` is not installed.
    """
    from goldassay.lab.models import require_extra

    require_extra()
    import torch

    if device == "cuda" or (device == AUTO and torch.cuda.is_available()):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device == "mps" or (device == AUTO and torch.backends.mps.is_available()):
        return False
    # Older versions of torch do not tell; then 32 bits are the choice that is never slow.
    known: Mapping[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
    return torch.backends.mkldnn.is_available() and any(known.get(name) for name in _MULTIPLIERS)


def choose_precision(precision: str, device: str) -> str:
    """The precision that is meant: "auto" is "bfloat16" where the device multiplies in it, else "float32"."""
    if precision != AUTO:
        return precision
    return "bfloat16" if multiplies_bfloat16(device) else "float32"


def unasked_precision(device: str) -> str:
    """The precision of plans and studies that do not ask for one.

    "bfloat16" on a GPU that multiplies in it, else "float32": what was trained on a processor goes on as it was begun.
    """
    return "bfloat16" if device in (AUTO, "cuda") and has_gpu("cuda") and multiplies_bfloat16("cuda") else "float32"


def check_choice(device: str, precision: str) -> None:
    """Refuse a device or a precision that there is not.

    Raises:
        InputError: The nearest name is given, or what to do without a GPU.
        MissingDependencyError: The extra `train` is not installed.
    """
    for name, value, known in (("device", device, DEVICES), ("precision", precision, PRECISIONS)):
        if value not in known:
            raise InputError(f"there is no {name} {value!r}", mend=did_you_mean(value, known))
    if device == "cuda" and not has_gpu("cuda"):
        raise InputError(
            "a GPU was asked for, and torch finds none", mend=f"leave out {option('device')}, or install its driver"
        )


def has_gpu(device: str) -> bool:
    """Whether torch finds a GPU of a kind.

    Args:
        device: "cuda" or "mps".

    Raises:
        MissingDependencyError: The extra `train` is not installed.
    """
    from goldassay.lab.models import require_extra

    require_extra()
    import torch

    return bool(torch.backends.mps.is_available() if device == "mps" else torch.cuda.is_available())


@contextmanager
def determinism(asked: bool) -> Iterator[None]:
    """Let torch choose operations that give the same bits each time, if asked, and as before when left.

    Raises:
        InputError: The GPU's library for matrix products does work already that gives other bits each time.
    """
    import torch

    if asked and torch.cuda.is_available():
        if torch.cuda.is_initialized() and _WORKSPACE not in os.environ:
            raise InputError(
                "this process used the GPU before it was asked for the same bits each time",
                mend=f"set {_WORKSPACE}={_WORKSPACES[0]} before it starts",
            )
        found = os.environ.setdefault(_WORKSPACE, _WORKSPACES[0])
        if found not in _WORKSPACES:
            raise InputError(
                f"{_WORKSPACE} is {found}, which does not give the same bits each time",
                mend=f"set it to {' or '.join(_WORKSPACES)}, or unset it",
            )
    # `use_deterministic_algorithms` would set the same and load torch's compiler, which nothing here uses: a third of
    # the time that a process takes to start.
    before = torch.get_deterministic_debug_mode()
    if asked:
        torch.set_deterministic_debug_mode("error")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


@contextmanager
def threads(number: int) -> Iterator[None]:
    """Let torch use so many threads, and as many as before when left.

    Sums are taken apart by threads, so that bits depend on how many there are.
    """
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def is_out_of_memory(error: RuntimeError) -> bool:
    """Whether an error says that a device's memory is full."""
    # Not every device has torch's own error for that.
    return "out of memory" in str(error)


def free_cache() -> None:
    """Give the GPU's memory back that torch keeps for later; the next job may be on another GPU, or much smaller."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        gc.collect()
        torch.cuda.empty_cache()


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
