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
    from goldassay.papers.outcome import StudyReport
    from goldassay.papers.recipe import ScaleName
    from goldassay.papers.running import Study


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
    """
    from goldassay.core.progress import Steps
    from goldassay.papers import find_recipe, list_recipes, open_study
    from goldassay.papers.recipe import SCALES

    if name is None:
        switches = (files or None, dry_run or None, precision, device)
        given = (data, pretrained, *switches, workers, scheduler, out, json_file, seed)
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
    )  # fmt: skip
    _run(study, workers, scheduler, json_file, dry_run=dry_run, quiet=quiet)


def _list_files(name: str, scale: ScaleName, data: Path | None) -> None:
    from goldassay.papers import find_recipe
    from goldassay.papers.sources import SPECIMEN, known_sources, lacking_sets

    recipe = find_recipe(name).SCALES[scale]
    absent = lacking_sets(recipe, data)
    for key, place in {**recipe.sets, **recipe.files}.items():
        if place.startswith(SPECIMEN):
            typer.echo(f"{key}: made on the spot")
            continue
        kind = ", optional" if key in recipe.optional else ""
        if key not in absent:
            typer.echo(f"{key}{kind}: is {known_sources()[place].find(data)}")
        else:
            typer.echo(f"{key}{kind}: {'not there' if data else 'looked for'}; {absent[key]}")


def _run(
    study: Study, workers: int | None, scheduler: str | None, json_file: Path | None, *, dry_run: bool, quiet: bool
) -> None:
    from goldassay.cli.training_progress import warn_of_precision
    from goldassay.papers import price_study

    if not quiet and scheduler is None:
        warn_of_precision(study.jobs)
    if study.jobs and (dry_run or study.work.scale_name == "paper"):
        with study.work.steps.step("training each kind of job for a moment") as progress:
            price = price_study(study, workers, progress)
        if not quiet or dry_run:
            show_price(price)
    if dry_run:
        return
    report = _measured(study, workers, scheduler, quiet=quiet)
    page = report.save(study.work.folder)
    if json_file is not None:
        write_json(json_file, report.to_json())
    if not quiet:
        typer.echo(report.summary())
        typer.echo(page)


def _measured(study: Study, workers: int | None, scheduler: str | None, *, quiet: bool) -> StudyReport:
    from contextlib import nullcontext

    from goldassay.cli.training_progress import bars
    from goldassay.papers import run_study

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
