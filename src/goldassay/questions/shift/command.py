"""Shift, asked in Python and in a shell: `build_shift`, `measure_shift`, `detect_shift` and `goldassay shift`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from goldassay.core.commands import command
from goldassay.core.errors import InputError, option
from goldassay.core.options import (
    AnyModels,
    By,
    Columns,
    Draws,
    Floor,
    InDistribution,
    Inside,
    KeepFeatures,
    Metric,
    MinRows,
    NamedRunPaths,
    Neighbor,
    Out,
    Outside,
    Parameters,
    Quiet,
    Recall,
    Rule,
    Scores,
    Seed,
    Seeds,
    SettingsOrFile,
    Source,
    Tests,
    Texts,
    TrainedOn,
    TrainRuns,
    place,
)
from goldassay.questions.run_choice import RunChoice, RunFormat, RunReading

if TYPE_CHECKING:
    from goldassay.questions.shift.building import Benchmark
    from goldassay.report.report import Report


@command()
def build_shift(
    name: Annotated[str | None, place("A recipe; without it and without --by all are listed.", "[NAME]")] = None,
    source: Source = None,
    *,
    by: By = None,
    min_rows: MinRows = 50,
    columns: Columns = None,
    seed: Seed = None,
    quiet: Quiet = True,
) -> Benchmark:
    """Build the splits of a benchmark of several domains: a train, dev and test set of each.

    Texts are made distinct over the whole benchmark before anything is split, sizes are checked against those that are
    expected, and the ids of every set are kept in ids/. Without files the command says where they are published.

      goldassay shift build
      goldassay shift build stsb --source Stsbenchmark -o sts
      goldassay shift build --by genre --source reviews.jsonl -o reviews

    Note:
        With `by` the source is one dataset: a path or several, a `Dataset`, or a polars or pandas frame, Arrow table,
        `datasets.Dataset` or list of dicts.

    Returns:
        The benchmark; `.save(directory)` writes a file a domain and part, and `.splits.parts` holds them as frames.

    Raises:
        InputError: Both or neither of a recipe and a column are given, there is no such recipe, files are missing or
            cannot be read, or fewer than two domains have rows enough.
    """
    from goldassay.core.progress import Steps
    from goldassay.questions.shift.building import build

    # The first of several files may stand where a recipe does.
    if name is not None and by is not None and isinstance(source, (list, tuple)) and Path(name).exists():
        name, source = None, [*source, name]
    with Steps(quiet).step("building"):
        return build(name, source, by, min_rows, columns, seed or 0)


@command()
def measure_shift(
    train: Annotated[Any, place("Training data, to train models here; leave it out with --runs.", "[TRAIN]")] = None,
    test: Tests = None,
    runs: NamedRunPaths = None,
    *,
    model: AnyModels = None,
    seeds: Seeds = 3,
    texts: Texts = None,
    features: KeepFeatures = False,
    in_distribution: InDistribution = None,
    metric: Metric = None,
    floor: Floor = None,
    parameters: Parameters = None,
    trained_on: TrainedOn = None,
    out: Out = None,
    draws: Draws = 1000,
    seed: Seed = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = True,
    **reading: Unpack[RunFormat],
) -> Report:
    """Say what a score loses on other distributions, and whether the model's confidence follows.

    For every model and set the metric with its interval, the gap to the model's own distribution, absolute and
    relative; calibration and risk against coverage where there are logits; with texts, the errors made with most
    confidence and the words that separate the sets. Numbers for labels, as of STS-B, are measured by Pearson's
    and Spearman's correlation. With TRAIN, the first --test is the set of the model's own distribution, and --model
    names one network or several, separated by commas: any of goldassay train, or one that trains in a moment,
    quick_probe on classes and ridge on numbers.

    From predictions made elsewhere, with the right labels in them or in --test NAME=FILE:
      goldassay shift generalization --runs own=own.csv --runs other=other.csv --in-distribution own
    From models trained here:
      goldassay shift generalization train.jsonl --test ID=test.jsonl --test other=other.jsonl --model bow,average

    Note:
        Data are a path, a `Dataset`, or a polars or pandas frame, Arrow table, `datasets.Dataset` or list of dicts;
        several of them {name: data} or a list. Runs are paths, each of which may be NAME=PATH, `Runs`, or tables with a
        row a prediction; {name of the dataset: one of these}, or a list. Runs that are trained are kept in `out/runs`,
        and used again. Names of columns hold for data as for runs.

    Returns:
        The report; it shows itself in a notebook, and `.save(directory)` writes its files.

    Raises:
        InputError: Neither or both of `train` and `runs` are given, or what is given cannot be read or measured.
    """
    from goldassay.core.settings import chosen
    from goldassay.data.roles import with_own
    from goldassay.questions.inputs import input_names
    from goldassay.questions.shift.question import study_shift

    if train is not None:
        names = input_names(test, texts)
        reading["columns"] = with_own(reading.get("columns"), reading.pop("columns_of", None), names)
    try:
        return study_shift(
            train,
            test if train is not None else None,
            runs,
            # Evaluation sets of models trained here are right labels of runs.
            RunChoice.of(**reading, test=None if train is not None else test),
            model=model,
            seeds=seeds,
            texts=texts,
            features=features,
            in_distribution=in_distribution,
            parameters=parameters,
            trained_on=trained_on,
            out=out,
            metric=metric,
            floor=floor,
            n_draws=draws,
            settings=chosen(settings, seed),
            quiet=quiet,
        )
    except KeyboardInterrupt as interruption:
        if train is None or out is None:
            raise
        raise KeyboardInterrupt(
            f"the runs that are done are kept in {Path(out) / 'runs'}, and the same command goes on from there"
        ) from interruption


@command(without=("dataset", "align"))
def detect_shift(
    inside: Inside,
    outside: Outside,
    train: TrainRuns = None,
    *,
    scores: Scores = None,
    recall: Recall = 0.95,
    rule: Rule = "at_least",
    k: Neighbor = 10,
    draws: Draws = 1000,
    seed: Seed = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = True,
    **reading: Unpack[RunReading],
) -> Report:
    """Say whether a model's confidence separates texts from elsewhere from those of its own distribution.

    For every model, other dataset and score: the false alarm rate (the share of the model's own texts that are
    flagged when --recall of the others are), AUROC and AUPR, with chance beside each and intervals over examples and
    runs. The rate with the sides exchanged, which others report under the same name, is given, too.

      goldassay shift detection --inside sst2=runs --outside newsgroups=runs newstest=runs -o report

    Note:
        Runs are a path, `Runs`, or a table with a row a prediction (a frame, Arrow table, `datasets.Dataset` or list of
        dicts), {name of the dataset: one of these}, or several of these; all with logits or probabilities.

    Returns:
        The report; it shows itself in a notebook, and `.save(directory)` writes its files.

    Raises:
        InputError: The runs cannot be read, no model answered on both sides, or a setting is out of range.
    """
    from goldassay.core.settings import chosen
    from goldassay.questions.inputs import run_paths
    from goldassay.questions.shift.detection import report_detection

    choice = RunChoice.of(**reading)
    with run_paths(inside) as own, run_paths(outside) as others, run_paths(train) as trained:
        if len(trained) > 1:
            raise InputError("several runs on the training data were given", mend=f"give one as {option('train')}")
        return report_detection(
            own,
            others,
            training=trained[0] if trained else None,
            scores=scores,
            recall=recall,
            rule=rule,
            k=k,
            choice=choice,
            seed=seed,
            n_draws=draws,
            settings=chosen(settings, seed),
            quiet=quiet,
        )
