"""`goldassay sweep` and `studies`, and what is shown of `train`: networks trained, and papers run whole."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goldassay.cli.output import Output, as_text, settings_lines, write_json
from goldassay.core.commands import command
from goldassay.core.errors import GoldassayError, InputError, InterruptionError
from goldassay.core.naming import did_you_mean
from goldassay.core.options import (
    AnyPath,
    DataFolder,
    Device,
    DryRun,
    Files,
    Grid,
    Json,
    Only,
    Out,
    Precision,
    Pretrained,
    Quiet,
    Scale,
    Scheduler,
    Seed,
    Without,
    Workers,
    place,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.lab.papers.recipe import ScaleName
    from goldassay.lab.papers.running import PlannedStudy, StudyReport
    from goldassay.lab.training.job import Done, Failure, Job
    from goldassay.lab.training.many_seeds import TrainingReport
    from goldassay.lab.training.pricing import Price

_TRIES, _SHOWN = 3, 4


def show_training(report: TrainingReport, output: Output) -> None:
    """Print the scores of runs that were trained.

    Raises:
        GoldassayError: Some failed.
    """
    from goldassay.lab.training.job import over_runs
    from goldassay.lab.training.precision import leads

    # Of several processes that share a training one speaks.
    if leads() and output.json is not None:
        write_json(output.json, as_text(report.to_dict()))
    if leads() and not output.quiet:
        for line in settings_lines(output.settings):
            typer.echo(line)
        for row in report.summary().iter_rows(named=True):
            each = "" if row["n_runs"] == 1 else " each"
            of = f"{report.model}, {row['condition']}, on {row['dataset']}"
            typer.echo(f"{of}: {over_runs(row)}, {row['seconds']:.0f} s{each}")
        for line in report.remarks():
            typer.echo(line)
        typer.echo(report.out)
    if report.failures.height:
        first = report.failures.row(0, named=True)
        raise GoldassayError(
            f"{report.failures.height} of {report.n_jobs} runs failed, the first: {first['name']}: {first['reason']}"
        )


@command()
def sweep(
    plan: Annotated[AnyPath, place("What to train: a TOML file.", "PLAN")],
    workers: Workers = None,
    scheduler: Scheduler = None,
    dry_run: DryRun = False,
    out: Out = None,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Train every model of a plan on every training set, under every condition, with every seed.

      models = ["ngram_average", "slow"]
      train = { snli = "train.jsonl" }
      test = { snli = "test.jsonl", sick = "sick.txt" }
      [every]
      seeds = 5
      conditions = ["paired", "hypothesis_only"]
      [of.slow]
      model = "bilstm"
      changes = { epochs = 10 }

    Paths are relative to the plan. [every], and [of.NAME] for one model, take the keys of [training] in the settings,
    precision, device and state_every among them; without precision it is 16 bits on a GPU that multiplies in them,
    else 32. Each job is done once: a sweep that was stopped, or killed, goes on when it is
    given again, and one that was extended does what is new. A job whose process dies is tried again, three times in
    all; what fails then is reported, and the rest goes on. A job goes on from its last state, of which one is written
    every state_every minutes (10) and at its end.
    """
    from goldassay.lab.training.job import warn_of_precision
    from goldassay.lab.training.many_seeds import check_workers
    from goldassay.lab.training.precision import launched, leads
    from goldassay.lab.training.train import read_plan, sweep_jobs
    from goldassay.runs.store import nothing_left_if_refused

    if launched() and (dry_run or scheduler is not None):
        raise InputError("a launcher's processes train, and nothing else", mend="give this to a single process")
    # Of several processes that share a training one speaks.
    quiet, json = (quiet, json) if leads() else (True, None)
    content = read_plan(plan)
    folder = Path(plan).parent
    if out is not None:
        content = content.model_copy(update={"out": str(Path(out).absolute())})
    check_workers(workers)
    with nothing_left_if_refused(folder / content.out):
        jobs = sweep_jobs(content, folder)
        if not quiet and scheduler is None:
            warn_of_precision(jobs)
        if dry_run:
            _price(jobs, workers, json, quiet=quiet)
            return
        outcomes = _run(jobs, workers, scheduler, quiet=quiet)
        _report(jobs, outcomes, json, quiet=quiet)


def _run(jobs: Sequence[Job], workers: int | None, scheduler: str | None, *, quiet: bool) -> list[Done | Failure]:
    from contextlib import nullcontext

    from goldassay.lab.training.job import bars
    from goldassay.lab.training.workers import run_jobs

    try:
        with nullcontext() if quiet else bars(len(jobs)) as watcher:
            if scheduler is None:
                return run_jobs(jobs, workers, watcher, _TRIES)
            from goldassay.lab.training.cluster import run_on_cluster

            return run_on_cluster(jobs, scheduler, watcher, _TRIES)
    except KeyboardInterrupt as interruption:
        raise InterruptionError(
            f"what is done is kept in {jobs[0].out}, and the same command goes on from there"
        ) from interruption


def _report(jobs: Sequence[Job], outcomes: Sequence[Done | Failure], json: AnyPath | None, *, quiet: bool) -> None:
    from goldassay.lab.training.job import over_runs, several
    from goldassay.lab.training.train import SweepReport

    report = SweepReport.of(jobs, outcomes)
    if json is not None:
        write_json(json, as_text(report.to_dict()))
    if not quiet:
        for row in report.summary().iter_rows(named=True):
            each = "" if row["n_runs"] == 1 else " each"
            typer.echo(
                f"{row['model']} on {row['train_set']}, {row['condition']}, tested on {row['dataset']}: "
                f"{over_runs(row)}, {row['seconds']:.0f} s{each}, {row['cpu_seconds']:.0f} s of a processor"
            )
        for line in report.remarks():
            typer.echo(line)
        finished = several(report.n_jobs - report.failures.height, "job")
        typer.echo(f"{finished}, {_duration(report.cpu_seconds)} of a processor in all")
        typer.echo(report.out)
    if report.failures.height:
        first = report.failures.row(0, named=True)
        raise GoldassayError(
            f"{report.failures.height} of {report.n_jobs} jobs failed, the rest are done; the first, tried "
            f"{first['tries']} times: {first['name']}: {first['reason']}"
        )


def _price(jobs: Sequence[Job], workers: int | None, json: AnyPath | None, *, quiet: bool) -> None:
    from goldassay.core.progress import Steps
    from goldassay.lab.training.pricing import price

    with Steps(quiet).step("training each kind of job for a moment") as progress:
        found = price(jobs, workers, progress=progress)
    if json is not None:
        write_json(json, as_text(found.to_dict()))
    if not quiet:
        show_price(found)


def show_price(price: Price) -> None:
    """Say what jobs would cost: a line a kind, and one for all of them."""
    from goldassay.core.numbers import count
    from goldassay.lab.training.job import several

    shown = ("model", "train_set", "condition", "n_jobs", "steps", "job_seconds", "job_bytes")
    for model, train_set, condition, n_jobs, steps, seconds, size in price.kinds.select(shown).iter_rows():
        typer.echo(
            f"{model} on {train_set}, {condition}: {several(n_jobs, 'job')} of {several(steps, 'step')}, "
            f"{_duration(seconds)} and {_size(size)} each"
        )
    begun = f", {count(price.n_begun)} begun" if price.n_begun else ""
    about = "about " if price.seconds >= 0.5 else ""
    gpus = f" on {several(price.gpus, 'GPU')}" if price.gpus else ""
    typer.echo(
        f"{several(price.n_jobs, 'job')}, {count(price.n_done)} done{begun}; {about}{_duration(price.seconds)} in all, "
        f"{_duration(price.wall_seconds)} with {price.workers} side by side{gpus}, {_size(price.bytes)} on disk and "
        f"while jobs are under way up to {_size(price.states_at_once)} more of states, of which "
        f"{_size(price.states_written)} are written in all"
    )


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} seconds" if seconds >= 1.5 else "a second" if seconds >= 0.5 else "less than a second"


def _size(n_bytes: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"


@command()
def studies(
    name: Annotated[str | None, place("Which study; without it all are listed.", "[NAME]")] = None,
    scale: Scale = "desk",
    data: DataFolder = None,
    only: Only = None,
    without: Without = None,
    pretrained: Pretrained = None,
    grid: Grid = False,
    files: Files = False,
    dry_run: DryRun = False,
    precision: Precision = None,
    device: Device = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    out: Out = None,
    json: Json = None,
    seed: Seed = None,
    quiet: Quiet = False,
) -> None:
    """Run a paper's whole experiment: train what it trains, measure what it measures, lay both side by side.

    The page shows the paper's tables and figures beside ours, cell by cell, with our intervals, and says of each of
    its conclusions whether it held. A study that is stopped goes on when it is given again.

      goldassay studies
      goldassay studies instability --data data --pretrained google-bert/bert-base-uncased -o instability
      goldassay studies leakage --scale paper --data data --only SICK --only CAugNLI --dry-run
    """
    from goldassay.core.progress import Steps
    from goldassay.lab.papers.recipe import SCALES, Choice
    from goldassay.lab.papers.running import find_recipe, list_recipes, open_study

    if name is None:
        switches = (grid or None, files or None, dry_run or None, precision, device)
        given = (data, only, without, pretrained, *switches, workers, scheduler, out, json, seed)
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
        choice=Choice(tuple(only or ()), tuple(without or ())), grid=grid,
    )  # fmt: skip
    _run_study(study, workers, scheduler, json, dry_run=dry_run, quiet=quiet)


def _list_files(name: str, scale: ScaleName, data: Path | None) -> None:
    from goldassay.lab.papers.running import find_recipe
    from goldassay.lab.papers.sources import is_made_up, known_sources, lacking_sets

    recipe = find_recipe(name).SCALES[scale]
    absent = lacking_sets(recipe, data)
    for key, source in {**recipe.sets, **recipe.files}.items():
        if is_made_up(source):
            typer.echo(f"{key}: made on the spot")
            continue
        if key not in absent:
            typer.echo(f"{key}: is {known_sources()[source].find(data)}")
        else:
            typer.echo(f"{key}: {'not there, ' if data else ''}{absent[key]}")


def _run_study(
    study: PlannedStudy, workers: int | None, scheduler: str | None, json: AnyPath | None, *, dry_run: bool, quiet: bool
) -> None:
    from goldassay.lab.papers.running import price_study
    from goldassay.lab.training.job import warn_of_precision

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
    if json is not None:
        write_json(json, report.to_json())
    if not quiet:
        typer.echo(report.summary())
        typer.echo(page)


def _list_missing(study: PlannedStudy) -> None:
    """A line for each thing that is lacking: what is not run for want of it, and what it needs."""
    from goldassay.lab.papers.recipe import needed_by
    from goldassay.lab.training.job import several

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


def _measured(study: PlannedStudy, workers: int | None, scheduler: str | None, *, quiet: bool) -> StudyReport:
    from contextlib import nullcontext

    from goldassay.lab.papers.running import run_study
    from goldassay.lab.training.job import bars

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
