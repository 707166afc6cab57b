"""Train models here and ask of them what their scores lose elsewhere.

Quick models are trained in this process; networks go through the training room, which keeps what is done. What they
predicted lies in the report's folder as runs, and the report is made of these as of anybody's.
"""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.arguments import check_whole
from goldassay.core.entry_point import option
from goldassay.core.errors import InputError
from goldassay.core.files import write_parquet, written_whole
from goldassay.core.naming import split_named_path
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.data.reading import load_data
from goldassay.questions.evidence_directory import files_since
from goldassay.questions.networks import network_trainer
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.shift.foreign import with_placeholder, with_texts_of, without_labels
from goldassay.questions.shift.groups import TRAINING
from goldassay.questions.shift.question import report_generalization
from goldassay.questions.shift.quick_models import QUICK, is_quick, no_confidence, predict_quick
from goldassay.runs.store import METADATA_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.report.report import Report


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
    return load_data(data, part, dict(columns) or None, name or None)


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
