"""Jobs one after the other, each by all processes that a launcher started; see `team`."""

from __future__ import annotations

import atexit
from functools import partial
from typing import TYPE_CHECKING

from goldassay.core.errors import TrainingError
from goldassay.training.outcome import Done, Failure, Silent, Watcher
from goldassay.training.running import run_job
from goldassay.training.team import leads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.training.job import Job


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
