"""The question of shift: does the score hold on another distribution, and does the model know when it left its own?

Shift as a study of its own: from runs on several sets, or from data to train on, to a report.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.arguments import check_whole
from goldassay.core.errors import InputError, option, place, right_labels
from goldassay.core.files import temporary_folder, write_parquet, written_whole
from goldassay.core.naming import split_named_path
from goldassay.core.progress import Steps
from goldassay.core.sections import Finding
from goldassay.core.settings import Settings, with_seed
from goldassay.data.reading import load_data
from goldassay.data.roles import naming
from goldassay.questions.evidence import Evidence
from goldassay.questions.inputs import describe_inputs, named_sources, run_paths
from goldassay.questions.networks import files_since, network_trainer
from goldassay.questions.report_frame import compose_report, frame_findings
from goldassay.questions.rows import MOST_ROWS, first_to_read
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.shift.gaps import check_choice, explain_wrong, measure
from goldassay.questions.shift.groups import TRAINING, GapChoice, Read, read_answering, read_models, title_of
from goldassay.questions.shift.quick_models import QUICK, is_quick, no_confidence, predict_quick
from goldassay.questions.shift.result import GeneralizationResult
from goldassay.questions.shift.verdict import judge_gaps
from goldassay.runs.kinds.opening import load_texts
from goldassay.runs.store import METADATA_KEY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.questions.shift.measures.set_metrics import Metric
    from goldassay.report.report import Report


def study_shift(
    train: Any,
    test: Any,
    runs: Any,
    choice: RunChoice,
    *,
    model: str | Sequence[str] | None,
    seeds: int,
    texts: Any,
    features: bool,
    in_distribution: str | Mapping[str, str] | None,
    parameters: Mapping[str, int] | None,
    trained_on: Any,
    out: str | os.PathLike[str] | None,
    **measuring: Any,
) -> Report:
    """Measure shift, as `measure_shift` does.

    Raises:
        InputError: As `measure_shift`.
    """
    check_parts(train, test, runs, texts, trained_on)
    own = {"": in_distribution} if isinstance(in_distribution, str) else dict(in_distribution or {})
    for name, size in (parameters or {}).items():
        check_whole(f"the number of parameters of {name}", size, 1)
    if train is None:
        named = model if model is None or isinstance(model, str) else ",".join(model)
        with run_paths(runs) as paths:
            return report_generalization(
                paths,
                in_distribution=own,
                choice=replace(choice, model=named),
                trained_on=_training(trained_on, choice),
                sizes=parameters,
                **measuring,
            )
    models = _names(model)
    if not models:
        raise InputError("no model is named", mend=f"name some with {option('model', 'bow,average,lstm')}")
    with _workplace(out) as folder:
        return report_trained(
            train,
            named_sources(test),
            named_sources(texts),
            models=models,
            seeds=seeds,
            out=folder,
            in_distribution=own,
            columns=choice.columns,
            features=features,
            sizes=parameters,
            **measuring,
        )


def check_parts(train: Any, test: Any, runs: Any, texts: Any, trained_on: Any) -> None:
    """Refuse what does not go together: models are trained here, or their runs are given.

    Raises:
        InputError: The message names the parameters.
    """
    has_runs = runs is not None
    if (train is None) != has_runs:
        raise InputError(
            "training data and runs were both given" if has_runs else "neither training data nor runs were given",
            mend=f"give {place('train')} with {option('test')}, or predictions with {option('runs')}",
        )
    for name, value in (("test", test), ("texts", texts)):
        if value is not None and train is None:
            raise InputError(
                f"{option(name)} is for training models",
                mend=f"give the texts of datasets with {right_labels('NAME=FILE')}",
            )
    if trained_on is not None and train is not None:
        raise InputError(
            f"{option('trained-on')} is for runs made elsewhere",
            mend=f"leave it out: {place('train')} is what is trained on",
        )


def _names(model: str | Sequence[str] | None) -> list[str]:
    parts = (model or "").split(",") if model is None or isinstance(model, str) else model
    if not isinstance(parts, (list, tuple)):
        raise InputError("no model is named", mend=f"name some with {option('model', 'bow,average,lstm')}")
    return [part.strip() for part in parts if part.strip()]


def _training(data: Any, choice: RunChoice) -> Dataset | None:
    if data is None:
        return None
    found = load_data(data, "train", dict(choice.columns) or None, argument="trained_on")
    if not found.text_columns:
        raise InputError(
            "the training data have no texts",
            file=found.source,
            mend=naming(found.examples, "text", besides=["example_id"]),
        )
    return found


@contextmanager
def _workplace(out: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The folder that was named, or one that is gone afterwards."""
    if out is not None:
        yield Path(out)
        return
    with temporary_folder() as folder:
        yield folder


def report_trained(
    train: Any,
    tests: Sequence[tuple[str, Any]],
    outside: Sequence[tuple[str, Any]],
    *,
    models: Sequence[str],
    seeds: int,
    out: Path,
    in_distribution: Mapping[str, str],
    columns: Mapping[str, str],
    features: bool = False,
    quiet: bool,
    **options: Any,
) -> Report:
    """Train every model with every seed, evaluate it on every set, and report what its score loses.

    Args:
        train: Training data: a path, a `Dataset` or a frame.
        tests: (name or "", data) of the sets with labels, the model's own distribution first.
        outside: Likewise of texts without labels of the task, which are predicted alone.
        models: Names.
        seeds: How many.
        out: The runs are kept in its folder `runs`.
        in_distribution: As for `report_generalization`.
        columns: {role: column name}, for all data.
        features: Predict the training data too, under the name "train", and keep the features of every text, for
            distances in detection.
        quiet: Show no progress.
        options: Of `report_generalization`. Of its settings, [training] says how networks are made: configuration,
            changes, rows, bootstrap, vectors, precision and device.

    Raises:
        InputError: Data cannot be read, there are fewer than two sets, or a model cannot be trained on these data.
    """
    if len(tests) < 2:
        raise InputError(
            f"{'one evaluation set was' if tests else 'no evaluation sets were'} given, and a gap is between two",
            mend=f"give {option('test', 'ID=FILE')} for the model's own distribution and "
            f"{option('test', 'NAME=FILE')} for another",
        )
    check_whole("seeds", seeds, 1)
    for model in models:
        if model not in QUICK:
            network_trainer().check_name(model)
    steps = Steps(quiet)
    made = (options.get("settings") or Settings()).training.of_network()
    with steps.step("reading the data"):
        training = _read("", train, "train", columns)
        sets = [with_texts_of(_read(name, data, "test", columns), training) for name, data in tests]
        foreign = [
            without_labels(with_texts_of(_read(name, data, "texts", columns), training)) for name, data in outside
        ]
    network_trainer().check_tests(training, sets)
    kept = [replace(training, name=TRAINING, groups=())] if features else []
    names = [each.name for each in (*sets, *foreign, *kept)]
    if len(set(names)) < len(names):
        raise InputError("two sets have the same name", mend=f"name them with {option('test', 'NAME=FILE')}")
    folder, started = out / "runs", time.time()
    own = dict(in_distribution) or {"": sets[0].name}
    notes = _joined_notes(training, [*sets, *foreign])
    with steps.step("training") as progress:
        for done, model in enumerate(models, 1):
            if is_quick(model, training):
                notes.append(predict_quick(model, training, sets, foreign, range(seeds), folder))
            else:
                known = [*sets, *kept]
                _train_network(model, training, known, foreign, seeds, folder, out / "training", quiet, features, made)
            progress(done, len(models))
    return report_generalization(
        # An earlier command may have left runs of other sets in this folder.
        [str(path) for path in files_since(folder, started)],
        in_distribution=own,
        choice=RunChoice(train_set=training.name),
        texts={each.name: each for each in sets},
        trained_on=training,
        leave_out=[each.name for each in (*foreign, *kept)],
        notes=notes,
        untrained=["bow"] if not training.label_names else [],
        quiet=quiet,
        steps=steps,
        **options,
    )


def _read(name: str, data: Any, part: str, columns: Mapping[str, str]) -> Dataset:
    if isinstance(data, (str, os.PathLike)):
        given, data = split_named_path(os.fspath(data))
        name = name or given
    if part == "texts":
        return load_data(data, part, dict(columns) or None, name or None)
    return load_texts(data, part, dict(columns) or None, name or None, labelled=part == "test")


def _joined_notes(training: Dataset, sets: Sequence[Dataset]) -> list[str]:
    joined = [each.name for each in sets if len(each.provenance.roles.keys() & {"premise", "hypothesis"}) > 1]
    if len(training.text_columns) > 1 or not joined:
        return []
    return [f"The texts of {', '.join(joined)} were joined by one space, since the models take a single text."]


def _train_network(
    model: str,
    training: Dataset,
    sets: Sequence[Dataset],
    foreign: Sequence[Dataset],
    seeds: int,
    folder: Path,
    workplace: Path,
    quiet: bool,
    features: bool,
    made: dict[str, Any],
) -> None:
    """Train by the training room, and keep what it predicted; on texts without labels, without a score."""
    if foreign and not training.label_names:
        raise no_confidence()
    # The training room scores whatever it predicts; the label that stands in is taken out again below.
    placeholders = [with_placeholder(each, training) for each in foreign]
    tests = {each.name: each for each in (*sets, *placeholders)}
    made = made | ({"record": ("predictions", "logits", "embeddings")} if features else {})
    # A checkpoint is called by its folder's name, as everywhere.
    label = None if Path(model).is_dir() else model
    plan = network_trainer().plan(training, model, tests, out=workplace, seeds=seeds, label=label, **made)
    names = {each.name for each in foreign}
    failures = plan.train(quiet=quiet, unscored=names).failures
    if failures.height:
        raise InputError(f"{failures.height} of {plan.n_runs} runs of {model} failed: {failures['reason'][0]}")
    for file in sorted(workplace.rglob("*.parquet")):
        metadata = pl.read_parquet_metadata(file)
        if METADATA_KEY in metadata:
            _keep(file, folder / file.name, metadata, names)
        elif features:
            # In a folder that whoever looks for runs passes over, as the training room does.
            place = folder / "_features" / file.relative_to(workplace)
            with written_whole(place) as aside:
                shutil.copyfile(file, aside)


def _keep(source: Path, target: Path, metadata: dict[str, str], foreign: set[str]) -> None:
    frame = pl.read_parquet(source)
    if frame.height and frame["dataset"][0] in foreign:
        frame = frame.drop("label", "score", strict=False)
    kept = {METADATA_KEY: metadata[METADATA_KEY]}
    with written_whole(target) as aside:
        write_parquet(frame, aside, compression="zstd", statistics=False, metadata=kept)


def with_texts_of(dataset: Dataset, training: Dataset) -> Dataset:
    """The dataset with the texts that a model of the training data takes: several are joined by a space for one.

    Raises:
        InputError: The model takes several, and not these.
    """
    if dataset.text_columns == training.text_columns:
        return dataset
    if len(training.text_columns) > 1:
        raise InputError(
            f"its texts are {', '.join(dataset.text_columns)}, those of the training data "
            f"{', '.join(training.text_columns)}",
            file=dataset.source,
            mend=f"name the columns alike with {option('columns', 'role=name,...')}",
        )
    role = training.text_columns[0]
    joined = pl.concat_str([pl.col(name) for name in dataset.text_columns], separator=" ", ignore_nulls=True)
    examples = dataset.examples.with_columns(joined.alias("__joined")).drop(dataset.text_columns)
    return replace(dataset, examples=examples.rename({"__joined": role}), text_columns=(role,))


def without_labels(dataset: Dataset) -> Dataset:
    """The texts alone."""
    return replace(dataset, examples=dataset.examples.drop("label", strict=False), label_names=(), groups=())


def with_placeholder(dataset: Dataset, training: Dataset) -> Dataset:
    """Texts with a label of the task that means nothing: the training room scores whatever it predicts."""
    return replace(
        dataset,
        examples=dataset.examples.with_columns(pl.lit(training.label_names[0]).alias("label")),
        label_names=training.label_names[:1],
    )


class _Shift:
    question = "shift"
    title = "Shift"
    asks = "Does the score hold on another distribution?"
    needs = ("elsewhere",)

    def run(self, evidence: Evidence) -> Finding:
        """Judge what the score on the evaluation part loses on every set of another distribution."""
        finding = self._judge(evidence, lambda: read_answering(evidence), GapChoice())
        assert finding.rows is not None
        return replace(finding, first_rows=first_to_read(finding.rows, evidence.texts, explain_wrong, MOST_ROWS))

    def measure(self, evidence: Evidence, asked: GapChoice) -> Finding:
        """The same of any runs: what `shift generalization` reports.

        Raises:
            InputError: The runs cannot be read, no model answered on two datasets, or a setting is out of range.
        """
        check_choice(asked)
        return self._judge(evidence, lambda: read_models(evidence, asked), asked)

    def _judge(self, evidence: Evidence, read: Callable[[], Read], asked: GapChoice) -> Finding:
        found, tables, rows = measure(evidence, read, asked)
        verdict = judge_gaps(found.generalization, evidence.settings.verdicts.shift)
        return Finding(self.question, verdict, result=found, tables=tables, rows=rows)


CHECK = _Shift()


def report_generalization(
    runs: Sequence[str],
    *,
    in_distribution: Mapping[str, str] | None = None,
    metric: Metric | None = None,
    floor: float | None = None,
    sizes: Mapping[str, int] | None = None,
    choice: RunChoice | None = None,
    texts: Mapping[str, Dataset] | None = None,
    trained_on: Dataset | None = None,
    notes: Sequence[str] = (),
    leave_out: Sequence[str] = (),
    untrained: Sequence[str] = (),
    seed: int | None = None,
    n_draws: int = 1000,
    settings: Settings | None = None,
    quiet: bool = True,
    steps: Steps | None = None,
) -> Report:
    """Measure what every model's metric loses from its own distribution to others.

    Args:
        runs: Paths of predictions, or NAME=PATH.
        in_distribution: {training set: its dataset}; "" stands for all that are not named.
        metric: Of the scores; None says it by what is there: a correlation where labels are numbers.
        floor: What a mean of graded scores is without any knowledge; None: nobody declared it, 0 is taken, and no loss
            is called harmless.
        sizes: {model: parameters}, for the gap against size, where the runs do not say it or another counts.
        choice: Which runs to take, how to read them, and where right labels and texts are.
        texts: {dataset: its texts}, where they are in memory.
        trained_on: What all models were trained on: texts of other sets that stand there are left out of the gaps.
        notes: Further sentences on how the runs came about.
        untrained: Models that no seed can change.
        leave_out: Datasets at the paths that have no labels of the task.
        seed: Of all draws; by default that of the settings.
        n_draws: Of the intervals.
        settings: Hold seed and limits.
        quiet: Show no progress.
        steps: Of the work so far, where there was some.

    Raises:
        InputError: The runs cannot be read, no model answered on two datasets, or a setting is out of range.
    """
    asked = GapChoice(
        in_distribution or {}, metric, floor, sizes or {}, tuple(notes), tuple(leave_out), tuple(untrained), n_draws
    )
    evidence = Evidence(
        runs=runs,
        choice=choice,
        texts=texts,
        trained_on=trained_on,
        settings=with_seed(settings or Settings(), seed),
        steps=steps or Steps(quiet),
    )
    settings = evidence.settings
    finding = CHECK.measure(evidence, asked)
    found = finding.result
    assert finding.verdict is not None
    assert isinstance(found, GeneralizationResult)
    findings = {
        "questions": ["shift"],
        "inputs": describe_inputs(evidence.run_places, evidence.named_runs, evidence.choice),
        "shift": found,
        "settings": {
            "seed": settings.seed,
            "draws": n_draws,
            "metric": metric,
            "floor": floor,
            "in_distribution": dict(asked.in_distribution),
            "trained_on": None if trained_on is None else trained_on.name,
            "reading": evidence.choice.describe(),
            "verdicts": settings.verdicts.shift.model_dump(mode="json"),
        },
    }
    title = title_of("Generalization", found.sets)
    document = frame_findings(title, findings, evidence.steps, settings, verdicts={"shift": finding.verdict})
    return compose_report(document, finding.tables, findings=[finding])
