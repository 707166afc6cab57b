"""How much of a GPU's memory a job needs."""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from goldassay.training.job import Job

# What a process takes before it has made a single tensor: the driver's context and the libraries' kernels.
_CONTEXT = 700 * 2**20
# Pieces of memory given back and asked for again do not fit without gaps; records are made of other shapes.
_MARGIN = 1.15


def need_of(job: Job) -> int:
    """Bytes of a GPU that a job needs, by trying what it will do at its largest.

    A step on the longest rows and a pass over the longest rows of each test set, in memory alone: nothing is written,
    and the network is thrown away. What torch has then reserved at most, with a margin, and what the process itself
    takes.

    Raises:
        InputError: The job cannot be done as it is.
    """
    import torch

    from goldassay.training.running import open_job

    torch.cuda.reset_peak_memory_stats()
    running = open_job(job)
    running.loop.try_longest([test.encoded for test in running.tests])
    return int(_MARGIN * torch.cuda.max_memory_reserved()) + _CONTEXT


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
