"""`goldassay sweep`: many trainings from one plan, on this machine or on a cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import DryRun, OptionalOut, Quiet, Scheduler, Workers
from goldassay.core.errors import GoldassayError, InputError, InterruptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.lab.training.job import Job
    from goldassay.lab.training.outcome import Done, Failure
    from goldassay.lab.training.pricing import Price

_TRIES = 3


@app.command(short_help="Train models x training sets x conditions x seeds, from a plan.")
def sweep(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="What to train: a TOML file.")],
    workers: Workers = None,
    scheduler: Scheduler = None,
    dry_run: DryRun = False,
    out: OptionalOut = None,
    json_file: JsonFile = None,
    quiet: Quiet = False,
) -> None:
    """Train every model of a plan on every training set, under every condition, with every seed.

    \b
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
    from goldassay.cli.training_progress import warn_of_precision
    from goldassay.lab.training.distributed import launched, leads
    from goldassay.lab.training.job_folder import nothing_left_if_refused
    from goldassay.lab.training.many_seeds import check_workers
    from goldassay.lab.training.sweep import read_plan, sweep_jobs
    from goldassay.questions.opinions import with_sources

    if launched() and (dry_run or scheduler is not None):
        raise InputError("a launcher's processes train, and nothing else", mend="give this to a single process")
    # Of several processes that share a training one speaks.
    quiet, json_file = (quiet, json_file) if leads() else (True, None)
    content = read_plan(plan)
    folder = plan.parent
    if out is not None:
        content = content.model_copy(update={"out": str(out.absolute())})
    check_workers(workers)
    with nothing_left_if_refused(folder / content.out):
        jobs = sweep_jobs(content, folder, with_sources)
        if not quiet and scheduler is None:
            warn_of_precision(jobs)
        if dry_run:
            _price(jobs, workers, json_file, quiet=quiet)
            return
        outcomes = _run(jobs, workers, scheduler, quiet=quiet)
        _report(jobs, outcomes, json_file, quiet=quiet)


def _run(jobs: Sequence[Job], workers: int | None, scheduler: str | None, *, quiet: bool) -> list[Done | Failure]:
    from contextlib import nullcontext

    from goldassay.cli.training_progress import bars
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


def _report(jobs: Sequence[Job], outcomes: Sequence[Done | Failure], json_file: Path | None, *, quiet: bool) -> None:
    from goldassay.cli.training_progress import over_runs, several
    from goldassay.lab.training.sweep import SweepReport

    report = SweepReport.of(jobs, outcomes)
    if json_file is not None:
        write_json(json_file, json.dumps(report.to_dict(), ensure_ascii=False, indent=2) + "\n")
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


def _price(jobs: Sequence[Job], workers: int | None, json_file: Path | None, *, quiet: bool) -> None:
    from goldassay.core.progress import Steps
    from goldassay.lab.training.pricing import price

    with Steps(quiet).step("training each kind of job for a moment") as progress:
        found = price(jobs, workers, progress=progress)
    if json_file is not None:
        write_json(json_file, json.dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n")
    if not quiet:
        show_price(found)


def show_price(price: Price) -> None:
    """Say what jobs would cost: a line a kind, and one for all of them."""
    from goldassay.cli.training_progress import several
    from goldassay.core.numbers import count

    for row in price.kinds.iter_rows(named=True):
        typer.echo(
            f"{row['model']} on {row['train_set']}, {row['condition']}: {several(row['n_jobs'], 'job')} of "
            f"{several(row['steps'], 'step')}, {_duration(row['job_seconds'])} and {_size(row['job_bytes'])} each"
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
