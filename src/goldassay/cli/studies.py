"""`goldassay studies`: a paper's whole experiment, ours beside the printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    DATA,
    METHOD,
    TRAINING,
    Device,
    DryRun,
    OptionalOut,
    Precision,
    Quiet,
    Scheduler,
    Seed,
    Workers,
    of_option,
)
from goldassay.cli.sweep import show_price
from goldassay.core.errors import InputError, InterruptionError
from goldassay.core.nearest import did_you_mean

if TYPE_CHECKING:
    from goldassay.lab.papers.outcome import StudyReport
    from goldassay.lab.papers.recipe import ScaleName
    from goldassay.lab.papers.running import Study

_SHOWN = 4


@app.command(short_help="Run a paper's whole experiment and lay its tables and figures beside ours.")
def studies(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Which study; without it all are listed.")
    ] = None,
    scale: Annotated[
        str,
        of_option("scale", metavar="SIZE", group=METHOD),
    ] = "desk",
    data: Annotated[
        Path | None,
        of_option("data", metavar="DIR", group=DATA),
    ] = None,
    only: Annotated[
        list[str] | None,
        of_option("only", metavar="NAME", group=DATA),
    ] = None,
    without: Annotated[
        list[str] | None,
        of_option("without", metavar="NAME", group=DATA),
    ] = None,
    pretrained: Annotated[
        str | None,
        of_option("pretrained", metavar="MODEL", group=TRAINING),
    ] = None,
    files: Annotated[
        bool,
        of_option("files", group=DATA),
    ] = False,
    dry_run: DryRun = False,
    precision: Precision = None,
    device: Device = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    out: OptionalOut = None,
    json_file: JsonFile = None,
    seed: Seed = None,
    quiet: Quiet = False,
) -> None:
    """Run a paper's whole experiment: train what it trains, measure what it measures, lay both side by side.

    The page shows the paper's tables and figures beside ours, cell by cell, with our intervals, and says of each of
    its conclusions whether it held. A study that is stopped goes on when it is given again.

    \b
      goldassay studies
      goldassay studies instability --scale smoke -o smoke
      goldassay studies instability --data data --pretrained google-bert/bert-base-uncased -o instability
      goldassay studies leakage --scale paper --data data --only SICK --only CAugNLI --dry-run
    """
    from goldassay.core.progress import Steps
    from goldassay.lab.papers.recipe import SCALES, Choice
    from goldassay.lab.papers.running import find_recipe, list_recipes, open_study

    if name is None:
        switches = (files or None, dry_run or None, precision, device)
        given = (data, only, without, pretrained, *switches, workers, scheduler, out, json_file, seed)
        if scale != "desk" or any(each is not None for each in given):
            raise InputError("no study is named", mend=f"name one of {', '.join(list_recipes())}")
        for each in list_recipes():
            typer.echo(f"{each:<12} {find_recipe(each).TITLE}")
        return
    size = next((each for each in SCALES if each == scale), None)
    if size is None:
        raise InputError(f"there is no scale {scale!r}", mend=did_you_mean(scale, SCALES))
    if files:
        _list_files(name, size, data)
        return
    study = open_study(
        name, size, out or Path(f"goldassay-{name}-{scale}"), Steps(quiet), data=data, pretrained=pretrained,
        seed=seed or 0, precision=precision or "auto", device=device or "auto",
        choice=Choice(tuple(only or ()), tuple(without or ())),
    )  # fmt: skip
    _run(study, workers, scheduler, json_file, dry_run=dry_run, quiet=quiet)


def _list_files(name: str, scale: ScaleName, data: Path | None) -> None:
    from goldassay.lab.papers.running import find_recipe
    from goldassay.lab.papers.sources import is_made_up, known_sources, lacking_sets

    recipe = find_recipe(name).SCALES[scale]
    absent = lacking_sets(recipe, data)
    for key, place in {**recipe.sets, **recipe.files}.items():
        if is_made_up(place):
            typer.echo(f"{key}: made on the spot")
            continue
        if key not in absent:
            typer.echo(f"{key}: is {known_sources()[place].find(data)}")
        else:
            typer.echo(f"{key}: {'not there, ' if data else ''}{absent[key]}")


def _run(
    study: Study, workers: int | None, scheduler: str | None, json_file: Path | None, *, dry_run: bool, quiet: bool
) -> None:
    from goldassay.cli.training_progress import warn_of_precision
    from goldassay.lab.papers.running import price_study

    if not quiet and scheduler is None:
        warn_of_precision(study.jobs)
    if study.jobs and (dry_run or study.work.scale_name == "paper"):
        with study.work.steps.step("training each kind of job for a moment") as progress:
            price = price_study(study, workers, progress)
        if not quiet or dry_run:
            show_price(price)
    if dry_run:
        _list_missing(study)
        return
    report = _measured(study, workers, scheduler, quiet=quiet)
    page = report.save(study.work.folder)
    if json_file is not None:
        write_json(json_file, report.to_json())
    if not quiet:
        typer.echo(report.summary())
        typer.echo(page)


def _list_missing(study: Study) -> None:
    """A line for each thing that is lacking: what is not run for want of it, and what it needs."""
    from goldassay.cli.training_progress import several
    from goldassay.lab.papers.recipe import needed_by

    if not study.jobs:
        typer.echo("Nothing of it can be trained with what is there.")
    missed = needed_by(study.work.not_run)
    for name in dict.fromkeys([*missed, *study.work.absent]):
        rows = missed.get(name, [])
        trained = dict.fromkeys((each.model, each.train) for each in rows)
        tests = list(dict.fromkeys(each.test for each in rows))
        shown = ", ".join(tests[:_SHOWN]) + (f" and {len(tests) - _SHOWN} more" if len(tests) > _SHOWN else "")
        lost = f"not run: {several(len(trained), 'kind')} of training, tests on {shown}" if rows else "nothing is lost"
        given = (
            "the checkpoint is not at hand" if "/" in name else "give one" if name[:1] == "-" else "is not in its files"
        )
        typer.echo(f"{name}: {lost}; {study.work.absent.get(name, given)}")


def _measured(study: Study, workers: int | None, scheduler: str | None, *, quiet: bool) -> StudyReport:
    from contextlib import nullcontext

    from goldassay.cli.training_progress import bars
    from goldassay.lab.papers.running import run_study

    steps = study.work.steps
    try:
        with nullcontext() if quiet or not study.jobs else bars(len(study.jobs)) as watcher:
            # The bars of the trainings stand in place of those of the steps.
            steps.quiet = quiet or bool(study.jobs)
            return run_study(study, workers, scheduler, watcher)
    except KeyboardInterrupt as interruption:
        raise InterruptionError(
            f"what is trained is kept in {study.work.folder}, and the same command goes on from there"
        ) from interruption
