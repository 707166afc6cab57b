"""Readers of each part of the input: the quick readers, or a network in their place."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.core.errors import GoldassayError
from goldassay.lab.training.configured import configuration_of
from goldassay.lab.training.many_seeds import plan_jobs
from goldassay.lab.training.outcome import Failure, Silent
from goldassay.lab.training.workers import run_jobs
from goldassay.questions.leakage.network_evidence import of_trained_runs
from goldassay.questions.leakage.probes import probe_evidence
from goldassay.readers.conditions import conditions_of
from goldassay.runs import read_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.core.progress import Progress
    from goldassay.core.settings import Settings
    from goldassay.data import Dataset
    from goldassay.lab.training.job import Job
    from goldassay.lab.training.outcome import Done
    from goldassay.questions.leakage.condition_evidence import ConditionEvidence


def train_readers(
    train: Dataset,
    test: Dataset,
    settings: Settings,
    directory: Path,
    progress: Progress,
    jobs: Sequence[Job] = (),
    elsewhere: Sequence[Dataset] = (),
) -> ConditionEvidence:
    """Train under every condition with every seed, store each run as it is done, and read them back.

    The quick readers are trained, or what `plan_readers` planned; those of the whole input answer sets of other
    distributions too. What is read back is what anybody else's tool would read: nothing passes from training to the
    measures but the runs on disk.

    Raises:
        InputError: The folder of a run was made with other settings.
        GoldassayError: A training failed.
    """
    if not jobs:
        seeds = range(settings.seed, settings.seed + settings.leakage.seeds)
        conditions = conditions_of(train.text_columns)
        return probe_evidence(train, test, conditions, seeds, directory, progress, embed=False, elsewhere=elsewhere)
    _train_networks(jobs, settings.training.workers, progress)
    first, whole = jobs[0], jobs[0].condition
    runs = {
        condition: read_runs(first.out, model=first.model_name, dataset=test.name, condition=condition)
        for condition in dict.fromkeys(job.condition for job in jobs)
    }
    made = of_trained_runs(runs, train, test, _about_network(train, settings, jobs))
    others = {
        each.name: read_runs(first.out, model=first.model_name, dataset=each.name, condition=whole)
        for each in elsewhere
    }
    return replace(made, elsewhere=others)


def plan_readers(
    train: Dataset, test: Dataset, settings: Settings, directory: Path, elsewhere: Sequence[Dataset] = ()
) -> list[Job]:
    """The trainings of a network, checked; none where quick readers serve.

    Raises:
        InputError: The network cannot be trained as it is asked for.
        MissingDependencyError: The extra `train` is not installed.
    """
    if settings.leakage.model is None:
        return []
    return plan_jobs(
        train,
        settings.leakage.model,
        {each.name: each for each in (test, *elsewhere)},
        out=directory,
        seeds=range(settings.seed, settings.seed + settings.leakage.seeds),
        conditions=conditions_of(train.text_columns),
        **settings.training.of_network(),
    )


def _train_networks(jobs: Sequence[Job], workers: int | None, progress: Progress) -> None:
    for outcome in run_jobs(jobs, workers, _Counting(progress, len(jobs))):
        if isinstance(outcome, Failure):
            raise GoldassayError(f"{outcome.name}: {outcome.line}")


class _Counting(Silent):
    """Tells a bar how many trainings are done."""

    def __init__(self, progress: Progress, n_jobs: int) -> None:
        self.progress, self.n_jobs, self.n_done = progress, n_jobs, 0

    def done(self, job: Job, done: Done) -> None:  # noqa: ARG002
        """See `workers.Watcher`."""
        self.n_done += 1
        self.progress(self.n_done, self.n_jobs)


def reader_name(settings: Settings) -> str:
    """What a sentence about the readers begins with."""
    model = settings.leakage.model
    return "A quick probe" if model is None else f"The network {Path(model).name}"


def _about_network(train: Dataset, settings: Settings, jobs: Sequence[Job]) -> str:
    recipe = configuration_of(jobs[0]).recipe
    rows = jobs[0].rows
    drawn = f"the {len(train):,}" if rows is None else f"{rows:,} of the {len(train):,}"
    again = ", drawn with replacement" if jobs[0].bootstrap else ""
    return (
        f"{reader_name(settings)} judged in place of the quick probe. It was trained on {drawn} training rows{again}, "
        f"{recipe.epochs} times over."
    )
