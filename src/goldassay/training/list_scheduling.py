"""When jobs begin and end: the order in which `workers.run_jobs` does them, played through with known durations."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.core.cores import cores
from goldassay.training.placement import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.training.job import Job
    from goldassay.training.placement import Gpus, Seat


@dataclass(frozen=True)
class Turn:
    """When a job is done.

    Attributes:
        begin: Seconds after the first job begins.
        end: The same.
    """

    begin: float
    end: float


@dataclass
class _Running:
    begin: float
    seat: Seat
    # Seconds of work with a GPU, or cores, for itself.
    left: float
    threads: int


def list_schedule(
    jobs: Sequence[Job], seconds: Sequence[float], gpus: Gpus, workers: int, needs: Mapping[str, int]
) -> list[Turn]:
    """When each job begins and ends, in the order of the jobs.

    List scheduling: whenever a process is free, it takes the first job for which there is room, as the processes of
    `workers` do. k jobs on one GPU take turns, and so each goes on at 1 / k of its pace; jobs on processors whose
    threads are more than the cores share these alike.

    Args:
        jobs: N jobs.
        seconds: Of each, (N,), with a GPU, or cores, for itself.
        gpus: Those of the machine, without jobs.
        workers: Processes.
        needs: Bytes of a GPU by kind of job (`placement.kind_of`); needed where GPUs are shared.

    Source: Graham 1966.
    """
    turns: dict[int, Turn] = {}
    waiting: dict[str, deque[int]] = {}
    for place, job in enumerate(jobs):
        waiting.setdefault(kind_of(job), deque()).append(place)
    running: dict[int, _Running] = {}
    now = 0.0
    while waiting or running:
        while len(running) < max(1, workers) and (taken := _next(jobs, waiting, gpus, needs)) is not None:
            place, seat = taken
            running[place] = _Running(now, seat, seconds[place], jobs[place].threads)
        paces = _paces(running)
        step = min(each.left / paces[place] for place, each in running.items())
        now += step
        for place, each in list(running.items()):
            # What ends now has nothing left but for rounding.
            each.left -= step * paces[place]
            if each.left <= 1e-9 * max(1.0, seconds[place]):
                gpus.leave(each.seat)
                turns[place] = Turn(each.begin, now)
                del running[place]
    return [turns[place] for place in range(len(jobs))]


def _next(
    jobs: Sequence[Job], waiting: dict[str, deque[int]], gpus: Gpus, needs: Mapping[str, int]
) -> tuple[int, Seat] | None:
    """The first job for which there is room, taken from those that wait; those of a kind find as much as each other."""
    for kind, places in sorted(waiting.items(), key=lambda item: item[1][0]):
        seat = gpus.seat(jobs[places[0]])
        if seat is None:
            continue
        if seat.weigh:
            gpus.weighed(seat, needs[kind])
        place = places.popleft()
        if not places:
            del waiting[kind]
        return place, seat
    return None


def _paces(running: Mapping[int, _Running]) -> dict[int, float]:
    """Of each job, how much of a GPU, or of the cores that it wants, is its own."""
    threads = sum(each.threads for each in running.values() if each.seat.gpu is None)
    on_gpu: dict[int, int] = {}
    for each in running.values():
        if each.seat.gpu is not None:
            on_gpu[each.seat.gpu] = on_gpu.get(each.seat.gpu, 0) + 1
    of_cores = min(1.0, cores() / threads) if threads else 1.0
    return {place: of_cores if each.seat.gpu is None else 1 / on_gpu[each.seat.gpu] for place, each in running.items()}
