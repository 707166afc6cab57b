"""Training with settings, then keywords; and runs that every question can be asked of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.settings import Settings
from goldassay.lab.training.job_folder import nothing_left_if_refused
from goldassay.lab.training.many_seeds import check_workers, plan_jobs, run_plan
from goldassay.questions.inputs import named_sources
from goldassay.questions.opinions import with_sources

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from goldassay.lab.training.job import Job
    from goldassay.lab.training.many_seeds import TrainingReport
    from goldassay.lab.training.outcome import Watcher

    # Opens, for the trainings that are to come, what is told how they go.
    Watching = Callable[[Sequence[Job]], AbstractContextManager[Watcher]]

__all__ = ["train_runs"]


def train_runs(
    train: Any,
    test: Any,
    given: Mapping[str, Any],
    *,
    out: str | os.PathLike[str],
    columns: str | Mapping[str, str] | None,
    settings: Settings | None,
    watching: Watching | None,
) -> TrainingReport:
    """Train, as `goldassay.train` does.

    Args:
        train: As for `train`.
        test: Likewise.
        given: Keys of [training], and label; None where the settings decide.
        out: As for `train`.
        columns: Likewise.
        settings: Likewise.
        watching: Opens, for the trainings that are to come, what is told how they go.

    Raises:
        InputError: As `train`.
    """
    asked = (settings or Settings()).training.arguments() | {k: v for k, v in given.items() if v is not None}
    if "model" not in asked:
        example = option("model", "ngram_average")
        raise InputError("no model is named", mend=f"name one with {option('model')}, such as {example}")
    workers = asked.pop("workers", None)
    check_workers(workers)
    tests: Any = [(name or None, data) for name, data in named_sources(test)]
    with nothing_left_if_refused(out):
        asked = with_sources(asked, out)
        jobs = plan_jobs(train, asked.pop("model"), tests, out=out, columns=columns, **asked)
        if watching is None:
            return run_plan(jobs, workers)
        with watching(jobs) as watcher:
            return run_plan(jobs, workers, watcher)
