"""Jobs one after the other, each by all processes that a launcher started; see `team`.

The process that does jobs: one a line on standard input, as JSON; what becomes of them on standard output.

Lines in: {"job": {...}, "weigh": whether to measure first how much of the GPU it needs}. Lines out: {"needs": bytes} if
that was asked, {"step", "total"} while a job is under way, then {"done": {...}} or {"failed": {"kind", "line"}}. When
nobody reads them any more, the process ends: no worker outlives the command that started it by more than a step.

Several jobs side by side, each in a process of its own with one thread: the same bits as one after the other.

On GPUs a process sees the one that its job was given, so that torch needs to know of no other; see `placement`.

Why not a `LocalCluster` of dask.distributed here: to start one of two workers takes 2.0 processor seconds, to start two
processes 0.03; and a task of the cluster starts this process all the same, for its one thread and its end.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from goldassay.core.errors import (
    VARIABLE,
    GoldassayError,
    InputError,
    MissingDependencyError,
    OutputError,
    TrainingError,
    entry_point,
)
from goldassay.lab.training.job import Done, Failure, Silent, Watcher
from goldassay.lab.training.placement import Gpus, Seat, find_places, visible
from goldassay.lab.training.precision import free_cache, is_out_of_memory, launched, leads
from goldassay.lab.training.running import finished, need_of, run_job

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.lab.training.job import Job


def run_together(jobs: Sequence[Job], watcher: Watcher) -> list[Done | Failure]:
    """Do jobs one after the other, each by all processes that were launched, and give what came of each.

    A job whose loss becomes NaN is a `Failure`, and the others go on.

    Raises:
        GoldassayError: As of `running.run_job`; the launcher then ends the other processes.
    """
    told = watcher if leads() else Silent()
    outcomes: list[Done | Failure] = []
    for job in jobs:
        try:
            done = run_job(job, partial(told.going, job))
        except TrainingError as error:
            failure = Failure(job.name, str(error))
            told.failed(job, failure)
            outcomes.append(failure)
        else:
            told.done(job, done)
            outcomes.append(done)
    _part_ways()
    return outcomes


def _part_ways() -> None:
    """Leave the others in order when this process ends; one that finds them gone may abort."""
    from torch import distributed

    if distributed.is_initialized():
        distributed.barrier()
        # Not now: what they know of each other's addresses would be used again, and be out of date.
        atexit.unregister(distributed.destroy_process_group)
        atexit.register(distributed.destroy_process_group)


# How often a job says where it is.
_SECONDS_BETWEEN_REPORTS = 0.2
INPUT, TRAINING, OUTPUT, DEPENDENCY, UNKNOWN = "input", "training", "output", "dependency", "unknown"
# What may go well another time, or where there is more memory.
PASSING, MEMORY = "passing", "memory"


class _Reporter:
    """Says where a job is, not more often than can be seen."""

    def __init__(self, out: IO[str]) -> None:
        self.out, self.last = out, 0.0

    def __call__(self, step: int, total: int) -> None:
        now = time.monotonic()
        if now - self.last >= _SECONDS_BETWEEN_REPORTS:
            self.last = now
            write_line(self.out, {"step": step, "total": total})


def write_line(out: IO[str], message: dict[str, Any]) -> None:
    """Write one line."""
    out.write(json.dumps(message) + "\n")
    out.flush()


def do(job: Job, out: IO[str], *, weigh: bool = False) -> None:
    """Do one job and say what came of it."""
    said = _do(job, out, weigh=weigh)
    # Before it is said: who hears it gives the memory to others.
    free_cache()
    write_line(out, said)


def _do(job: Job, out: IO[str], *, weigh: bool) -> dict[str, Any]:
    try:
        if weigh:
            needs = need_of(job)
            free_cache()
            write_line(out, {"needs": needs})
        return {"done": vars(run_job(job, _Reporter(out)))}
    except GoldassayError as error:
        return {"failed": {"kind": kind_of(error), "line": str(error)}}
    except MemoryError:
        return {"failed": {"kind": MEMORY, "line": "out of memory; set a smaller batch_size"}}
    except RuntimeError as error:
        # Torch reports a full GPU, and much else, as a RuntimeError; a job that meets one fails, the others go on.
        if os.environ.get("GOLDASSAY_DEBUG"):
            raise
        line = " ".join(str(error).split())[:400]
        if is_out_of_memory(error):
            return {"failed": {"kind": MEMORY, "line": f"the GPU is out of memory; set a smaller batch_size ({line})"}}
        return {"failed": {"kind": PASSING, "line": line}}


def kind_of(error: GoldassayError) -> str:
    """How a failure is named to the other process."""
    for kind, name in (
        (InputError, INPUT),
        (TrainingError, TRAINING),
        (OutputError, OUTPUT),
        (MissingDependencyError, DEPENDENCY),
    ):
        if isinstance(error, kind):
            return name
    return UNKNOWN


def main() -> None:
    """Do jobs until there are no more."""
    from goldassay.lab.training.job import Job

    # Ctrl-C goes to all processes of a terminal; the one that started this one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Libraries that print must not break the lines.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin:
        asked = json.loads(line)
        do(Job.from_dict(asked["job"]), out, weigh=asked["weigh"])


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(0)


WORKER = "goldassay.lab.training.workers"
# A library that starts threads of its own must not make several jobs fight for one core; and threads that wait by
# spinning make a busy neighbor many times slower.
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "TOKENIZERS_PARALLELISM": "false",
    "TRANSFORMERS_VERBOSITY": "error",
    # Memory that a step gives back is kept for the next one: fetching it from the system anew took up to a third of a
    # step.
    "MALLOC_MMAP_THRESHOLD_": str(1 << 32),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
    "MALLOC_TOP_PAD_": str(1 << 26),
    # Large pages where the system lends them on request: a step goes through tens of megabytes.
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}


def run_jobs(
    jobs: Sequence[Job], workers: int | None = None, watcher: Watcher | None = None, tries: int = 1
) -> list[Done | Failure]:
    """Do jobs in as many processes as `workers`, and give what came of each, in their order.

    A job whose training fails is a `Failure`, and the others go on. One whose process dies, or that finds no memory, is
    tried again behind the others, going on from its last checkpoint, `tries` times in all. What is wrong with the
    command itself (a model that does not exist, a disk that is full) ends all at once.

    Where `workers` is not given there is one process a GPU, for which the jobs queue, or without GPUs one a core. More
    processes than there are GPUs share them as far as their memory lasts: the first job of each kind is measured on a
    GPU of its own. One that nevertheless finds a shared GPU full is done again with more room, which is no failed try.

    Processes that a launcher started do the jobs one after the other, each by all of them; see `team`.

    Raises:
        InputError: A job cannot be done as it is, or its folder was made with other settings.
        OutputError: The folder cannot be written to, or the disk is full.
        MissingDependencyError: The extra `train` is not installed.
        KeyboardInterrupt: Interrupted; all processes have ended, and what they had saved is kept.
    """
    if launched():
        return run_together(jobs, watcher or Silent())
    pool = _Pool(jobs, watcher or Silent(), tries)
    if not pool.waiting:
        return [pool.outcomes[place] for place in range(len(jobs))]
    pool.gpus, count = find_places([job for _, job in pool.waiting], workers)
    count = max(1, min(count, len(pool.waiting)))
    executor = ThreadPoolExecutor(count, thread_name_prefix="worker")
    threads = [executor.submit(pool.work) for _ in range(count)]
    try:
        # Where the system hands Ctrl-C to another thread, this one only notices when it wakes by itself.
        while wait(threads, timeout=0.2).not_done:
            pass
        for thread in threads:
            thread.result()
    finally:
        pool.end()
        executor.shutdown(wait=True, cancel_futures=True)
    return [pool.outcomes[place] for place in range(len(jobs))]


class _Pool:
    def __init__(self, jobs: Sequence[Job], watcher: Watcher, tries: int) -> None:
        there = {place: done for place, job in enumerate(jobs) if (done := finished(job)) is not None}
        self.outcomes: dict[int, Done | Failure] = dict(there)
        self.waiting = deque((place, job) for place, job in enumerate(jobs) if place not in there)
        self.watcher = watcher
        self.tries, self.tried = tries, [0] * len(jobs)
        for place, done in there.items():
            watcher.done(jobs[place], done)
        # Also rung when a job or memory becomes free.
        self.lock = threading.Condition()
        self.processes: set[subprocess.Popen[str]] = set()
        self.ended = False
        self.gpus = Gpus((), shared=False)

    def work(self) -> None:
        """Do jobs until there are no more; one process does them all, so that torch is loaded once."""
        process: subprocess.Popen[str] | None = None
        gpu: int | None = None
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
            try:
                while (taken := self._next(wait=process is None)) is not None or process is not None:
                    if process is not None and (taken is None or taken[2].gpu != gpu or process.poll() is not None):
                        # One that waits, or moves to another GPU, must not keep memory of this one.
                        self._close(process)
                        process = None
                    if taken is None:
                        continue
                    place, job, seat = taken
                    if process is None:
                        process, gpu = self._start(errors, seat.gpu), seat.gpu
                        if process is None:
                            return
                    outcome = self._do(job, seat, process, errors)
                    self._settle(place, job, seat, outcome)
                    if isinstance(outcome, Failure) and outcome.passing:
                        # It may be the process with which something is wrong.
                        process.kill()
                        self._close(process)
                        process = None
            except BaseException:
                self.end()
                raise
            finally:
                if process is not None:
                    self._close(process)

    def _next(self, *, wait: bool) -> tuple[int, Job, Seat] | None:
        """The first job for which there is room; None when none is left, or none fits now and `wait` is false."""
        with self.lock:
            while self.waiting and not self.ended:
                for at, (place, job) in enumerate(self.waiting):
                    seat = self.gpus.seat(job)
                    if seat is not None:
                        del self.waiting[at]
                        return place, job, seat
                if not wait:
                    return None
                self.lock.wait()
            return None

    def _start(self, errors: Any, gpu: int | None) -> subprocess.Popen[str] | None:
        with self.lock:
            if self.ended:
                return None
            process = subprocess.Popen(
                [sys.executable, "-m", WORKER],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
                env={**ENVIRONMENT, **os.environ, **visible(gpu), VARIABLE: entry_point()},
            )
            self.processes.add(process)
            return process

    def _do(self, job: Job, seat: Seat, process: subprocess.Popen[str], errors: Any) -> Done | Failure | None:
        try:
            if process.stdin is None or process.stdout is None:
                raise BrokenPipeError
            process.stdin.write(json.dumps({"job": job.to_dict(), "weigh": seat.weigh}) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                message = json.loads(line)
                if "done" in message:
                    return Done(**message["done"])
                if "failed" in message:
                    return _failure(job, **message["failed"])
                if "needs" in message:
                    with self.lock:
                        self.gpus.weighed(seat, message["needs"])
                        self.lock.notify_all()
                    continue
                with self.lock:
                    self.watcher.going(job, message["step"], message["total"])
        except (BrokenPipeError, json.JSONDecodeError):
            # The process is gone, perhaps in the middle of a line.
            process.kill()
        return None if self.ended else Failure(job.name, _last_words(process, errors), passing=True)

    def _settle(self, place: int, job: Job, seat: Seat, outcome: Done | Failure | None) -> None:
        with self.lock:
            self.gpus.leave(seat)
            self.lock.notify_all()
            if outcome is None:
                return
            if isinstance(outcome, Failure) and outcome.memory and self.gpus.ran_out(seat):
                self.waiting.append((place, job))
                self.watcher.again(job, outcome)
                return
            self.tried[place] += 1
            if isinstance(outcome, Failure):
                if outcome.passing and self.tried[place] < self.tries:
                    self.waiting.append((place, job))
                    self.watcher.again(job, outcome)
                    return
                outcome = replace(outcome, tries=self.tried[place])
            self.outcomes[place] = outcome
            if isinstance(outcome, Failure):
                self.watcher.failed(job, outcome)
            else:
                self.watcher.done(job, outcome)

    def _close(self, process: subprocess.Popen[str]) -> None:
        if process.stdin is not None and not process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        with self.lock:
            self.processes.discard(process)

    def end(self) -> None:
        """End all processes; what they had saved is whole, since files are renamed into place."""
        with self.lock:
            self.ended = True
            self.lock.notify_all()
            running = list(self.processes)
        for process in running:
            process.kill()


def _failure(job: Job, kind: str, line: str) -> Failure:
    """A failure of this job alone; one of the whole command is raised."""
    if kind == INPUT:
        raise InputError(line)
    if kind == OUTPUT:
        raise OutputError(line)
    if kind == DEPENDENCY:
        raise MissingDependencyError(line)
    if kind == UNKNOWN:
        raise GoldassayError(line)
    return Failure(job.name, line, passing=kind in (PASSING, MEMORY), memory=kind == MEMORY)


def _last_words(process: subprocess.Popen[str], errors: Any) -> str:
    """Why a process died."""
    status = process.wait()
    if status < 0:
        return f"its process was killed (signal {-status}); the same command goes on from its last checkpoint"
    errors.seek(0)
    lines = [line.strip() for line in errors if line.strip()]
    return f"its process ended with status {status} ({lines[-1][:300] if lines else 'and said nothing'})"
