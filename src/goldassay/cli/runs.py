"""`goldassay runs`: see what predictions are there, and convert them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import typer

from goldassay.cli.aligned_lines import aligned
from goldassay.cli.app import Commands, app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    METHOD,
    Columns,
    Format,
    Out,
    Quiet,
    of_option,
)
from goldassay.cli.run_options import reads_runs
from goldassay.core.doors import option
from goldassay.core.errors import InputError, InterruptionError
from goldassay.core.numbers import points
from goldassay.questions.run_choice import RunChoice

runs_app = Commands(rich_markup_mode=None)
app.add_typer(runs_app, name="runs", short_help="See what predictions are there, and convert them.")

# Further files that cannot be read and are named in one line.
_MOST_BROKEN = 4

Place = Annotated[
    list[str], typer.Argument(metavar="PATH...", help="Files of predictions, or folders, which are searched through.")
]


@runs_app.callback(invoke_without_command=True)
def runs(context: typer.Context) -> None:
    """See what predictions are there, whichever tool wrote them, and convert them.

    Formats are recognized by content: goldassay's Parquet, tables in CSV, TSV, JSONL and Parquet (a row a
    prediction, or a column a run), NumPy archives, lm-evaluation-harness samples, inspect_ai logs, cartography
    dynamics, Trainer outputs, lighteval details, HELM runs, ChaosNLI predictions, Every Eval Ever records, HANS and
    SQuAD prediction files, folders seed_K/-DATASET.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@runs_app.command("list", short_help="List what is there, without reading the predictions.")
def list_(
    path: Place,
    file_format: Format = "auto",
    columns: Columns = None,
    json_file: JsonFile = None,
    quiet: Quiet = False,
) -> None:
    """List models, datasets and conditions, with the number of runs, checkpoints and examples of each.

    Where a model was asked in several ways (prompt, shots, temperature), each of these configurations is a row.
    Unfinished runs are named. Files that cannot be read are named, too, and the command then exits with status 2.
    """
    import json

    from goldassay.data import parse_columns
    from goldassay.runs.choosing import say_twice, say_unfinished
    from goldassay.runs.configurations import say_configurations
    from goldassay.runs.reading import find_slices, list_slices
    from goldassay.runs.slices import Request

    broken: list[InputError] = []
    request = Request(parse_columns(columns) if columns else {}, listed=True)
    found = find_slices(path, file_format, request, broken)
    rows = list_slices(found).to_dicts()
    if json_file is not None:
        write_json(json_file, json.dumps(rows, ensure_ascii=False, indent=2) + "\n")
    if not quiet:
        _show_list(rows, [*say_configurations(found), *say_unfinished(found), *say_twice(found)])
    if broken:
        from pathlib import Path

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


@runs_app.command(short_help="Show the runs: seeds, checkpoints, labels, groups, scores.")
@reads_runs()
def show(
    path: Place,
    choice: RunChoice,
    json_file: JsonFile = None,
    quiet: Quiet = False,
) -> None:
    """Read the runs of each model, dataset and condition, and show what they hold and how they score."""
    import json

    from goldassay.questions.run_curves import describe_curve, find_curves
    from goldassay.questions.run_sets import describe_set, read_run_sets
    from goldassay.runs.reading import NoRunsError

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
    if json_file is not None:
        write_json(json_file, json.dumps(described, ensure_ascii=False, indent=2) + "\n")


@runs_app.command("import", short_help="Convert predictions of any known format to Parquet.")
@reads_runs()
def import_(
    path: Place,
    out: Out,
    choice: RunChoice,
    quiet: Quiet = False,
) -> None:
    """Write each run (and checkpoint) as one Parquet file that pandas, polars, duckdb and goldassay open.

    A file holds the run's model, seed, dataset and condition, and a row an example: its id, right label, prediction,
    score, logits and groups, as far as they are known. Existing files of the same runs are replaced.
    """
    from goldassay.questions.run_sets import read_run_sets
    from goldassay.runs import write_runs

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


@runs_app.command(short_help="Write predictions of any known format for others: Every Eval Ever, or one long table.")
@reads_runs()
def export(
    path: Place,
    out: Out,
    to: Annotated[Literal["every_eval_ever", "long"], of_option("to", group=METHOD)],
    choice: RunChoice,
    developer: Annotated[
        str | None,
        of_option("developer", metavar="NAME", group=METHOD),
    ] = None,
    organization: Annotated[str | None, of_option("organization", metavar="NAME", group=METHOD)] = None,
    quiet: Quiet = False,
) -> None:
    """Write predictions for others: records of Every Eval Ever, or one long table for statsmodels or R.

    every_eval_ever: each run (and checkpoint) as records of schema 0.3, in the layout of its datastore, into DIR/data.
    A run is an aggregate record (its score, with standard error) and a file of instance records, a line an example:
    seed and checkpoint, condition, groups and logits are in their metadata, and goldassay reads them back. Texts
    come from --test where that is a dataset. Existing files of the same runs are replaced.

    long: DIR/long.csv, a row a prediction, with model, seed, example, label, score, groups and settings.
    """
    from goldassay.questions.run_sets import read_run_sets
    from goldassay.runs.every_eval_ever import NOT_NAMED, write_every_eval_ever
    from goldassay.runs.gold import read_texts
    from goldassay.runs.long_export import write_long

    if to == "long":
        for name, given in (("developer", developer), ("organization", organization)):
            if given is not None:
                raise InputError(f"{option(name)} is said in records of Every Eval Ever alone", mend="leave it out")
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
        if texts is not None and not texts.keys() >= set(found.example_ids.tolist()):
            # The lowest of a question's variants, say, is an example that has no text of its own.
            texts = None
            if not quiet:
                typer.echo(f"texts are left out: some examples of {found.dataset} have none in {gold}", err=True)
        records = write_every_eval_ever(
            found,
            out,
            texts=texts,
            developer=developer or NOT_NAMED,
            organization=organization or NOT_NAMED,
        )
        if not quiet:
            typer.echo(f"{found.model} on {found.dataset}: {_runs(len(records))} of {found.n_examples:,} examples")
    if not quiet:
        typer.echo(out)


def _runs(n: int) -> str:
    return f"{n} run{'s' * (n != 1)}"


def _show(found: dict[str, Any], first: bool) -> None:
    from goldassay.runs.grades import grade_of

    shape = _runs(found["n_runs"])
    checkpoints = found["checkpoints"] or []
    if len(checkpoints) > 1:
        shape += f" x {len(checkpoints)} checkpoints"
    if "metric" in found:
        head = f"{found['model']} on {found['dataset']}, {found['metric']} without predictions: {shape}"
        holds = ""
    else:
        head = f"{found['model']} on {found['dataset']}, {found['condition']}: {shape}"
        head += f" x {found['n_examples']:,} examples"
        scale = found.get("grades")
        shares = "" if scale is None else f" as shares of grades from {scale[0]:g} to {scale[1]:g}"
        holds = ", ".join([*found["holds"], f"scores{shares}"])
    means = dict(zip(found["seeds"], found["run_means"], strict=True))
    spread = ""
    if found["sd"] is not None:
        low, high = found["sd_interval"]["low"], found["sd_interval"]["high"]
        spread = f", SD {points(found['sd'], 2)} [{points(low, 2)}, {points(high, 2)}]"
    graded = "" if not found.get("grades") else f", mean grade {grade_of(found['mean'], found['grades'])}"
    last = " at the last checkpoint" if len(checkpoints) > 1 else ""
    lines = {
        "split": found.get("split"),
        "trained on": found.get("train_set"),
        "configured": _configuration(found.get("configuration")),
        "labels": _few(found.get("label_names", ()), 12),
        "groups": ", ".join(f"{name} ({n})" for name, n in found.get("groups", {}).items()),
        "checkpoints": _few([str(step) for step in checkpoints]) if len(checkpoints) > 1 else "",
        "holds": holds,
        "left out": ", ".join(f"{n} {why}" for why, n in found.get("skipped", {}).items()),
        "score": f"{points(found['mean'], 2)} points{spread}{graded}{last}",
        "by seed": _few([f"{seed}: {points(mean, 2)}" for seed, mean in means.items()], 12),
    }
    typer.echo(head if first else f"\n{head}")
    for name, value in lines.items():
        if value:
            typer.echo(f"  {name:<12} {value}")


def _configuration(found: dict[str, Any] | None) -> str:
    """Digits, and what the files tell, each setting in a few characters."""
    if not found or not found["digest"]:
        return ""
    told = [
        f"{name}={text if len(text := str(value)) <= 30 else text[:27] + '...'}"
        for name, value in found["told"].items()
    ]
    return f"{found['digest']}: {_few(told, 12)}"


def _few(items: Sequence[str], most: int = 8) -> str:
    return ", ".join(items[:most]) + (f", and {len(items) - most} more" if len(items) > most else "")


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
