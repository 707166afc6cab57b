"""`goldassay shift generalization`: what a score loses on other distributions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from goldassay.cli.options import (
    DATA,
    METHOD,
    TRAINING,
    Model,
    NamedRunPaths,
    Out,
    Seeds,
    Tests,
    of_option,
)
from goldassay.cli.run_options import reads_runs
from goldassay.cli.shift.group import Asked, reports, shift_app
from goldassay.core.errors import InputError, InterruptionError
from goldassay.questions.run_choice import RunChoice, parse_gold


@shift_app.command(short_help="Say what a score loses on other distributions.")
@reads_runs(without=("dataset", "model", "gold"))
@reports
def generalization(
    *,
    train: Annotated[
        str | None,
        typer.Argument(metavar="[TRAIN]", help="Training data, to train models here; leave it out with --runs."),
    ] = None,
    runs: NamedRunPaths = None,
    tests: Tests = None,
    outside: Annotated[
        list[str] | None,
        of_option("texts", metavar="[NAME=]FILE", group=DATA, also="Repeatable."),
    ] = None,
    model: Model = None,
    seeds: Seeds = 3,
    features: Annotated[
        bool,
        of_option("features", group=TRAINING),
    ] = False,
    own: Annotated[
        list[str] | None,
        of_option("in_distribution", group=METHOD, metavar="[TRAIN=]NAME"),
    ] = None,
    metric: Annotated[
        Literal["accuracy", "exact_match", "f1", "mean", "pearson", "spearman"] | None,
        of_option("metric", group=METHOD),
    ] = None,
    floor: Annotated[
        float | None,
        of_option("floor", metavar="VALUE", group=METHOD),
    ] = None,
    sizes: Annotated[
        list[str] | None,
        of_option("parameters", metavar="MODEL=N", group=METHOD, also="Repeatable."),
    ] = None,
    trained_on: Annotated[
        str | None,
        of_option("trained_on", group=DATA, metavar="FILE"),
    ] = None,
    out: Out = Path("goldassay-shift"),
    asked: Asked,
    choice: RunChoice,
) -> None:
    """Say what a score loses on other distributions, and whether the model's confidence follows.

    For every model and set the metric with its interval, the gap to the model's own distribution, absolute and
    relative; calibration and risk against coverage where there are logits; with texts, the errors made with most
    confidence and the words that tell the sets apart. Numbers for labels, as of STS-B, are measured by Pearson's
    and Spearman's correlation. With TRAIN, the first --test is the set of the model's own distribution, and --model
    names one network or several, separated by commas: any of goldassay train, or one that trains in a moment,
    quick_probe on classes and ridge on numbers.

    \b
    From predictions made elsewhere, with the right labels in them or in --test NAME=FILE:
      goldassay shift generalization --runs own=own.csv --runs other=other.csv --in-distribution own
    From models trained here:
      goldassay shift generalization train.jsonl --test ID=test.jsonl --test other=other.jsonl --model bow,average
    """
    from goldassay.cli.training_progress import bars
    from goldassay.questions.shift.report import study_shift

    # Evaluation sets of models trained here are right labels of runs.
    reading = choice.reading() if train is not None else replace(choice, gold=parse_gold(tests or [])).reading()
    try:
        report = study_shift(
            train,
            tests or None if train is not None else None,
            runs or None,
            model=model,
            seeds=seeds,
            texts=outside or None,
            features=features,
            in_distribution=_own(own or []),
            metric=metric,
            floor=floor,
            parameters=_sizes(sizes or []),
            trained_on=trained_on,
            out=out,
            watched=None if asked.quiet else bars,
            **asked.measuring(),
            **reading,
        )
    except KeyboardInterrupt as interruption:
        if train is None:
            raise
        raise InterruptionError(
            f"the runs that are done are kept in {out / 'runs'}, and the same command goes on from there"
        ) from interruption
    asked.finish(report, out)


def _own(values: list[str]) -> dict[str, str]:
    sets: dict[str, str] = {}
    for value in values:
        train, _, name = value.rpartition("=")
        if train in sets:
            of = f" of the training set {train!r}" if train else ""
            raise InputError(
                f"--in-distribution names two datasets{of}: {sets[train]!r} and {name!r}",
                mend="give one, or one for each training set as TRAIN=NAME",
            )
        sets[train] = name
    return sets


def _sizes(values: list[str]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for value in values:
        name, _, number = value.rpartition("=")
        if name in sizes:
            raise InputError(f"--parameters names {name!r} twice", mend="give each model one size")
        scale = {"k": 1e3, "m": 1e6, "b": 1e9}.get(number[-1:].lower(), 1)
        try:
            sizes[name] = round(float(number[:-1] if scale > 1 else number) * scale)
        except (ValueError, OverflowError):
            sizes[name] = 0
        if not name or sizes[name] <= 0:
            raise InputError(f"{value!r} is no size of a model", mend="write --parameters bert-base=110M")
    return sizes
