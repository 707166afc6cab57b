"""`goldassay compare`: is model A better than model B?"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from goldassay.cli.app import app
from goldassay.cli.options import Quiet
from goldassay.cli.run_options import (
    AlignOption,
    Checkpoint,
    Columns,
    Condition,
    DatasetName,
    Format,
    Gold,
    JsonFile,
    Labels,
    Seed,
    Split,
    TrainSet,
    choose,
    spoken,
    write_json,
)

if TYPE_CHECKING:
    from goldassay.studies.comparison import ModelComparison


@app.command(short_help="Say whether model A is better than model B, seeds and examples allowed for.")
def compare(
    runs_a: Annotated[str, typer.Argument(metavar="RUNS_A", help="Predictions of the one model: a file or a folder.")],
    runs_b: Annotated[str, typer.Argument(metavar="RUNS_B", help="Predictions of the other, on the same examples.")],
    clusters: Annotated[
        str | None,
        typer.Option(metavar="GROUP", help="Examples that share this do not count as independent: premise, template."),
    ] = None,
    model_a: Annotated[str | None, typer.Option(metavar="NAME", help="Which model in RUNS_A, if several.")] = None,
    model_b: Annotated[str | None, typer.Option(metavar="NAME", help="Which model in RUNS_B, if several.")] = None,
    matched: Annotated[
        bool, typer.Option("--matched", help="Runs with the same seed belong together: same data, same order.")
    ] = False,
    method: Annotated[Literal["normal", "bootstrap"], typer.Option(help="How the interval is made.")] = "normal",
    gold: Gold = None,
    json_file: JsonFile = None,
    file_format: Format = "auto",
    dataset: DatasetName = None,
    condition: Condition = None,
    split: Split = None,
    train_set: TrainSet = None,
    checkpoint: Checkpoint = None,
    columns: Columns = None,
    labels: Labels = None,
    align: AlignOption = "exact",
    seed: Seed = None,
    quiet: Quiet = False,
) -> None:
    """Say whether model A is better than model B, on the same examples.

    Both the runs (other seeds) and the examples (other test sets of the kind) are taken as samples: the interval of
    the difference allows for both, and the split of the noise says whether more seeds or more examples would help.
    Where several models or checkpoints are there, choose with --model-a, --model-b and --checkpoint; the last
    checkpoint is compared.
    """
    import json

    from goldassay.errors import InputError
    from goldassay.studies.comparison import compare_runs
    from goldassay.studies.run_sets import read_run_set

    with spoken():
        choice = choose(
            file_format=file_format, model=None, dataset=dataset, condition=condition, split=split,
            train_set=train_set, checkpoint=checkpoint or None, columns=columns, labels=labels, align=align, gold=gold,
        )  # fmt: skip
        sides = []
        for path, model, option in ((runs_a, model_a, "--model-a"), (runs_b, model_b, "--model-b")):
            try:
                sides.append(read_run_set([path], replace(choice, model=model)))
            except InputError as error:
                mend = None if error.mend is None else error.mend.replace("model=NAME", f"{option} NAME")
                raise InputError(
                    error.problem, file=error.file or path, row=error.row, column=error.column, mend=mend
                ) from error
        found = compare_runs(
            *sides,
            names=(Path(runs_a).name.split(".")[0], Path(runs_b).name.split(".")[0]),
            clusters=clusters,
            gold=choice.gold_of(sides[0].dataset),
            matched=matched,
            method=method,
            intersect=align == "intersect",
            seed=seed or 0,
        )
    if json_file is not None:
        write_json(json_file, json.dumps(found.to_dict(), ensure_ascii=False, indent=2) + "\n")
    if not quiet:
        for line in _lines(found):
            typer.echo(line)


def _lines(found: ModelComparison) -> list[str]:
    """The comparison for people, in points."""
    result = found.comparison
    low, high = result.interval.low, result.interval.high
    over = result.interval.method.partition("over ")[2]
    if result.n_clusters is not None:
        over = over.replace("examples", "clusters")
    lines = [
        f"A  {found.a}: {_side(result.mean_a, found.sd_a, result.n_runs_a)}",
        f"B  {found.b}: {_side(result.mean_b, found.sd_b, result.n_runs_b)}",
        f"{_conclusion(low, high)} on {result.n_examples:,} examples of {found.dataset}.",
        "",
        f"difference A - B   {_signed(result.difference)} points [{_signed(low)}, {_signed(high)}] "
        f"({result.interval.level:.0%} interval over {over}, {result.method})",
        f"noise              {_noise(found)}",
        f"p-values           {_p(result.p_value)} over {over}; "
        f"{_p(result.p_examples)} over {_units(found)} alone ({result.test})",
    ]
    if max(result.n_runs_a, result.n_runs_b) > 1:
        lines.append(f"P(A > B)           {result.probability_better:.0%} of the pairs of a run of each")
    if not math.isnan(found.smallest_difference):
        lines.append(f"seeds              {_seeds(found)}")
    lines += [f"note               {note}" for note in (*found.notes, *result.caveats)]
    return lines


def _side(mean: float, sd: float, runs: int) -> str:
    spread = "" if math.isnan(sd) else f", SD {100 * sd:.2f}"
    return f"{100 * mean:.2f} points{spread}, {runs} run{'s' if runs > 1 else ''}"


def _conclusion(low: float, high: float) -> str:
    if low > 0:
        return "A is better than B"
    return "B is better than A" if high < 0 else "A and B cannot be told apart"


def _signed(value: float) -> str:
    return f"{100 * value:+.2f}"


def _units(found: ModelComparison) -> str:
    result = found.comparison
    return "examples" if result.n_clusters is None else f"{result.n_clusters:,} clusters ({found.clusters})"


def _noise(found: ModelComparison) -> str:
    result = found.comparison
    parts = f"SD {100 * math.sqrt(result.var_total):.2f} points in all: {_units(found)} {_root(result.var_examples)}"
    if math.isnan(result.var_runs):
        return f"{parts}, runs unknown"
    share = "" if math.isnan(result.share_runs) else f" ({result.share_runs:.0%} of the variance is the runs')"
    return f"{parts}, runs {_root(result.var_runs)}{share}"


def _root(variance: float) -> str:
    return f"{100 * math.sqrt(variance):.2f}"


def _seeds(found: ModelComparison) -> str:
    runs = min(found.comparison.n_runs_a, found.comparison.n_runs_b)
    shown = f"{runs} of each can show {100 * found.smallest_difference:.2f} points (power 80 %, runs alone)"
    if found.seeds_needed is None:
        return shown
    span = f"{found.seeds_needed_low:,} to {found.seeds_needed_high:,}"
    return f"{shown}; a difference of this size takes {found.seeds_needed:,} of each ({span})"


def _p(value: float) -> str:
    return "p < 0.0001" if value < 1e-4 else f"p = {value:.4f}"
