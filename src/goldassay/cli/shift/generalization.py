"""`goldassay shift generalization`: what a score loses on other distributions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from goldassay.cli.options import DATA, METHOD, TRAINING, Model, NamedRunPaths, Out, Seeds, Tests
from goldassay.cli.run_options import reads_runs
from goldassay.cli.shift.group import Asked, reports, shift_app
from goldassay.core.errors import InputError, InterruptionError
from goldassay.questions.run_choice import RunChoice, parse_gold

if TYPE_CHECKING:
    from goldassay.data import Dataset


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
        typer.Option(
            "--texts",
            metavar="[NAME=]FILE",
            rich_help_panel=DATA,
            help="With TRAIN: texts without labels of the task, predicted for shift detection alone. Repeatable.",
        ),
    ] = None,
    model: Model = None,
    seeds: Seeds = 3,
    features: Annotated[
        bool,
        typer.Option(
            "--features",
            rich_help_panel=TRAINING,
            help="With TRAIN and a network: predict the training data too, as train, and keep features, for shift "
            "detection --train train=DIR/runs.",
        ),
    ] = False,
    own: Annotated[
        list[str] | None,
        typer.Option(
            "--in-distribution",
            rich_help_panel=METHOD,
            metavar="[TRAIN=]NAME",
            help="Which dataset is of the model's own distribution, where several training sets are there for each. "
            "[default: the first --test; with --runs the one that is named ID or like the training set]",
        ),
    ] = None,
    metric: Annotated[
        Literal["accuracy", "exact_match", "f1", "mean", "pearson", "spearman"] | None,
        typer.Option(
            help="What is measured.  [default: by what the files hold; both correlations where labels are numbers]",
            rich_help_panel=METHOD,
        ),
    ] = None,
    floor: Annotated[
        float | None,
        typer.Option(
            metavar="VALUE",
            rich_help_panel=METHOD,
            help="What knows nothing scores, for the mean of graded scores, in their unit (0.25 for fractions).  "
            "[default: not declared: 0 is taken, and nothing is called sound]",
        ),
    ] = None,
    sizes: Annotated[
        list[str] | None,
        typer.Option(
            "--parameters",
            metavar="MODEL=N",
            help="Parameters of a model, for the gap against size. Repeatable.",
            rich_help_panel=METHOD,
        ),
    ] = None,
    trained_on: Annotated[
        str | None,
        typer.Option(
            "--trained-on",
            rich_help_panel=DATA,
            metavar="FILE",
            help="With --runs: what the models were trained on. Texts of other sets that stand there are left out of "
            "the gap; give the texts with --test.",
        ),
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
    from goldassay.questions.shift.gap_report import report_generalization

    if (train is None) == (not runs):
        raise InputError(
            "training data and runs were both given" if runs else "neither training data nor runs were given",
            mend="give TRAIN with --test, or predictions with --runs",
        )
    if outside and train is None:
        raise InputError("--texts is for training models", mend="give the texts of datasets with --test NAME=FILE")
    if trained_on is not None and train is not None:
        raise InputError("--trained-on is for runs made elsewhere", mend="leave it out: TRAIN is what is trained on")
    options = {
        "metric": metric,
        "floor": floor,
        "sizes": _sizes(sizes or []),
        "in_distribution": _own(own or []),
        **asked.measuring(),
    }
    if train is None:
        report = report_generalization(
            runs or [],
            choice=replace(choice, model=model, gold=parse_gold(tests or [])),
            trained_on=_training(trained_on, choice),
            **options,
        )
    else:
        from goldassay.cli.training_progress import bars
        from goldassay.questions.shift.training import report_trained

        try:
            report = report_trained(
                train,
                tests or [],
                outside or [],
                models=_models(model),
                seeds=seeds,
                out=out,
                columns=choice.columns,
                features=features,
                watched=None if asked.quiet else bars,
                **options,
            )
        except KeyboardInterrupt as interruption:
            raise InterruptionError(
                f"the runs that are done are kept in {out / 'runs'}, and the same command goes on from there"
            ) from interruption
    asked.finish(report, out)


def _training(path: str | None, choice: RunChoice) -> Dataset | None:
    if path is None:
        return None
    from goldassay.data import read_dataset

    found = read_dataset(path, columns=dict(choice.columns) or None)
    if not found.text_columns:
        raise InputError(
            "the training data have no texts", file=path, mend="name their column with --columns text=NAME"
        )
    return found


def _models(text: str | None) -> list[str]:
    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    if not names:
        raise InputError("no model is named", mend="name some with --model bow,average,lstm")
    return names


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
        except ValueError:
            sizes[name] = 0
        if not name or sizes[name] <= 0:
            raise InputError(f"{value!r} is no size of a model", mend="write --parameters bert-base=110M")
    return sizes
