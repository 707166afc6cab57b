"""What the package asks of training: the runs of `goldassay.train`, and the networks of questions.

A plan of many trainings: models x training sets x conditions x seeds, from a TOML file to jobs.

What came of a sweep: a row a run and test set, over models and training sets.
"""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from pydantic import Field

from goldassay.core.errors import InputError, option
from goldassay.core.naming import did_you_mean
from goldassay.core.results import Result
from goldassay.core.settings import Settings, StrictSection, TrainingSettings, read_toml, validated
from goldassay.lab.models import find_network
from goldassay.lab.training.configured import configuration_of
from goldassay.lab.training.job import Done, Failure, Silent, Watcher, bars
from goldassay.lab.training.many_seeds import (
    TrainingReport,
    check_workers,
    cut_sentences,
    plan_jobs,
    run_plan,
    run_rows,
    summarize,
)
from goldassay.lab.training.precision import AUTO, unasked_precision
from goldassay.lab.training.targets import target_of
from goldassay.lab.training.teachers import with_sources
from goldassay.questions.inputs import named_sources
from goldassay.runs.kinds.opening import load_texts
from goldassay.runs.store import nothing_left_if_refused

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Mapping, Sequence

    from goldassay.core.progress import Progress
    from goldassay.data.dataset import Dataset
    from goldassay.lab.training.job import Job
    from goldassay.questions.networks import Trainer

    Watching = Callable[[Sequence[Job]], AbstractContextManager[Watcher]]

_NAMED_TWICE = "name each once; one that is trained in two ways needs a second name, with its model in [of.NAME]"


class SweepPlan(StrictSection):
    """What a plan's file says. Paths are relative to the file's folder.

    The keys of `every` are those of [training] in the settings and hold for all jobs; a table of `of`, named like an
    entry of `models`, replaces some of them for that model alone, and with its key `model` gives the network, so that
    one network can be trained in several ways under several names. Without the key `precision` it is 16 bits on a GPU
    that multiplies in them, else 32; see `precision.unasked_precision`.
    """

    models: list[str] = Field(min_length=1, description="Names of networks, places of checkpoints, or keys of `of`.")
    train: dict[str, str] = Field(min_length=1, description="Training sets by name.")
    test: dict[str, str] = Field(min_length=1, description="Test sets by name.")
    out: str = Field(default="runs", description="Folder of the runs.")
    columns: str | None = Field(default=None, description="Role to column, for all files: premise=a,hypothesis=b.")
    every: TrainingSettings = TrainingSettings()
    of: dict[str, TrainingSettings] = Field(default_factory=dict, description="Settings of one model.")


def read_plan(path: str | os.PathLike[str]) -> SweepPlan:
    """Read a plan.

    Raises:
        InputError: The file is missing or no TOML, a key is unknown or missing, or a value cannot be used.
    """
    file = Path(path)
    content = read_toml(file)
    for part in ("train", "test"):
        if isinstance(content.get(part), str):
            raise InputError(
                f"{part} is a file without a name", file=file, mend=f'write {part} = {{ NAME = "{content[part]}" }}'
            )
    plan = validated(SweepPlan, content, file=file)
    for name, count in Counter(plan.models).items():
        if count > 1:
            raise InputError(f"the model {name!r} is named twice", file=file, mend=_NAMED_TWICE)
    for name in plan.of:
        if name not in plan.models:
            raise InputError(f"[of.{name}] is of no model of the plan", file=file, mend=did_you_mean(name, plan.models))
    if plan.every.model is not None:
        raise InputError("every.model cannot hold for all", file=file, mend="name the models in `models`")
    for section, settings in {"every": plan.every, **{f"of.{name}": each for name, each in plan.of.items()}}.items():
        if settings.workers is not None:
            raise InputError(f"{section}.workers is not of a plan", file=file, mend=f"give {option('workers')}")
    return plan


def sweep_jobs(plan: SweepPlan, folder: Path = Path()) -> list[Job]:
    """The jobs of a plan, checked; seed by seed, so that a sweep that is stopped has something of every model.

    Args:
        plan: The plan.
        folder: What its paths are relative to.

    Raises:
        InputError: A job cannot be done as it is, or two jobs would write the same run.
        MissingDependencyError: The extra `train` is not installed.
    """
    tests = {name: _load(folder, place, "test", plan, name) for name, place in plan.test.items()}
    training = {name: _load(folder, place, "train", plan, name) for name, place in plan.train.items()}
    jobs = []
    for label in plan.models:
        options = with_sources(_options(plan, label, folder), folder / plan.out)
        model, seeds = options.pop("model"), options.pop("seeds")
        for dataset in training.values():
            jobs += plan_jobs(
                dataset, model, tests, out=folder / plan.out, seeds=seeds, columns=plan.columns, **options
            )
    for name, count in Counter(job.name for job in jobs).items():
        if count > 1:
            raise InputError(
                f"{count} jobs would write the same run, {name}",
                mend="give models names of their own in [of.NAME], or training sets other names",
            )
    return sorted(jobs, key=lambda job: job.seed)


def _load(folder: Path, place: str, part: str, plan: SweepPlan, name: str) -> Dataset:
    near = folder / place
    return replace(load_texts(near if near.exists() else place, part, plan.columns), name=name)


def _options(plan: SweepPlan, label: str, folder: Path) -> dict[str, Any]:
    """Arguments of `plan_jobs` for one model: its own settings over those of every model."""
    own = plan.of.get(label, TrainingSettings())
    given = own.model_dump(exclude_unset=True)
    options = plan.every.arguments() | {name: value for name, value in own.arguments().items() if name in given}
    changes = {**(plan.every.changes or {}), **(own.changes or {})}
    if changes:
        options["changes"] = changes
    # Settings of one objective are not those of another.
    if "objective" in given and own.objective != plan.every.objective and own.objective_changes is None:
        options.pop("objective_changes", None)
    options.setdefault("model", label)
    options.setdefault("precision", unasked_precision(options.get("device", AUTO)))
    options.pop("workers", None)
    local = folder / options["model"]
    if local.is_dir():
        options["model"] = str(local)
    for name in ("dev", "vectors", "bias", "teacher"):
        if name in options and (folder / options[name]).exists():
            options[name] = folder / options[name]
    if label != options["model"] and label in plan.of:
        options["label"] = label
    return options


@dataclass(frozen=True)
class SweepReport(Result):
    """What was trained.

    Attributes:
        out: Folder of the runs.
        n_jobs: Jobs of the plan.
        n_skipped: Of these, done before.
        runs: As of `many_seeds.TrainingReport`.
        failures: name, reason, tries; of jobs that could not be finished.
    """

    out: str
    n_jobs: int
    n_skipped: int
    runs: pl.DataFrame
    failures: pl.DataFrame

    @classmethod
    def of(cls, jobs: Sequence[Job], outcomes: Sequence[Done | Failure]) -> SweepReport:
        """From what came of each job, in their order."""
        pairs = list(zip(jobs, outcomes, strict=True))
        failures = [outcome for _, outcome in pairs if not isinstance(outcome, Done)]
        return cls(
            out=jobs[0].out,
            n_jobs=len(jobs),
            n_skipped=sum(isinstance(outcome, Done) and outcome.skipped for outcome in outcomes),
            runs=pl.DataFrame(
                [row for job, outcome in pairs if isinstance(outcome, Done) for row in run_rows(job, outcome)],
                infer_schema_length=None,
            ),
            failures=pl.DataFrame(
                [{"name": each.name, "reason": each.line, "tries": each.tries} for each in failures],
                schema={"name": pl.String, "reason": pl.String, "tries": pl.Int64},
            ),
        )

    @property
    def cpu_seconds(self) -> float:
        """Of processors, over all jobs that are done."""
        if self.runs.is_empty():
            return 0.0
        job = ("model", "train_set", "condition", "seed")
        return float(self.runs.unique(job, maintain_order=True)["cpu_seconds"].sum())

    def remarks(self) -> list[str]:
        """What is not as one would expect, in sentences."""
        return cut_sentences(self.runs)

    def to_frame(self) -> pl.DataFrame:
        """A row a run and test set."""
        return self.runs

    def summary(self) -> pl.DataFrame:
        """A row a model, training set, condition, test set and metric: mean and SD (ddof 1), seconds a run."""
        if self.runs.is_empty():
            return self.runs
        return summarize(self.runs, ("model", "train_set", "condition", "dataset"))


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
