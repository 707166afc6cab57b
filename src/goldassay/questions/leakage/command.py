"""Leakage, asked in Python and in a shell: `measure_leakage`, `suggest_rewrites` and `goldassay leakage`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from goldassay.core.commands import command
from goldassay.core.errors import InputError, option
from goldassay.core.naming import split_named_path
from goldassay.core.options import (
    Bits,
    Clusters,
    ClusterThreshold,
    Columns,
    ColumnsOf,
    Components,
    Condition,
    Conditions,
    Dataset,
    Embeddings,
    Grid,
    LeakageSeeds,
    Model,
    Models,
    NClusters,
    Out,
    Probabilities,
    Quiet,
    RunPaths,
    Seed,
    SentencePlane,
    SettingsOrFile,
    Shares,
    SplitBy,
    Test,
    Tests,
    Train,
    ValueMap,
    place,
)
from goldassay.questions.run_choice import RunChoice, RunLabels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.report.report import Report

Trains = Annotated[
    Any,
    place(
        "Training data: a file, a folder, or a name on the hub. Several are measured one by one and compared.",
        "[[NAME=]TRAIN...]",
        repeat=True,
    ),
]


@command()
def measure_leakage(
    train: Trains = None,
    test: Tests = None,
    runs: RunPaths = None,
    *,
    model: Model = None,
    conditions: Conditions = None,
    seeds: LeakageSeeds = None,
    n_clusters: NClusters = None,
    components: Components = 30,
    cluster_threshold: ClusterThreshold = 0.25,
    grid: Grid = False,
    plane: SentencePlane = True,
    models: Models = None,
    embeddings: Embeddings = None,
    probabilities: Probabilities = None,
    bits: Bits = None,
    dataset: Dataset = None,
    out: Out = None,
    columns: Columns = None,
    columns_of: ColumnsOf = None,
    map: ValueMap = None,  # noqa: A002
    clusters: Clusters = None,
    split_by: SplitBy = None,
    seed: Seed = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = True,
    **reading: Unpack[RunLabels],
) -> Report:
    """Measure how much of the label a part of the input gives away, and where.

    Trains small models that see only a part of each example, or takes what other models left behind, and says how
    much of the label they recover, in points and in bits; whether they decide as a model of the whole input does, and
    look at the same words; and which clusters of sentences give their label away, what these are about, and which to
    rewrite. Writes report.html, report.json, report.md, tables and figures, and prints a verdict. Without --test the
    data's own test part is used, or every row is scored by five folds (of over 100,000 rows, and for a network, a fifth
    is split off such that no sentence is in both, five times anew).
    Without --model quick probes are trained; of networks MiniLM-size encoders are recommended.

      goldassay leakage measure train.jsonl --test test.jsonl --model bilstm --seeds 5
      goldassay leakage measure a=a.jsonl b=b.jsonl --test a=a-test.jsonl --test b=b-test.jsonl
      goldassay leakage measure --runs runs --test test.jsonl --embeddings hypothesis=cls.npy
      goldassay leakage measure --test test.jsonl --embeddings hypothesis=cls.npz

    Note:
        Data are a path, a `Dataset`, or a polars or pandas frame, Arrow table, `datasets.Dataset` or list of dicts; a
        list of paths is several datasets, of each of which the report is saved in a folder of its name in `out`. Runs
        are paths, with the embeddings and relevances beside them, `Runs`, or tables with a row a prediction, or
        several of these. Runs that are trained are kept in `out/runs`, and what is already there is used again.

    Returns:
        The report; it shows itself in a notebook, and `.save(directory)` writes its files. Of several datasets its
        `result` is {name: report}.

    Raises:
        InputError: The data or the evidence cannot be used; the message says where and how to mend it.
    """
    from goldassay.core.settings import chosen
    from goldassay.data.roles import with_own, with_values
    from goldassay.questions.inputs import input_names, run_paths
    from goldassay.questions.leakage.given import GivenEvidence
    from goldassay.questions.leakage.partial_input import LeakageChoice
    from goldassay.questions.leakage.question import study_leakage

    beside = {"embeddings": embeddings, "probabilities": probabilities, "bits": bits}
    is_given = runs is not None or any(beside.values())
    of_runs: dict[str, Any] = {"models": models, "dataset": dataset}
    of_runs |= {name: reading.get(name) for name in ("train_set", "labels")}
    # By themselves embeddings and probabilities are of no model that could be chosen.
    of_runs |= {"model": model} if is_given else {}
    if runs is None and (alone := next((name for name, value in of_runs.items() if value), None)):
        mend = f"leave it out, or name the predictions with {option('runs')}"
        raise InputError(f"{option(alone)} goes with runs", mend=mend)
    trains, tests = _each(train), _each(test)
    with run_paths(runs, named=False) as paths:
        given = None
        if is_given:
            choice = RunChoice.of(**reading, model=model, dataset=dataset)
            files = {role: os.fspath(file) for role, file in (embeddings or {}).items()}
            given = GivenEvidence(paths, choice, models or {}, files, probabilities or {}, bits or {})
        options: dict[str, Any] = {
            "given": given,
            "model": None if is_given else model,
            "conditions": tuple(conditions or ()),
            "seeds": seeds,
            "choice": LeakageChoice(
                n_clusters=n_clusters, n_components=components, threshold=cluster_threshold, grid=grid, map=plane
            ),
            "label_names": reading.get("label_names"),
            "columns": with_own(with_values(columns, map), columns_of, input_names(trains, tests)),
            "settings": chosen(settings, seed, clusters=clusters, split_by=split_by),
            "quiet": quiet,
        }
        if len(trains) > 1:
            return _several(trains, tests, out, options)
        if len(tests) > 1:
            raise InputError(
                "several evaluation sets are given for one training set",
                mend=f"give one as {option('test')}, or name each with NAME=TRAIN and {option('test', 'NAME=FILE')}",
            )
        return study_leakage(*(trains or [None]), *(tests or [None]), out=out, **options)


@command()
def suggest_rewrites(
    train: Train,
    test: Test = None,
    *,
    condition: Condition = None,
    shares: Shares = (0.02, 0.05, 0.1, 0.2, 0.3),
    columns: Columns = None,
    columns_of: ColumnsOf = None,
    map: ValueMap = None,  # noqa: A002
    seed: Seed = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = True,
) -> Report:
    """Rank the rows to rewrite or drop first, and measure what leakage falls to without them.

    Each row's label is predicted from its hypothesis alone by probes trained on other rows; those that are given away
    by most bits come first. Probes are then fitted anew without the first rows, and for comparison without as many at
    random. Writes tables/rows.csv (all rows, ranked, with the patterns that give them away) and a report.

    Multiple-choice items and preferences are ranked by what rules without training and a probe of the choices, or of
    the responses, tell of the answer;
    tables/rows.csv says what to change in each, and tables/mends.csv in how many items until a rule is at chance.

    Note:
        Data are a path, a `Dataset`, or a polars or pandas frame, Arrow table, `datasets.Dataset` or list of dicts. A
        test set is measured on as well, and left as it is; items with choices take none.

    Returns:
        The report. Its tables are `rows`, all of them ranked, and `after_dropping`; of items also `mends`, one row per
        rule.

    Raises:
        InputError: The data or what is asked for cannot be used.
    """
    from goldassay.core.settings import chosen
    from goldassay.data.roles import with_own, with_values
    from goldassay.questions.leakage.suggestions import study_rewrites

    dropped = (shares,) if isinstance(shares, (int, float)) else tuple(shares)
    roles = with_own(with_values(columns, map), columns_of, ("train", "test"))
    return study_rewrites(train, test, condition, dropped, roles, chosen(settings, seed), quiet)


def _each(data: Any) -> list[Any]:
    """The datasets of a list of paths; all else is one."""
    if isinstance(data, (list, tuple)) and data and all(isinstance(each, (str, os.PathLike)) for each in data):
        return list(data)
    return [] if data is None else [data]


def _several(trains: Sequence[str], tests: Sequence[str], out: Any, options: dict[str, Any]) -> Report:
    """Measure datasets one by one, each into a folder of its name, and lay them side by side."""
    from dataclasses import replace

    from goldassay.core.naming import pairs
    from goldassay.questions.leakage.datasets import compare_datasets
    from goldassay.questions.leakage.question import study_leakage

    if options["given"] is not None:
        raise InputError("evidence made elsewhere is of one dataset", mend=f"give one at most with {option('runs')}")
    named = [split_named_path(os.fspath(each)) for each in trains]
    names = [name or Path(path).name.partition(".")[0] for name, path in named]
    mend = f"say of which set it is, as in {option('test', f'{names[0]}=FILE')}"
    held_out = pairs(tests, "test", "NAME=FILE", mend)
    if len(set(names)) < len(names):
        raise InputError("two datasets have the same name", mend="name them as NAME=TRAIN")
    if unknown := [name for name in held_out if name not in names]:
        raise InputError(
            f"{option('test')} names {unknown[0]!r}, of which there is no training set",
            mend=f"choose from {', '.join(names)}",
        )
    reports = {}
    for name, (_, path) in zip(names, named, strict=True):
        test = f"{name}={held_out[name]}" if name in held_out else None
        folder = None if out is None else Path(out) / name
        reports[name] = study_leakage(f"{name}={path}", test, out=folder, called=name, **options)
        if folder is not None:
            reports[name].save(folder)
    return replace(compare_datasets(reports), result=reports)
