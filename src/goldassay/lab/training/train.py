"""What the package asks of training: the runs of `goldassay.train`, and the networks of questions."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError, option
from goldassay.core.settings import Settings
from goldassay.lab.models.registry import find_network
from goldassay.lab.training.configured import configuration_of
from goldassay.lab.training.many_seeds import TrainingReport, check_workers, plan_jobs, run_plan
from goldassay.lab.training.outcome import Done, Failure, Silent, Watcher, bars
from goldassay.lab.training.span_target import target_of
from goldassay.lab.training.teachers import with_sources
from goldassay.questions.inputs import named_sources
from goldassay.runs.store import nothing_left_if_refused

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Mapping, Sequence

    from goldassay.core.progress import Progress
    from goldassay.data.dataset import Dataset
    from goldassay.lab.training.job import Job
    from goldassay.questions.networks import Trainer

    # Opens, for the trainings that are to come, what is told how they go.
    Watching = Callable[[Sequence[Job]], AbstractContextManager[Watcher]]


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


@dataclass(frozen=True)
class NetworkPlan:
    """Trainings of one network; see `questions.networks.Plan`.

    Attributes:
        jobs: Those trainings, at least one.
    """

    jobs: Sequence[Job]

    @property
    def model(self) -> str:
        """What its runs call it."""
        return self.jobs[0].model_name

    @property
    def conditions(self) -> tuple[str, ...]:
        """What it is shown, the whole input first."""
        return tuple(dict.fromkeys(job.condition for job in self.jobs))

    @property
    def n_runs(self) -> int:
        """How many trainings there are."""
        return len(self.jobs)

    @property
    def epochs(self) -> int:
        """How often each goes through its rows."""
        return configuration_of(self.jobs[0]).recipe.epochs

    @property
    def rows(self) -> int | None:
        """How many of the training rows each draws; None takes all."""
        return self.jobs[0].rows

    @property
    def bootstrap(self) -> bool:
        """Whether they are drawn with replacement."""
        return self.jobs[0].bootstrap

    def train(
        self,
        workers: int | None = None,
        *,
        progress: Progress | None = None,
        quiet: bool = True,
        unscored: Collection[str] = (),
    ) -> TrainingReport:
        """Train what is not done yet; see `questions.networks.Plan`."""
        counting = None if progress is None else _Counting(progress, len(self.jobs))
        with nullcontext(counting) if quiet else bars(len(self.jobs)) as watcher:
            return run_plan(self.jobs, workers, None if watcher is None else _Scored(watcher, unscored))


class Networks:
    """The networks of `lab.models`; see `questions.networks.Trainer`."""

    def check_name(self, model: str) -> None:
        """Refuse a name of no network."""
        find_network(model)

    def check_tests(self, training: Dataset, tests: Sequence[Dataset]) -> None:
        """Refuse sets whose right answers are of another kind than those of the training data."""
        target_of(training).check_tests(training, tests)

    def plan(
        self,
        train: Dataset,
        model: str,
        tests: Mapping[str, Dataset],
        *,
        out: str | os.PathLike[str],
        seeds: int | Sequence[int],
        conditions: Sequence[str] | None = None,
        **options: Any,
    ) -> NetworkPlan:
        """Plan the trainings of a network with every seed under every condition."""
        return NetworkPlan(plan_jobs(train, model, tests, out=out, seeds=seeds, conditions=conditions, **options))


# The entry point.
NETWORKS: Trainer = Networks()


class _Counting(Silent):
    """Tells how many trainings are done."""

    def __init__(self, progress: Progress, n_jobs: int) -> None:
        self.progress, self.n_jobs, self.n_done = progress, n_jobs, 0

    def done(self, job: Job, done: Done) -> None:  # noqa: ARG002
        """See `Watcher`."""
        self.n_done += 1
        self.progress(self.n_done, self.n_jobs)


class _Scored:
    """A watcher that is not told the scores of some test sets.

    Args:
        watcher: Who is told the rest.
        unscored: Names of those sets.
    """

    def __init__(self, watcher: Watcher, unscored: Collection[str]) -> None:
        self.watcher, self.unscored = watcher, unscored

    def going(self, job: Job, step: int, total: int) -> None:
        """Pass it on."""
        self.watcher.going(job, step, total)

    def done(self, job: Job, done: Done) -> None:
        """Pass on what has a meaning."""
        known = {name: value for name, value in done.scores.items() if name not in self.unscored}
        self.watcher.done(job, replace(done, scores=known))

    def again(self, job: Job, failure: Failure) -> None:
        """Pass it on."""
        self.watcher.again(job, failure)

    def failed(self, job: Job, failure: Failure) -> None:
        """Pass it on."""
        self.watcher.failed(job, failure)
