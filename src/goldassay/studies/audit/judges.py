"""Who judges how much a part of the input tells: the quick probes, or a network in their place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from goldassay.errors import GoldassayError
from goldassay.runs import read_runs, write_runs
from goldassay.training import conditions_of, describe_probe, plan_jobs, run_jobs, train_probes
from goldassay.training.configured import configuration_of
from goldassay.training.many_seeds import default_workers
from goldassay.training.outcome import Failure, Silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.data import Dataset
    from goldassay.progress import Progress
    from goldassay.runs import Runs
    from goldassay.settings import Settings
    from goldassay.training import Done, Job


def train_judges(
    train: Dataset, test: Dataset, settings: Settings, directory: Path, progress: Progress, jobs: Sequence[Job] = ()
) -> list[Runs]:
    """Train under every condition with every seed, store each run as it is done, and read them back.

    The quick probes are trained, or what `plan_judges` planned.

    What is read back is what anybody else's tool would read: nothing passes from training to the measures but the
    evidence on disk.

    Raises:
        InputError: The folder of a run was made with other settings.
        GoldassayError: A training failed.
    """
    if jobs:
        return _train_networks(jobs, settings.training.workers, progress)
    seeds = range(settings.seed, settings.seed + settings.leakage.seeds)
    written: dict[str, list[Path]] = {}
    for run in train_probes(train, test, seeds=seeds, progress=progress):
        written.setdefault(run.condition, []).extend(write_runs(run, directory))
    return [read_runs(paths, condition=condition) for condition, paths in written.items()]


def plan_judges(train: Dataset, test: Dataset, settings: Settings, directory: Path) -> list[Job]:
    """The trainings of a network, checked; none where the quick probes judge.

    Raises:
        InputError: The network cannot be trained as it is asked for.
        MissingDependencyError: The extra `train` is not installed.
    """
    if settings.leakage.model is None:
        return []
    return plan_jobs(
        train,
        settings.leakage.model,
        {test.name: test},
        out=directory,
        seeds=range(settings.seed, settings.seed + settings.leakage.seeds),
        conditions=conditions_of(train.text_columns),
        **settings.training.of_network(),
    )


def _train_networks(jobs: Sequence[Job], workers: int | None, progress: Progress) -> list[Runs]:
    count = workers or default_workers(jobs[0].device, jobs[0].threads)
    for outcome in run_jobs(jobs, count, _Counting(progress, len(jobs))):
        if isinstance(outcome, Failure):
            raise GoldassayError(f"{outcome.name}: {outcome.line}")
    first = jobs[0]
    conditions = dict.fromkeys(job.condition for job in jobs)
    return [
        read_runs(first.out, model=first.model_name, dataset=first.tests[0].name, condition=each) for each in conditions
    ]


class _Counting(Silent):
    """Tells a bar how many trainings are done."""

    def __init__(self, progress: Progress, n_jobs: int) -> None:
        self.progress, self.n_jobs, self.n_done = progress, n_jobs, 0

    def done(self, job: Job, done: Done) -> None:  # noqa: ARG002
        """See `workers.Watcher`."""
        self.n_done += 1
        self.progress(self.n_done, self.n_jobs)


def name_of(settings: Settings) -> str:
    """What a sentence about the judge begins with."""
    model = settings.leakage.model
    return "A quick probe" if model is None else f"The network {Path(model).name}"


def describe_judge(train: Dataset, settings: Settings, jobs: Sequence[Job]) -> str:
    """Who judged, and what it was trained on, in a sentence for the report."""
    if not jobs:
        return f"The quick probe is {describe_probe(train)}."
    recipe = configuration_of(jobs[0]).recipe
    rows = jobs[0].rows
    drawn = f"the {len(train):,}" if rows is None else f"{rows:,} of the {len(train):,}"
    again = ", drawn with replacement" if jobs[0].bootstrap else ""
    return (
        f"{name_of(settings)} judged in place of the quick probe. It was trained on {drawn} training rows{again}, "
        f"{recipe.epochs} times over."
    )
