"""Many seeds: one model, trained again and again under each condition, into a folder of runs.

Asking bias models and teachers for their opinions when jobs are planned.

How right the models beside the network are: the bias model, and the discriminators of adversarial training.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from goldassay.core.errors import GoldassayError, InputError, option
from goldassay.core.naming import did_you_mean
from goldassay.core.results import Result
from goldassay.data.dataset import Dataset
from goldassay.lab.models import OWN_OBJECTIVES, full_name, load_network
from goldassay.lab.models.vocabulary import VectorFile
from goldassay.lab.training.configured import check_job, configuration_of
from goldassay.lab.training.job import RECORDS, SOURCES, TRAINING_ROWS, Done, Failure, Job, Seeds, Watcher
from goldassay.lab.training.objectives import DEV, TRAIN, TeacherSource, part_of_test
from goldassay.lab.training.precision import DEVICES, PRECISIONS, check_choice, choose_precision
from goldassay.lab.training.snapshots import NO_SNAPSHOT, Snapshot, TeacherSnapshot, snapshot_teacher, take_snapshot
from goldassay.lab.training.targets import METRICS, Target, target_of
from goldassay.lab.training.workers import run_jobs
from goldassay.readers.conditions import roles_of
from goldassay.runs.kinds.opening import load_texts

# More are a slip of the finger, whose jobs would fill the memory before the first is done.
MOST_SEEDS = 100_000

Data = str | os.PathLike[str] | Dataset
Columns = str | Mapping[str, str] | None
Tests = Data | Sequence[Data | tuple[str, Data]] | Mapping[str, Data]


@dataclass(frozen=True)
class TrainingReport(Result):
    """What was trained.

    Attributes:
        model: What the runs call it.
        out: Folder of the runs.
        n_jobs: Runs that were asked for.
        runs: model, train_set, condition, seed, n_train_cut, dataset, n_examples, n_cut, a column for each metric
            (accuracy, or pearson and spearman where labels are numbers), steps, selected_step, seconds and cpu_seconds
            (of the whole job), skipped (it was already there).
        failures: name, reason; of jobs that could not be finished.
        settings: Sizes and recipe.
        words: Where there is a file of word vectors: how many words the network knows, and how many are found in it;
            of the run with the smallest share.
        beside: condition, seed, role, model, about, dataset, part, accuracy; of bias models and discriminators.
    """

    model: str
    out: str
    n_jobs: int
    runs: pl.DataFrame
    failures: pl.DataFrame
    settings: dict[str, Any]
    beside: pl.DataFrame
    words: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """A row a run and test set."""
        return self.runs

    def summary(self) -> pl.DataFrame:
        """A row a condition, test set and metric: mean and standard deviation (ddof 1) over runs, seconds a run."""
        return summarize(self.runs, ("condition", "dataset"))

    def remarks(self) -> list[str]:
        """What is not as one would expect, in sentences."""
        return cut_sentences(self.runs) + self._of_words() + beside_sentences(self.beside)

    def _of_words(self) -> list[str]:
        if not self.words:
            return []
        known, found = self.words["known"], self.words["found"]
        kept = "stay as they are" if self.settings["sizes"]["frozen"] else "are trained on"
        have = "has" if found == 1 else "have"
        return [f"Of the {known:,} words of the network, {found:,} {have} a vector in the file; all vectors {kept}."]


def train(
    train: Data,
    model: str,
    tests: Tests,
    *,
    out: str | os.PathLike[str] = "runs",
    seeds: int | Sequence[int] = 10,
    conditions: Sequence[str] | None = None,
    dev: Data | None = None,
    workers: int | None = None,
    columns: str | Mapping[str, str] | None = None,
    vectors: str | os.PathLike[str] | None = None,
    bias: TeacherSource | None = None,
    teacher: TeacherSource | None = None,
    watcher: Watcher | None = None,
    **options: Any,
) -> TrainingReport:
    """Train a model with several seeds and write what it leaves behind into a folder of runs.

    What is already there is not done again, and what was begun goes on from its last checkpoint.

    Args:
        train: To train on: a file, a folder, a hub name or a dataset.
        model: Name of a network, or a checkpoint's folder or name on the hub.
        tests: What to evaluate on; a mapping, or pairs of name and data, name the sets.
        out: Folder of the runs.
        seeds: How many (0, 1, ...), or which.
        conditions: What the model sees; all texts if not given. See `conditions_of` and `transformations_of`.
        dev: What to choose the best epoch by.
        workers: Processes side by side; if not given one a GPU, or where there is none one a core.
        columns: Role to column where names do not tell, for all files.
        vectors: File of word vectors to start from, as word2vec and GloVe write them.
        bias: Where a bias model's opinions come from, for objectives that take one; see `lab.training.teachers`.
        teacher: Where a teacher's come from, for objectives that learn from one; by default each run trains its own.
        watcher: Told how the jobs go.
        options: Other fields of `Job`: configuration, changes, objective, objective_changes, vary, rows, bootstrap,
            weights, checkpoint_every, state_every, record, precision (or "auto": what this machine multiplies fastest),
            device, threads, deterministic, label.

    Raises:
        InputError: Anything that keeps all of it from being done, in one line.
        MissingDependencyError: The extra `train` is not installed.
        OutputError: The folder cannot be written to, or the disk is full.
        GoldassayError: Not a single job could be finished.
    """
    check_workers(workers)
    jobs = plan_jobs(
        train, model, tests, out=out, seeds=seeds, conditions=conditions, dev=dev, columns=columns, vectors=vectors,
        bias=bias, teacher=teacher, **options,
    )  # fmt: skip
    return run_plan(jobs, workers, watcher)


def run_plan(jobs: Sequence[Job], workers: int | None = None, watcher: Watcher | None = None) -> TrainingReport:
    """Do the jobs of `plan_jobs`; see `train`."""
    outcomes = run_jobs(jobs, workers, watcher)
    pairs = list(zip(jobs, outcomes, strict=True))
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    if len(failures) == len(jobs):
        raise GoldassayError(f"{failures[0].name}: {failures[0].line}")
    first = jobs[0]
    return TrainingReport(
        model=first.model_name,
        out=first.out,
        n_jobs=len(jobs),
        runs=pl.DataFrame(
            [row for job, outcome in pairs if isinstance(outcome, Done) for row in run_rows(job, outcome)]
        ),
        failures=pl.DataFrame(
            [{"name": failure.name, "reason": failure.line} for failure in failures],
            schema={"name": pl.String, "reason": pl.String},
        ),
        settings=configuration_of(first).to_dict(),
        beside=beside_table(
            (job.condition, job.seed, outcome.objective) for job, outcome in pairs if isinstance(outcome, Done)
        ),
        words=min(
            (outcome.words for outcome in outcomes if isinstance(outcome, Done)),
            key=lambda words: words.get("found", 0) / words.get("known", 1),
        ),
    )


def plan_jobs(
    train: Data,
    model: str,
    tests: Tests,
    *,
    out: str | os.PathLike[str],
    seeds: int | Sequence[int],
    conditions: Sequence[str] | None = None,
    dev: Data | None = None,
    columns: str | Mapping[str, str] | None = None,
    vectors: str | os.PathLike[str] | None = None,
    bias: TeacherSource | None = None,
    teacher: TeacherSource | None = None,
    **options: Any,
) -> list[Job]:
    """The jobs of `train`, checked: seed by seed, and for each seed condition by condition.

    Raises:
        InputError: See `train`.
    """
    _check_options(options)
    if "precision" in options:
        options["precision"] = choose_precision(options["precision"], options.get("device", DEVICES[0]))
    model = full_name(model)
    numbers = _seeds(seeds, options.get("vary", SOURCES))
    training = load_texts(train, "train", columns)
    target = target_of(training)
    target.check(training)
    shown = tuple(conditions) if conditions else (_all_texts(training),)
    for condition in shown:
        roles_of(condition, training.text_columns)
    if len(set(shown)) < len(shown):
        raise InputError("the same condition is given twice", mend="give each once")
    evaluation = [_of_same_texts(each, training) for each in _tests(tests, columns, target)]
    target.check_tests(training, evaluation)
    if len({each.name for each in evaluation}) < len(evaluation):
        twice = next(name for name, count in Counter(each.name for each in evaluation).items() if count > 1)
        raise InputError(f"two test sets have the name {twice!r}", mend=f"name them with {option('test', 'NAME=FILE')}")
    weights = options.get("weights")
    if weights is not None and weights not in training.examples.columns:
        raise InputError(
            f"there is no column {weights!r} with weights",
            file=training.source,
            mend=did_you_mean(weights, training.examples.columns),
        )
    if vectors is not None:
        if not load_network(model, target.kind).takes_vectors:
            raise InputError(f"{model} does not start from word vectors", mend=f"leave out {option('vectors')}")
        options["vectors"] = VectorFile.check(vectors)
    options.setdefault("objective", OWN_OBJECTIVES.get(model, target.objective))
    chosen_by: Dataset | None = None
    if dev is not None:
        chosen_by = _of_same_texts(load_texts(dev, "dev", columns, labelled=target.kind != "span"), training)
        target.check(training, [chosen_by])
    # Before anything is written or asked for its opinions: what that costs is not spent on jobs that are refused.
    draft = Job(
        model, NO_SNAPSHOT, (), "", condition=shown[0], dev=None if chosen_by is None else NO_SNAPSHOT, **options
    )
    check_job(promised(draft, bias, teacher), training)
    folder = Path(out)
    held = take_snapshot(training, folder, () if weights is None else (weights,))
    watched = None if chosen_by is None else take_snapshot(chosen_by, folder)
    made_of = tuple(take_snapshot(each, folder) for each in evaluation)
    jobs = [
        Job(model, held, made_of, str(folder), seed=seed, condition=condition, dev=watched, **options)
        for seed in numbers
        for condition in shown
    ]
    return with_teacher(jobs, bias, teacher)


def check_workers(workers: int | None) -> None:
    """Refuse to have nobody at work.

    Raises:
        InputError: There are fewer than 1.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers}", mend="give 1 or more")


def cut_sentences(runs: pl.DataFrame) -> list[str]:
    """How many texts models did not see to their end, a sentence for each model and dataset of which there are any."""
    if runs.is_empty():
        return []
    trained = runs.group_by("model", "train_set", maintain_order=True).agg(pl.col("n_train_cut").max())
    cut = runs.group_by("model", "dataset", maintain_order=True).agg(pl.col("n_cut").max(), pl.col("n_examples").max())
    return [
        f"Of the training rows of {train_set}, {n_cut:,} are longer than {model} takes and were cut."
        for model, train_set, n_cut in trained.iter_rows()
        if n_cut
    ] + [
        f"Of the {n_examples:,} examples of {dataset}, {n_cut:,} are longer than {model} takes and were cut."
        for model, dataset, n_cut, n_examples in cut.iter_rows()
        if n_cut
    ]


def run_rows(job: Job, done: Done) -> list[dict[str, Any]]:
    """What came of a job, a row a test set; see `TrainingReport.runs`."""
    return [
        {
            "model": job.model_name,
            "train_set": job.train.name,
            "condition": job.condition,
            "seed": job.seed,
            "n_train_cut": done.cut.get(TRAINING_ROWS, 0),
            "dataset": dataset,
            "n_examples": done.n_examples[dataset],
            "n_cut": done.cut[dataset],
            **scores,
            "steps": done.steps,
            "selected_step": done.selected_step,
            "seconds": done.seconds,
            "cpu_seconds": done.cpu_seconds,
            "skipped": done.skipped,
        }
        for dataset, scores in done.scores.items()
    ]


def summarize(runs: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Rows of `run_rows` by some of their columns and by metric: n_runs, mean, sd (ddof 1), seconds and cpu_seconds.

    What is undefined (a correlation with a constant) makes the mean NaN; runs of another metric are left out.
    """
    metrics = [name for name in METRICS if name in runs.columns]
    long = runs.unpivot(metrics, index=[*keys, "seconds", "cpu_seconds"], variable_name="metric", value_name="value")
    return (
        long.drop_nulls("value")
        .group_by(*keys, "metric", maintain_order=True)
        .agg(
            pl.len().alias("n_runs"),
            pl.col("value").mean().alias("mean"),
            pl.col("value").std().alias("sd"),
            pl.col("seconds").mean(),
            pl.col("cpu_seconds").mean(),
        )
    )


def _check_options(options: Mapping[str, Any]) -> None:
    check_choice(options.get("device", DEVICES[0]), options.get("precision", PRECISIONS[0]))
    if options.get("label") is not None and not str(options["label"]).strip():
        raise InputError("the name of the runs is empty", mend=f"leave out {option('name')}, or give one")
    record = options.get("record", ("predictions",))
    for what in record:
        if what not in RECORDS:
            raise InputError(f"{what!r} cannot be recorded", mend=did_you_mean(what, RECORDS))
    for name in ("rows", "checkpoint_every", "threads"):
        value = options.get(name)
        if value is not None and value < 1:
            raise InputError(f"{name} is {value}", mend="give 1 or more")
    state_every = options.get("state_every", 0)
    if not (0 <= state_every < math.inf):
        raise InputError(f"state_every is {state_every}", mend="give minutes, from 0 up")


def _seeds(seeds: int | Sequence[int], vary: Sequence[str]) -> tuple[int, ...]:
    if isinstance(seeds, int) and not 0 <= seeds <= MOST_SEEDS:
        raise InputError(
            f"{seeds} seeds are asked for",
            mend=f"give how many, at most {MOST_SEEDS:,}, or single seeds with commas (a single one as 7,)",
        )
    numbers = tuple(range(seeds)) if isinstance(seeds, int) else tuple(seeds)
    if not numbers:
        raise InputError("no seed is given", mend=f"give one or more with {option('seeds')}")
    if len(set(numbers)) < len(numbers):
        raise InputError("the same seed is given twice", mend="give each seed once")
    for number in numbers:
        Seeds.varying(number, vary)
    return numbers


def _all_texts(training: Dataset) -> str:
    return "text" if len(training.text_columns) == 1 else "paired"


def _tests(tests: Tests, columns: Columns, target: type[Target]) -> list[Dataset]:
    several: Sequence[Data | tuple[str, Data]]
    if isinstance(tests, (str, os.PathLike, Dataset)):
        several = [tests]
    else:
        several = list(tests.items()) if isinstance(tests, Mapping) else tests
    if not several:
        raise InputError("there is nothing to evaluate on", mend=f"name a test set with {option('test', 'FILE')}")
    named = [each if isinstance(each, tuple) else (None, each) for each in several]
    return [load_texts(data, "test", columns, name, labelled=target.kind != "span") for name, data in named]


def _of_same_texts(test: Dataset, training: Dataset) -> Dataset:
    if test.text_columns != training.text_columns:
        raise InputError(
            f"its texts are {', '.join(test.text_columns)}, those of the training data "
            f"{', '.join(training.text_columns)}",
            file=test.source,
            mend=f"make the roles equal with {option('columns-of', test.name)}",
        )
    return test


# Stands for opinions that are not made yet, where it only matters that there are some.
_PROMISED = TeacherSnapshot("", "", "")


def promised(job: Job, bias: TeacherSource | None, teacher: TeacherSource | None) -> Job:
    """A job as `with_teacher` will give it, to be checked before the opinions are made, which may take long."""
    return replace(job, bias=None if bias is None else _PROMISED, teacher=None if teacher is None else _PROMISED)


def with_teacher(jobs: Sequence[Job], bias: TeacherSource | None, teacher: TeacherSource | None) -> list[Job]:
    """Jobs on the same data, each with what the bias model and the teacher say of it.

    Raises:
        InputError: See `OpinionSource.on`.
        OutputError: The folder cannot be written to, or the disk is full.
    """
    of_bias, of_teacher = _Asked(bias), _Asked(teacher)
    asked = []
    for job in jobs:
        parts = {TRAIN: job.train, **({} if job.dev is None else {DEV: job.dev})}
        own = set(job.train.load().label_names)
        # Opinions are of the training labels; sets with coarser ones go without.
        parts |= {part_of_test(each.name): each for each in job.tests if own >= set(each.load().label_names)}
        asked.append(replace(job, bias=of_bias.on(parts, job), teacher=of_teacher.on({TRAIN: job.train}, job)))
    return asked


class _Asked:
    """A source that is asked once, or once a seed."""

    def __init__(self, source: TeacherSource | None) -> None:
        self.source = source
        self.held: dict[int | None, TeacherSnapshot] = {}

    def on(self, parts: dict[str, Snapshot], job: Job) -> TeacherSnapshot | None:
        if self.source is None:
            return None
        key = job.seed if self.source.follows_seed else None
        if key not in self.held:
            self.held[key] = snapshot_teacher(self.source, parts, job.seed, Path(job.out))
        return self.held[key]


_SCHEMA = {
    "condition": pl.String, "seed": pl.Int64, "role": pl.String, "model": pl.String, "about": pl.String,
    "dataset": pl.String, "part": pl.String, "accuracy": pl.Float64,
}  # fmt: skip


def beside_table(found: Iterable[tuple[str, int, dict[str, Any]]]) -> pl.DataFrame:
    """A row a run, model beside its network, and dataset.

    Args:
        found: Of each run the condition, the seed, and what `describe_objective` gave.
    """
    rows = [
        {"condition": condition, "seed": seed, **row}
        for condition, seed, described in found
        for row in described.get("beside", [])
    ]
    return pl.DataFrame(rows, schema=_SCHEMA)


def beside_sentences(table: pl.DataFrame) -> list[str]:
    """Mean accuracies over runs, a sentence a model."""
    names = ["condition", "role", "model", "about"]
    means = table.group_by(*names, "dataset", maintain_order=True).agg(pl.col("accuracy").mean())
    sentences = []
    for key, rows in means.group_by(names, maintain_order=True):
        _, role, model, about = map(str, key)
        named = f"The bias model {model}, {about}," if role == "bias" else f"After training, {model}"
        scores = ", ".join(
            f"{100 * accuracy:.2f} on {name}" for name, accuracy in rows.select("dataset", "accuracy").rows()
        )
        sentences.append(f"{named} has accuracy {scores}.")
    return list(dict.fromkeys(sentences))
