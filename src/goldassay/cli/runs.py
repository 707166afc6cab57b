"""`goldassay runs`: see what predictions are there, what they score, and convert them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import typer

from goldassay.cli.lines import aligned, score_lines
from goldassay.cli.output import as_text, settings_lines, write_json
from goldassay.core.commands import command
from goldassay.core.errors import InputError, InterruptionError
from goldassay.core.numbers import points
from goldassay.core.options import (
    Benchmark,
    Columns,
    Developer,
    Folder,
    Format,
    Json,
    Organization,
    Out,
    Places,
    Quiet,
    Seed,
    SettingsOrFile,
    SourceUrl,
    To,
)
from goldassay.questions.run_choice import RunChoice, RunReading

if TYPE_CHECKING:
    import polars as pl

    from goldassay.questions.run_curves import DescribedRuns, RunSetSummary, SettingsOfRuns

# Further files that cannot be read and are named in one line.
_MOST_BROKEN = 4


@command()
def list_(
    path: Places,
    format: Format = "auto",  # noqa: A002
    columns: Columns = None,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """List models, datasets and conditions, with the number of runs, checkpoints and examples of each.

    Where a model was asked in several ways (prompt, shots, temperature), each of these configurations is a row.
    Unfinished runs are named. Files that cannot be read are named, too, and the command then exits with status 2.
    """
    from goldassay.runs.choosing import describe_twice, describe_unfinished
    from goldassay.runs.configurations import describe_configurations
    from goldassay.runs.places import describe_numbers
    from goldassay.runs.reading import find_slices, list_slices
    from goldassay.runs.run_parts import Request
    from goldassay.runs.runs import describe_conditions

    broken: list[InputError] = []
    request = Request.of(RunChoice.of(columns=columns).columns, listed=True)
    found = find_slices(path, format, request, broken)
    rows = list_slices(found).to_dicts()
    if json is not None:
        write_json(json, as_text(rows))
    if not quiet:
        said = (describe_configurations, describe_conditions, describe_numbers, describe_unfinished, describe_twice)
        _show_list(rows, [each for describe in said for each in describe(found)])
    if broken:
        first, *more = broken
        if not more:
            raise first
        names = ", ".join(Path(each.file or "").name for each in more[:_MOST_BROKEN])
        names += f" and {len(more) - _MOST_BROKEN} others" if len(more) > _MOST_BROKEN else ""
        raise InputError(f"{first.problem}; nor can {names} be read", file=first.file, mend=first.mend) from first


def _show_list(rows: Sequence[Mapping[str, Any]], said: Sequence[str]) -> None:
    names = {
        "model": "model",
        "configuration": "configuration",
        "dataset": "dataset",
        "condition": "condition",
        "split": "split",
        "train_set": "trained on",
        "n_runs": "runs",
        "n_checkpoints": "checkpoints",
        "n_examples": "examples",
        "format": "format",
    }
    shown = [key for key in names if any(row[key] not in ("", None) for row in rows)]
    table = [[names[key] for key in shown], *([_cell(row[key]) for key in shown] for row in rows)]
    for line in [*aligned(table), *said]:
        typer.echo(line)


@command()
def show(
    path: Places,
    json: Json = None,
    quiet: Quiet = False,
    **reading: Unpack[RunReading],
) -> None:
    """Read the runs of each model, dataset and condition, and show what they hold and how they score."""
    from goldassay.core.results import to_plain
    from goldassay.questions.run_curves import describe_curve, describe_set, find_curves
    from goldassay.questions.run_sets import read_run_sets
    from goldassay.runs.reading import NoRunsError

    choice = RunChoice.of(**reading)
    described = []
    curves = find_curves(path, choice, required=False)
    try:
        for found in read_run_sets(path, choice):
            described.append(describe_set(found))
            if not quiet:
                _show(described[-1], first=len(described) == 1)
    except NoRunsError:
        if not curves:
            raise
    for curve in curves:
        described.append(describe_curve(curve))
        if not quiet:
            _show(described[-1], first=len(described) == 1)
    if json is not None:
        write_json(json, as_text(to_plain(described)))


@command()
def import_(
    path: Places,
    out: Folder,
    quiet: Quiet = False,
    **reading: Unpack[RunReading],
) -> None:
    """Write each run (and checkpoint) as one Parquet file that pandas, polars, duckdb and goldassay open.

    A file holds the run's model, seed, dataset and condition, and a row an example: its id, right label, prediction,
    score, logits and groups, as far as they are known. Existing files of the same runs are replaced.
    """
    from goldassay.questions.run_sets import read_run_sets
    from goldassay.runs.store import write_runs

    choice = RunChoice.of(**reading)
    n_sets = 0
    try:
        for found in read_run_sets(path, choice):
            written = write_runs(found, out)
            n_sets += 1
            if not quiet:
                typer.echo(f"{found.model} on {found.dataset}: {len(written)} files of {found.n_examples:,} examples")
    except KeyboardInterrupt as interruption:
        kept = f"the {n_sets} sets of runs that were finished are in {out}" if n_sets else "nothing is finished"
        raise InterruptionError(kept) from interruption
    if not quiet:
        typer.echo(out)


@command()
def export(
    path: Places,
    out: Folder,
    to: To,
    developer: Developer = None,
    organization: Organization = None,
    benchmark: Benchmark = None,
    source_url: SourceUrl = None,
    quiet: Quiet = False,
    **reading: Unpack[RunReading],
) -> None:
    """Write runs for others: records of Every Eval Ever, scores for model cards, or a table for statsmodels or R.

    every_eval_ever: each run (and checkpoint) as records of schema 0.3, in the layout of its datastore, into DIR/data.
    A run is an aggregate record (its score, with standard error and interval) and a file of instance records, a line an
    example: seed and checkpoint, condition, groups and logits are in their metadata, and goldassay reads them back.
    Texts come from --test where that is a dataset. Existing files of the same runs are replaced.

    eval_results: DIR/MODEL/.eval_results/TASK.yaml, the score of `goldassay runs scores` as a model repository on the
    hub shows it, with intervals, runs and answers without a score in its notes. It takes --benchmark ID:TASK.

    long: DIR/long.csv, a row a prediction, with model, seed, example, label, score, groups and settings.
    """
    from goldassay.questions.every_eval_ever import NOT_NAMED, write_every_eval_ever
    from goldassay.questions.example_clusters import clusters_of
    from goldassay.questions.exports import write_eval_results
    from goldassay.questions.run_scores import score_runs
    from goldassay.questions.run_sets import read_run_sets
    from goldassay.runs.store import write_long
    from goldassay.runs.traits import dataset_of, read_texts

    choice = RunChoice.of(**reading)
    said = {"every_eval_ever": (("developer", developer), ("organization", organization)),
            "eval_results": (("benchmark", benchmark), ("source-url", source_url))}  # fmt: skip
    for format_, options in said.items():
        for name, given in options:
            if given is not None and to != format_:
                raise InputError(f"--{name} is said with --to {format_} alone", mend="leave it out")
    if to == "eval_results":
        for place in write_eval_results(score_runs(path, choice), out, benchmark or "", source_url):
            if not quiet:
                typer.echo(place)
        return
    if to == "long":
        sets = list(read_run_sets(path, choice))
        written = write_long(sets, out)
        if not quiet:
            for found in sets:
                typer.echo(f"{found.model} on {found.dataset}: {_runs(found.n_runs)} of {found.n_examples:,} examples")
            typer.echo(written)
        return
    for found in read_run_sets(path, choice):
        gold = choice.gold_of(found.dataset)
        texts = None if gold is None else read_texts(gold)
        together = None if texts is None else clusters_of(dataset_of(gold), found.example_ids)
        if texts is not None and not texts.keys() >= set(found.example_ids.tolist()):
            # The lowest of a question's variants, say, is an example that has no text of its own.
            texts = None
            if not quiet:
                typer.echo(f"texts are left out: some examples of {found.dataset} have none in {gold}", err=True)
        records = write_every_eval_ever(
            found,
            out,
            texts=texts,
            clusters=together,
            developer=developer or NOT_NAMED,
            organization=organization or NOT_NAMED,
        )
        if not quiet:
            typer.echo(f"{found.model} on {found.dataset}: {_runs(len(records))} of {found.n_examples:,} examples")
    if not quiet:
        typer.echo(out)


@command()
def scores(
    path: Places,
    json: Json = None,
    seed: Seed = None,
    settings: SettingsOrFile = None,
    quiet: Quiet = False,
    **reading: Unpack[RunReading],
) -> None:
    """Show the mean score of each model on each dataset with its 95 % intervals, and compare the models.

    The interval over examples says where the score would lie on other examples of the kind, the one over runs where it
    would lie with other seeds or epochs. Below, the models are compared as `goldassay compare` does. Runs that
    cannot be read, such as logs of evaluations that were cancelled, are named with the reason.
    """
    from goldassay.core.settings import chosen
    from goldassay.questions.run_scores import score_runs

    used = chosen(settings, seed)
    found = score_runs(path, RunChoice.of(**reading), used, quiet=quiet)
    if json is not None:
        write_json(json, as_text(found.to_dict()))
    if not quiet:
        for line in (*settings_lines(used), *score_lines(found)):
            typer.echo(line)


@command()
def summarize(
    path: Places,
    out: Out = None,
    json: Json = None,
    quiet: Quiet = False,
    **reading: Unpack[RunReading],
) -> None:
    """Summarize the runs of each model and dataset at each checkpoint, reading one checkpoint at a time.

    For each checkpoint: mean and standard deviation over runs with its 95 % interval, the parts of the variance, the
    design effect and the effective size. Printed are those of the last; --json and --out have them all. Memory holds
    one checkpoint of one dataset, so the folder may be larger than memory.
    """
    from goldassay.core.progress import Steps
    from goldassay.questions.run_curves import summarize_store

    with Steps(quiet).step("summarizing") as progress:
        found = summarize_store(path, RunChoice.of(**reading), progress)
    if out is not None:
        _write_table(found.to_frame(), Path(out) / "checkpoints.parquet")
    if json is not None:
        write_json(json, as_text(found.to_dict()))
    if not quiet:
        for each in found.sets:
            for line in _summary_lines(each):
                typer.echo(line)
        for caveat in dict.fromkeys(said for each in found.sets for said in each.scores.caveats):
            typer.echo(f"note: {caveat}")
        typer.echo(f"{found.n_rows:,} predictions read")


def _runs(n: int) -> str:
    return f"{n} run{'s' * (n != 1)}"


def _show(found: DescribedRuns, first: bool) -> None:
    from goldassay.runs.grades import grade_of
    from goldassay.runs.traits import weighted

    shape = _runs(found.n_runs)
    checkpoints = found.checkpoints or ()
    if len(checkpoints) > 1:
        shape += f" x {len(checkpoints)} checkpoints"
    scale, holds = found.grades, ""
    if found.metric is not None:
        head = f"{found.model} on {found.dataset}, {found.metric} without predictions: {shape}"
    else:
        head = f"{found.model} on {found.dataset}, {found.condition}: {shape} x {found.n_examples:,} examples"
        shares = "" if scale is None else f" as shares of grades from {scale[0]:g} to {scale[1]:g}"
        holds = ", ".join([*(found.holds or ()), f"scores{shares}"])
    spread = ""
    if found.sd is not None and found.sd_interval is not None:
        low, high = found.sd_interval.low, found.sd_interval.high
        spread = f", SD {points(found.sd, 2)} [{points(low, 2)}, {points(high, 2)}]"
    graded = "" if scale is None else f", mean grade {grade_of(found.mean, scale)}"
    by_weight = weighted(found.weighted_by or "", found.unweighted)
    last = " at the last checkpoint" if len(checkpoints) > 1 else ""
    means = zip(found.seeds, found.run_means, strict=True)
    lines = {
        "split": found.split,
        "trained on": found.train_set,
        "configured": _configuration(found.configuration),
        "labels": _few(found.label_names or (), 12),
        "groups": ", ".join(f"{name} ({n})" for name, n in (found.groups or {}).items()),
        "checkpoints": _few([str(step) for step in checkpoints]) if len(checkpoints) > 1 else "",
        "holds": holds,
        "left out": ", ".join(f"{n} {why}" for why, n in (found.skipped or {}).items()),
        "score": f"{points(found.mean, 2)} points{by_weight}{spread}{graded}{last}",
        "by seed": _few([f"{seed}: {points(mean, 2)}" for seed, mean in means], 12),
    }
    typer.echo(head if first else f"\n{head}")
    for name, value in lines.items():
        if value:
            typer.echo(f"  {name:<12} {value}")
    for note in found.notes or ():
        typer.echo(f"  {'note':<12} {note}")


def _configuration(found: SettingsOfRuns | None) -> str:
    """Digits, and what the files tell, each setting in a few characters."""
    if found is None or not found.digest:
        return ""
    told = [
        f"{name}={text if len(text := str(value)) <= 30 else text[:27] + '...'}" for name, value in found.values.items()
    ]
    return f"{found.digest}: {_few(told, 12)}"


def _few(items: Sequence[str], most: int = 8) -> str:
    return ", ".join(items[:most]) + (f", and {len(items) - most} more" if len(items) > most else "")


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def _write_table(frame: pl.DataFrame, path: Path) -> None:
    from goldassay.core.files import write_parquet, written_whole

    with written_whole(path) as aside:
        write_parquet(frame, aside)


def _summary_lines(found: RunSetSummary) -> Iterator[str]:
    scores = found.scores
    shape = f"{scores.n_runs} runs"
    if scores.n_checkpoints > 1:
        shape += f" x {scores.n_checkpoints} checkpoints"
    yield f"{found.model} on {found.dataset}, {found.condition}: {shape} x {scores.n_examples:,} examples"
    last = scores.to_frame().row(-1, named=True)
    spread = ""
    if last["sd"] is not None:
        spread = f", SD {100 * last['sd']:.2f} [{100 * last['sd_low']:.2f}, {100 * last['sd_high']:.2f}]"
    yield f"  at {last['checkpoint']}: mean {100 * last['mean']:.2f} points{spread}"
    if last["design_effect"] is not None:
        yield f"  design effect {last['design_effect']:.2f}, effective size {last['effective_size']:,.0f}"
    if scores.n_checkpoints > 1:
        moves = found.scores.trajectories()
        run = int(abs(moves.largest_changes).argmax())
        at = int(moves.largest_change_at[run])
        yield (
            f"  largest change: {100 * moves.largest_changes[run]:+.2f} points, seed {found.seeds[run]}, "
            f"from {scores.checkpoints[at - 1]} to {scores.checkpoints[at]}"
        )
