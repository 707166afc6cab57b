"""Jobs done in the test's own process, where processes are not what is tested: each takes seconds to load torch."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from goldassay.lab.training.job import Done, Failure, Silent, Watcher
from goldassay.lab.training.running import run_job

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goldassay.lab.training.job import Job


def run_jobs(
    jobs: Sequence[Job], workers: int | None = None, watcher: Watcher | None = None, tries: int = 1
) -> list[Done | Failure]:
    """What `workers.run_jobs` does, one job after the other; a training that fails fails the test."""
    watcher, outcomes = watcher or Silent(), []
    for job in jobs:
        outcomes.append(run_job(job, lambda step, total, job=job: watcher.going(job, step, total)))
        watcher.done(job, outcomes[-1])
    return outcomes


@contextmanager
def done_in_place() -> Iterator[None]:
    """In all that trains."""
    with pytest.MonkeyPatch.context() as patch:
        for place in ("lab.training.workers", "lab.training.many_seeds"):
            patch.setattr(f"goldassay.{place}.run_jobs", run_jobs)
        yield


@pytest.fixture
def in_place() -> Iterator[None]:
    """The same for one test."""
    with done_in_place():
        yield
