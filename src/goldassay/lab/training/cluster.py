"""Jobs on other machines, by dask.distributed: a scheduler hands them to workers that share a file system.

Why dask: a task whose worker is lost is given to another by itself, joining a scheduler takes an address, and
dask-jobqueue starts workers through SLURM and its like. Each task starts the same process that local jobs run in, with
one thread of its own, so that a run has the same bits wherever on the same kind of machine it is made; the folder's
lock keeps a job that was handed out twice from being done twice.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goldassay.core.cores import connected, require_cluster
from goldassay.core.errors import GoldassayError, InputError, OutputError
from goldassay.lab.training.job import Done, Failure, Job, Silent, Watcher
from goldassay.lab.training.running import finished
from goldassay.lab.training.workers import run_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distributed import Client, Future

_TOPIC = "goldassay"
# A job whose worker was lost may find the folder locked by a process that has not yet noticed.
_LOCK_WAIT_SECONDS = 30.0


def run_on_cluster(
    jobs: Sequence[Job], scheduler: str, watcher: Watcher | None = None, tries: int = 3
) -> list[Done | Failure]:
    """Do jobs on the workers of a dask scheduler, and give what came of each, in their order.

    What is done already is not handed out. A job whose worker is lost is done elsewhere, from its last checkpoint; one
    that fails `tries` times is a `Failure`, and the others go on.

    Args:
        jobs: Their folder must be one that every worker sees under the same path.
        scheduler: Its address, tcp://HOST:PORT, or the path of a scheduler file.
        watcher: Told how the jobs go.
        tries: Most attempts at one job.

    Raises:
        InputError: The scheduler does not answer or has no workers, or a job cannot be done as it is.
        MissingDependencyError: The extra `cluster` is not installed.
    """
    require_cluster()
    watching = watcher or Silent()
    outcomes: dict[int, Done | Failure] = {}
    for place, job in enumerate(jobs):
        if (done := finished(job)) is not None:
            outcomes[place] = done
            watching.done(job, done)
    with connected(scheduler) as client:
        _Handing(client, jobs, outcomes, watching, tries).until_done()
    return [outcomes[place] for place in range(len(jobs))]


@dataclass(frozen=True)
class _Handing:
    client: Client
    jobs: Sequence[Job]
    outcomes: dict[int, Done | Failure]
    watcher: Watcher
    tries: int

    def until_done(self) -> None:
        from distributed import as_completed

        self.client.subscribe_topic(_TOPIC, self._report_progress)
        futures = {self._hand(place): (place, 1) for place in range(len(self.jobs)) if place not in self.outcomes}
        coming = as_completed(futures, loop=self.client.loop)
        try:
            for future in coming:
                place, tried = futures.pop(future)
                outcome = self._outcome(future, place)
                if isinstance(outcome, Failure) and outcome.passing and tried < self.tries:
                    self.watcher.again(self.jobs[place], outcome)
                    again = self._hand(place)
                    futures[again] = (place, tried + 1)
                    coming.add(again)
                    continue
                self._settle(place, replace(outcome, tries=tried) if isinstance(outcome, Failure) else outcome)
        finally:
            self.client.cancel(list(futures))
            self.client.unsubscribe_topic(_TOPIC)

    def _hand(self, place: int) -> Future:
        # A job is told by its name in the plan, not by its arguments: the same task twice must be done twice.
        return self.client.submit(_do, self.jobs[place].to_dict(), place, pure=False)

    def _outcome(self, future: Future, place: int) -> Done | Failure:
        """What came of a task.

        Raises:
            InputError: The job cannot be done as it is.
        """
        job = self.jobs[place]
        if future.status == "finished":
            found = future.result()
            if "done" in found:
                return Done(**found["done"])
            if "failed" in found:
                return Failure(**found["failed"])
            kind = {"input": InputError, "output": OutputError}.get(found["kind"], GoldassayError)
            raise kind(found["line"])
        if future.status == "cancelled":
            return Failure(job.name, "the scheduler gave it up", passing=True)
        return Failure(job.name, " ".join(str(future.exception()).split())[:400], passing=True)

    def _settle(self, place: int, outcome: Done | Failure) -> None:
        self.outcomes[place] = outcome
        if isinstance(outcome, Failure):
            self.watcher.failed(self.jobs[place], outcome)
        else:
            self.watcher.done(self.jobs[place], outcome)

    def _report_progress(self, event: tuple[float, Any]) -> None:
        _, message = event
        place = message.get("place")
        if isinstance(place, int) and place < len(self.jobs) and place not in self.outcomes:
            self.watcher.going(self.jobs[place], message["step"], message["total"])


class _ToScheduler(Silent):
    """Tells the scheduler where a job is."""

    def __init__(self, place: int) -> None:
        from distributed import get_worker

        # Only the task's own thread can ask which worker it is on; jobs are watched from others.
        self.place, self.worker = place, get_worker()

    def going(self, job: Job, step: int, total: int) -> None:  # noqa: ARG002
        """See `Watcher`."""
        self.worker.log_event(_TOPIC, {"place": self.place, "step": step, "total": total})


def _do(plain: dict[str, Any], place: int) -> dict[str, Any]:
    """Do a job on a worker; what goes wrong is told, not raised, since errors of ours need not be known there."""
    job = Job.from_dict(plain)
    until = time.monotonic() + _LOCK_WAIT_SECONDS
    while True:
        try:
            (outcome,) = run_jobs([job], 1, _ToScheduler(place))
        except GoldassayError as error:
            if "another process is at work" in str(error) and time.monotonic() < until:
                time.sleep(1.0)
                continue
            kind = "input" if isinstance(error, InputError) else "output" if isinstance(error, OutputError) else "other"
            return {"kind": kind, "line": str(error)}
        if isinstance(outcome, Failure):
            return {"failed": vars(outcome)}
        return {"done": vars(outcome)}
