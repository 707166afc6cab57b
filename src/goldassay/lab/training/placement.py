"""Which GPU a job goes to: each has one for itself, or several share one while its memory lasts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.core.cores import cores
from goldassay.core.errors import GoldassayError
from goldassay.lab.training.precision import has_gpu

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.lab.training.job import Job

_LIST = (
    "import json, torch; print(json.dumps([torch.cuda.mem_get_info(i)[0] for i in range(torch.cuda.device_count())]))"
)


def find_places(jobs: Sequence[Job], workers: int | None) -> tuple[Gpus, int]:
    """The GPUs of this machine for jobs, and how many processes do them.

    Args:
        jobs: At least one.
        workers: How many processes were asked for. More than there are GPUs share them. Where nobody asked, there is
            one a GPU and the jobs queue for it, or where no job uses one as many as there are cores for their threads;
            on a Mac's GPU one. Where only some jobs use a GPU, the others have the cores that are left.

    Raises:
        GoldassayError: There are GPUs, and they do not answer.
    """
    free = free_memory() if any(takes_gpu(job) for job in jobs) else []
    gpus = Gpus(free, shared=workers is not None and min(workers, len(jobs)) > len(free))
    if workers is not None:
        return gpus, workers
    if any(job.device == "mps" or (job.device == "auto" and has_gpu("mps")) for job in jobs):
        return gpus, 1
    if free and all(takes_gpu(job) for job in jobs):
        return gpus, len(free)
    return gpus, max(1, len(free), cores() // jobs[0].threads)


def takes_gpu(job: Job) -> bool:
    """Whether a job is for a GPU, where there is one."""
    return job.device in ("auto", "cuda")


def kind_of(job: Job) -> str:
    """What a job is but for its seed: its model, training set and condition."""
    return job.name.rpartition("/")[0]


def place(need: int | None, free: Sequence[int], promised: Sequence[Sequence[int]]) -> int | None:
    """The GPU that a job goes to, or None where it has to wait.

    A job whose need is known goes to the GPU with the most room among those where it fits beside what was promised to
    others. One whose need is not known, or larger than every GPU, gets a GPU for itself; the latter the largest, where
    it may yet do, since a need is measured with a margin.

    Args:
        need: Bytes, or None where nobody knows yet.
        free: Of each GPU, bytes before the first job.
        promised: Of each GPU, bytes promised to each job on it.
    """
    room = [memory - sum(jobs) for memory, jobs in zip(free, promised, strict=True)]
    idle = [gpu for gpu, jobs in enumerate(promised) if not jobs]
    if need is None:
        fitting = idle
    elif need > max(free, default=0):
        fitting = [gpu for gpu in idle if free[gpu] == max(free)]
    else:
        fitting = [gpu for gpu, left in enumerate(room) if need <= left]
    return max(fitting, key=lambda gpu: (room[gpu], -gpu), default=None)


@dataclass(eq=False)
class Seat:
    """What a job was given.

    Attributes:
        kind: Of the job.
        gpu: Number of its GPU, or None for a job on the processor.
        promised: Bytes of it.
        weigh: Whether the job is to measure what it needs, before it begins.
    """

    kind: str
    gpu: int | None = None
    promised: int = 0
    weigh: bool = False


class Gpus:
    """The GPUs of this machine, and what of their memory is promised. Jobs that differ in the seed alone need as much.

    Args:
        free: Of each, bytes before the first job; empty where there is none.
        shared: Whether jobs will share them. Then the first job of each kind is measured, and the others of its kind
            wait until that is done; else each job has one for itself.
    """

    def __init__(self, free: Sequence[int], *, shared: bool) -> None:
        self.free, self.shared = tuple(free), shared
        self.seats: list[list[Seat]] = [[] for _ in free]
        self.needs: dict[str, int] = {}

    def seat(self, job: Job) -> Seat | None:
        """A seat for a job; None where it has to wait."""
        kind = kind_of(job)
        if not self.free or not takes_gpu(job):
            return Seat(kind)
        need = self.needs.get(kind)
        if need is None and any(other.weigh and other.kind == kind for seats in self.seats for other in seats):
            return None
        gpu = place(need, self.free, [[other.promised for other in seats] for seats in self.seats])
        if gpu is None:
            return None
        seat = Seat(kind, gpu, self.free[gpu] if need is None else need, weigh=need is None and self.shared)
        self.seats[gpu].append(seat)
        return seat

    def weighed(self, seat: Seat, need: int) -> None:
        """Promise a job, and all others of its kind, what the job was found to need."""
        seat.weigh = False
        seat.promised = self.needs[seat.kind] = need

    def leave(self, seat: Seat) -> None:
        """Take back what was promised to a job."""
        if seat.gpu is not None:
            self.seats[seat.gpu].remove(seat)

    def ran_out(self, seat: Seat) -> bool:
        """Promise more to a kind of job that met a full GPU; False where it had the largest for itself."""
        if seat.gpu is None:
            return False
        whole = self.free[seat.gpu]
        alone = seat.promised >= whole
        if alone and whole == max(self.free):
            return False
        self.needs[seat.kind] = max(self.needs.get(seat.kind, 0), whole + 1 if alone else 2 * seat.promised)
        return True


def free_memory() -> list[int]:
    """Bytes free on each GPU that torch can use.

    Asked in a process of its own: who asks takes some hundred MB on each GPU for as long as it lives.

    Raises:
        GoldassayError: There are GPUs, and they do not answer.
    """
    import torch

    if not torch.cuda.is_available():
        return []
    asked = subprocess.run([sys.executable, "-c", _LIST], capture_output=True, text=True, check=False)
    if asked.returncode:
        said = asked.stderr.strip().splitlines()
        raise GoldassayError(f"the GPUs do not answer ({said[-1][:300] if said else asked.returncode})")
    found: list[int] = json.loads(asked.stdout)
    return found


def visible(gpu: int | None) -> dict[str, str]:
    """What tells a process which GPU is its own: of those that this process sees, one."""
    if gpu is None:
        return {}
    given = [name.strip() for name in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if name.strip()]
    return {"CUDA_VISIBLE_DEVICES": given[gpu] if gpu < len(given) else str(gpu)}
