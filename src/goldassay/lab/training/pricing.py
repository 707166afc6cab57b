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
from goldassay.lab.training.sampling import Sample

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


PROBE_SECONDS = 1.0
# The first steps also load and compile what the others find ready.
_WARM_UP_STEPS = 3
_SAMPLE = Sample()
# Of each set, to load and compile what later openings find ready.
_FIRST = Sample(whole=0, rows=8, batches=1)
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
    jobs: Sequence[Job],
    workers: int | None,
    seconds: float = PROBE_SECONDS,
    progress: Progress = silent,
    sample: Sample | None = _SAMPLE,
) -> Price:
    """Train one job of each kind for a moment, in memory, and multiply.

    A kind is a model, a training set and a condition: its jobs differ in the seed alone. Kinds that differ in which
    rows they are trained on, but not in how many and hardly in how long these are, such as a study's random samples,
    are measured once. What is measured is the time of a step (after a few to warm up), of an evaluation of the test
    sets, or of the smaller of them or some rows if all take long, and the size of what one evaluation and the weights
    leave on disk; a dev set after each epoch is taken to cost as much by the length of its texts. Early stopping is not
    foreseen, so that the price is one for all epochs. Jobs side by side are taken to run as fast as one alone where
    each has a core or a GPU for itself, and to take turns where they share one.

    Of sets of more than 1,000 rows some are read, evenly spaced: 256, of the training set at least 16 batches. Numbers
    of jobs, steps and rows are exact. Bytes, and seconds as far as they go by the lengths of texts, lie within 15 % of
    what all rows would give: a network of words gets about as many as all rows have (see `sampling.enlarged`). Networks
    that learn more of their texts than words are built of all rows.

    States are written each `Job.state_every` minutes of the time that a job takes, and at its end; the new one is whole
    before the one before is gone, so that a job that writes several has room for two.

    Args:
        jobs: Of one plan.
        workers: Processes that there will be; if not given, as many as `workers.run_jobs` takes.
        seconds: Training time of each probe; an evaluation may take as long.
        progress: Told after each probe.
        sample: How much of large sets is read; all if there is none.

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
    loaded: set[str] = set()
    for number, ((model, train_set, condition), same) in enumerate(kinds.items(), 1):
        key = _alike(same[0])
        if key not in probes:
            if same[0].model not in loaded:
                loaded.add(same[0].model)
                open_job(same[0], _FIRST)
            probes[key] = _probe(same[0], seconds, sample)
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


def _probe(job: Job, seconds: float, sample: Sample | None) -> _Probe:
    """What a job costs, and the training of its own teacher, where it has one, with it."""
    own = _probe_alone(job, seconds, sample)
    if not has_own_teacher(job):
        return own
    teacher = _probe_alone(teacher_of(job), seconds, sample)
    return replace(own, job_seconds=own.job_seconds + teacher.job_seconds, job_bytes=own.job_bytes + teacher.job_bytes)


def _probe_alone(job: Job, seconds: float, sample: Sample | None) -> _Probe:
    from goldassay.lab.training.precision import threads

    with threads(job.threads):
        began = time.perf_counter()
        running = open_job(job, sample)
        opening = time.perf_counter() - began + running.seconds_unread
        step_seconds = _step_seconds(running, seconds)
        state_bytes = running.state_size()
        evaluating, size = _evaluation(running, seconds)
    recipe = running.configuration.recipe
    steps = recipe.epochs * -(-running.n_train // recipe.batch_size)
    every = job.checkpoint_every
    n_evaluations = 1 if every is None else max(1, -(-steps // every))
    of_dev = 0.0
    if running.loop.dev is not None:
        costs = running.loop.dev.encoded.costs
        tests = sum(_lengths(running))
        of_dev = evaluating * int(costs.sum()) * running.n_dev / max(1, costs.size * tests)
    if "dynamics" in job.record:
        state_bytes += 4 * (running.n_train - len(running.train)) * running.task.n_outputs
    weights = sum(each.numel() * each.element_size() for each in running.loop.network.state_dict().values())
    return _Probe(
        steps,
        step_seconds,
        opening + steps * step_seconds + n_evaluations * evaluating + recipe.epochs * of_dev,
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
    texts = sum(running.n_tests)
    size = 0
    if "dynamics" in job.record:
        n_rows, n_outputs = running.n_train, running.task.n_outputs
        size += configuration_of(job).recipe.epochs * n_rows * n_outputs * 4
    if "embeddings" in job.record:
        views = 1 if len(running.texts) == 1 else 1 + len(running.texts)
        size += texts * views * running.embedding_size * 4
    if "relevance" in job.record:
        size += 4 * sum(_lengths(running))
    return size


def _lengths(running: Running) -> list[int]:
    """Of each test set the length of all of its texts."""
    return [
        round(int(test.encoded.costs.sum()) * n_rows / max(1, len(test.dataset)))
        for test, n_rows in zip(running.tests, running.n_tests, strict=True)
    ]


def _step_seconds(running: Running, seconds: float) -> float:
    """Of a step, but for those that end an epoch where a dev set is evaluated with them."""
    an_epoch = -(-len(running.train) // running.configuration.recipe.batch_size)
    apart = running.loop.dev is not None and an_epoch > 1
    began = time.perf_counter()
    measured, taken = 0, 0.0
    for number, reached in enumerate(running.loop.run(), 1):
        if number <= _WARM_UP_STEPS or (apart and reached.epoch_ended):
            began = _when_done(running)
            continue
        measured += 1
        ends_next = apart and (number + 1) % an_epoch == 0
        now = _when_done(running) if ends_next else time.perf_counter()
        taken, began = taken + now - began, now
        if taken > seconds:
            break
    taken += _when_done(running) - began
    return taken / measured if measured else 0.0


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
    given = sorted(zip(_lengths(running), running.n_tests, running.tests, strict=True), key=lambda each: each[0])
    lengths, n_rows = [each[0] for each in given], [each[1] for each in given]
    tests = [each[2] for each in given]
    done_length = n_done = done_rows = 0
    size = 0.0
    with temporary_folder() as folder:
        if len(tests[0].dataset) > _SAMPLED_ROWS:
            sample = running.sampled(tests[0], _SAMPLED_ROWS)
            began = time.perf_counter()
            size_of_sample = running.evaluate_into(sample, folder / "sample")
            seconds_of_all = (time.perf_counter() - began) * sum(lengths) / max(1, int(sample.encoded.costs.sum()))
            if seconds_of_all * lengths[0] > seconds * sum(lengths):
                return seconds_of_all, round(size_of_sample * sum(n_rows) / _SAMPLED_ROWS)
        began = ended = time.perf_counter()
        while n_done < len(tests) and (n_done == 0 or ended - began < seconds):
            test = tests[n_done]
            size += running.evaluate_into(test, folder / str(n_done)) * n_rows[n_done] / max(1, len(test.dataset))
            done_length += int(test.encoded.costs.sum())
            done_rows += n_rows[n_done]
            n_done += 1
            ended = time.perf_counter()
    return (
        (ended - began) * sum(lengths) / max(1, done_length),
        round(size * sum(n_rows) / max(1, done_rows)),
    )


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
