"""What a sweep will cost, before it runs: jobs, time from a short probe of each kind, disk.

When jobs begin and end: the order in which `workers.run_jobs` does them, played through with known durations.
"""

from __future__ import annotations

import json
import math
import time
from collections import deque
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.cores import cores
from goldassay.core.files import temporary_folder
from goldassay.core.progress import Progress, silent
from goldassay.core.results import Result
from goldassay.lab.training.configured import configuration_of, has_own_teacher, teacher_of
from goldassay.lab.training.job import STATE, Job
from goldassay.lab.training.placement import Gpus, Seat, find_places, kind_of, takes_gpu
from goldassay.lab.training.precision import free_cache
from goldassay.lab.training.running import Running, finished, need_of, open_job

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


PROBE_SECONDS = 3.0
# The first steps also load and compile what the others find ready.
_WARM_UP_STEPS = 3
# Seconds; loading takes a few.
_SHORT_OPENING = 10.0
# Of a test set, by which it is told whether a whole one takes too long.
_SAMPLED_ROWS = 256
# What says which rows, opinions or run it is, and not what it takes.
_WHICH = ("train", "bias", "teacher", "seed", "seeds", "label")


@dataclass(frozen=True)
class Price(Result):
    """What jobs will cost; see `price`.

    Attributes:
        n_jobs: In the plan.
        n_done: Of these, already there.
        n_begun: Of these, with a checkpoint to go on from; counted as if they began anew.
        seconds: Of all that is not done, one after the other.
        wall_seconds: The same on `workers` processes and `gpus` GPUs, each process taking the next job as it becomes
            free; see `list_scheduling`.
        bytes: On disk, of all that is not done, when it is done.
        states_at_once: Bytes that states of jobs under way take beside that, at most.
        states_written: Bytes of states written in total; each takes the place of the one before.
        workers: Processes.
        gpus: GPUs of this machine, where jobs use them.
        kinds: A row a model, training set and condition: n_jobs (not done), steps, step_seconds, job_seconds,
            job_bytes, state_bytes.
    """

    n_jobs: int
    n_done: int
    n_begun: int
    seconds: float
    wall_seconds: float
    bytes: int
    states_at_once: int
    states_written: int
    workers: int
    gpus: int
    kinds: pl.DataFrame

    def to_frame(self) -> pl.DataFrame:
        """A row a kind of job."""
        return self.kinds


def price(
    jobs: Sequence[Job], workers: int | None, seconds: float = PROBE_SECONDS, progress: Progress = silent
) -> Price:
    """Train one job of each kind for a moment, in memory, and multiply.

    A kind is a model, a training set and a condition: its jobs differ in the seed alone. Kinds that differ in which
    rows they are trained on, but not in how many and hardly in how long these are, such as a study's random samples,
    are measured once. What is measured is the time of a step (after a few to warm up), of an evaluation of the test
    sets, or of the smaller of them or some rows if all take long, and the size of what one evaluation and the weights
    leave on disk; early stopping is not foreseen, so that the price is one for all epochs. Jobs side by side are taken
    to run as fast as one alone where each has a core or a GPU for itself, and to take turns where they share one.

    States are written each `Job.state_every` minutes of the time that a job takes, and at its end; the new one is whole
    before the one before is gone, so that a job that writes several has room for two.

    Args:
        jobs: Of one plan.
        workers: Processes that there will be; if not given, as many as `workers.run_jobs` takes.
        seconds: Training time of each probe; an evaluation may take as long.
        progress: Told after each probe.

    Raises:
        InputError: A job cannot be done as it is, or its folder was made with other settings.
        TrainingError: A loss became NaN within the probe.
    """
    left = [job for job in jobs if finished(job) is None]
    # Before a probe takes memory of a GPU.
    gpus, count = find_places(left or jobs, workers)
    kinds: dict[tuple[str, str, str], list[Job]] = {}
    for job in left:
        kinds.setdefault((job.model_name, job.train.name, job.condition), []).append(job)
    rows = []
    probes: dict[tuple[Any, ...], _Probe] = {}
    needs: dict[str, int] = {}
    for number, ((model, train_set, condition), same) in enumerate(kinds.items(), 1):
        key = _alike(same[0])
        if key not in probes:
            probes[key] = _probe(same[0], seconds)
            if gpus.shared and gpus.free and takes_gpu(same[0]):
                free_cache()
                probes[key] = replace(probes[key], need=need_of(same[0]))
        probe = vars(probes[key]).copy()
        needs[kind_of(same[0])] = probe.pop("need")
        rows.append({"model": model, "train_set": train_set, "condition": condition, "n_jobs": len(same), **probe})
        progress(number, len(kinds))
    schema = {
        "model": pl.String, "train_set": pl.String, "condition": pl.String, "n_jobs": pl.Int64,
        "steps": pl.Int64, "step_seconds": pl.Float64, "job_seconds": pl.Float64, "job_bytes": pl.Int64,
        "state_bytes": pl.Int64,
    }  # fmt: skip
    table = pl.DataFrame(rows, schema=schema)
    of_kind = {(row["model"], row["train_set"], row["condition"]): row for row in table.iter_rows(named=True)}
    costs = [of_kind[job.model_name, job.train.name, job.condition] for job in left]
    each = [cost["job_seconds"] for cost in costs]
    turns = list_schedule(left, each, gpus, count, needs)
    n_states = [
        _n_states(turn.end - turn.begin, job, cost["steps"]) for job, cost, turn in zip(left, costs, turns, strict=True)
    ]
    sizes = [cost["state_bytes"] for cost in costs]
    return Price(
        n_jobs=len(jobs),
        n_done=len(jobs) - len(left),
        n_begun=sum((job.folder / STATE).exists() for job in left),
        seconds=float(sum(each)),
        wall_seconds=max((turn.end for turn in turns), default=0.0),
        bytes=int((table["n_jobs"] * table["job_bytes"]).sum()),
        states_at_once=_most_at_once(turns, [min(n, 2) * size for n, size in zip(n_states, sizes, strict=True)]),
        states_written=sum(n * size for n, size in zip(n_states, sizes, strict=True)),
        workers=count,
        gpus=len(gpus.free),
        kinds=table,
    )


def _alike(job: Job) -> tuple[Any, ...]:
    """Jobs that this is the same of take as long as each other: all settings, and the size of what they learn from."""
    settings = {name: value for name, value in job.settings().items() if name not in _WHICH}
    path = job.train.path
    n_rows = pl.scan_parquet(path).select(pl.len()).collect().item()
    # To a tenth; the bytes of as many rows go by the length of the texts.
    size = round(math.log(Path(path).stat().st_size, 1.1))
    return json.dumps(settings, sort_keys=True), job.bias is None, job.teacher is None, n_rows, size


@dataclass(frozen=True)
class _Probe:
    steps: int
    step_seconds: float
    job_seconds: float
    job_bytes: int
    state_bytes: int
    # Bytes of a GPU; measured where GPUs are shared.
    need: int = 0


def _probe(job: Job, seconds: float) -> _Probe:
    """What a job costs, and the training of its own teacher, where it has one, with it."""
    own = _probe_alone(job, seconds)
    if not has_own_teacher(job):
        return own
    teacher = _probe_alone(teacher_of(job), seconds)
    return replace(own, job_seconds=own.job_seconds + teacher.job_seconds, job_bytes=own.job_bytes + teacher.job_bytes)


def _probe_alone(job: Job, seconds: float) -> _Probe:
    from goldassay.lab.training.precision import threads

    with threads(job.threads):
        began = time.perf_counter()
        running = open_job(job)
        opening = time.perf_counter() - began
        if opening < _SHORT_OPENING:
            # Most of it may be what a process loads and compiles once, and jobs that follow find there.
            del running
            began = time.perf_counter()
            running = open_job(job)
            opening = time.perf_counter() - began
        step_seconds = _step_seconds(running, seconds)
        state_bytes = running.state_size()
        evaluating, size = _evaluation(running, seconds)
    steps = running.loop.total
    every = job.checkpoint_every
    n_evaluations = 1 if every is None else max(1, -(-steps // every))
    weights = sum(each.numel() * each.element_size() for each in running.loop.network.state_dict().values())
    return _Probe(
        steps,
        step_seconds,
        opening + steps * step_seconds + n_evaluations * evaluating,
        n_evaluations * size + weights + _beside(running, job),
        state_bytes,
    )


def _n_states(seconds: float, job: Job, steps: int) -> int:
    """How many states a job writes: one at its end, and one each `state_every` minutes, at most one a step."""
    interval = 60 * job.state_every
    return min(steps, 1 + int(seconds / interval)) if interval else steps


def _most_at_once(turns: Sequence[Turn], sizes: Sequence[int]) -> int:
    """The largest sum of the sizes of jobs that are under way at the same time."""
    # At one moment, what ends goes before what begins.
    changes = sorted(
        change
        for turn, size in zip(turns, sizes, strict=True)
        for change in ((turn.begin, 1, size), (turn.end, 0, -size))
    )
    return max(accumulate((size for *_, size in changes), initial=0))


def _beside(running: Running, job: Job) -> int:
    """Bytes of the other records, before compression: four a number."""
    texts = sum(len(test.dataset) for test in running.tests)
    size = 0
    if "dynamics" in job.record:
        n_rows, n_outputs = len(running.train), running.task.n_outputs
        size += configuration_of(job).recipe.epochs * n_rows * n_outputs * 4
    if "embeddings" in job.record:
        views = 1 if len(running.texts) == 1 else 1 + len(running.texts)
        size += texts * views * running.embedding_size * 4
    if "relevance" in job.record:
        size += 4 * sum(int(test.encoded.costs.sum()) for test in running.tests)
    return size


def _step_seconds(running: Running, seconds: float) -> float:
    began = time.perf_counter()
    measured = 0
    for number, _ in enumerate(running.loop.run(), 1):
        if number <= _WARM_UP_STEPS:
            began = _when_done(running)
            continue
        measured = number - _WARM_UP_STEPS
        if time.perf_counter() - began > seconds:
            break
    return (_when_done(running) - began) / measured if measured else 0.0


def _when_done(running: Running) -> float:
    """The time at which all is done that a GPU was given to do."""
    import torch

    device = running.loop.accelerator.device
    if device.type != "cpu":
        torch.accelerator.synchronize(device)
    return time.perf_counter()


def _evaluation(running: Running, seconds: float) -> tuple[float, int]:
    """Seconds of an evaluation of all test sets, and the bytes that it leaves.

    Sets are evaluated as long as there is time, the smallest first, and of this some rows alone if it is too long; the
    rest is taken to cost as much by the length of its texts, and to leave as much by its rows.
    """
    tests = sorted(running.tests, key=lambda test: int(test.encoded.costs.sum()))
    lengths = [int(test.encoded.costs.sum()) for test in tests]
    n_rows = [len(test.dataset) for test in tests]
    n_done = size = 0
    with temporary_folder() as folder:
        if n_rows[0] > _SAMPLED_ROWS:
            sample = running.sampled(tests[0], _SAMPLED_ROWS)
            began = time.perf_counter()
            size_of_sample = running.evaluate_into(sample, folder / "sample")
            seconds_of_all = (time.perf_counter() - began) * sum(lengths) / max(1, int(sample.encoded.costs.sum()))
            if seconds_of_all * lengths[0] > seconds * sum(lengths):
                return seconds_of_all, round(size_of_sample * sum(n_rows) / _SAMPLED_ROWS)
        began = ended = time.perf_counter()
        while n_done < len(tests) and (n_done == 0 or ended - began < seconds):
            size += running.evaluate_into(tests[n_done], Path(folder) / str(n_done))
            n_done += 1
            ended = time.perf_counter()
    share_of_length = sum(lengths[:n_done]) / max(1, sum(lengths))
    share_of_rows = sum(n_rows[:n_done]) / max(1, sum(n_rows))
    return (ended - began) / (share_of_length or 1.0), round(size / (share_of_rows or 1.0))


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
