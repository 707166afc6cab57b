"""`goldassay shift build`: the splits of the paper, or of any dataset with a column that tells domains apart."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    DATA,
    METHOD,
    By,
    Columns,
    Out,
    Quiet,
    Seed,
    of_option,
)
from goldassay.cli.shift.group import shift_app

if TYPE_CHECKING:
    from goldassay.questions.shift.building import Benchmark


@shift_app.command(short_help="Build the splits of a benchmark of several domains.")
def build(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A recipe; without it and without --by all are listed.")
    ] = None,
    more: Annotated[list[str] | None, typer.Argument(metavar="[FILE]...", help="Further files, as for --from.")] = None,
    places: Annotated[
        list[str] | None,
        of_option("from", metavar="FILE", group=DATA, also="Repeatable."),
    ] = None,
    by: By = None,
    min_rows: Annotated[
        int,
        of_option("min_rows", metavar="N", group=METHOD),
    ] = 50,
    out: Out = Path("goldassay-benchmark"),
    columns: Columns = None,
    seed: Seed = None,
    json_file: JsonFile = None,
    quiet: Quiet = False,
) -> None:
    """Build the splits of a benchmark of several domains: a train, dev and test set of each.

    Texts are made distinct over the whole benchmark before anything is split, sizes are checked against those that are
    expected, and the ids of every set are kept in ids/. Without files the command says where they are published.

    \b
      goldassay shift build
      goldassay shift build stsb --from Stsbenchmark -o sts
      goldassay shift build --by genre --from reviews.jsonl -o reviews
    """
    from goldassay.core.progress import Steps
    from goldassay.questions.shift.building import build_shift

    if name is None and by is None:
        _list()
        return
    published = [*(places or []), *(more or [])]
    # With --by every name is that of a file.
    if name is not None and by is not None and places and Path(name).exists():
        published, name = [*published, name], None
    steps = Steps(quiet)
    with steps.step("building"):
        built = build_shift(name, published, by=by, min_rows=min_rows, columns=columns, seed=seed)
    paths = built.save(out)
    if json_file is not None:
        write_json(json_file, json.dumps(built.to_dict(), ensure_ascii=False, indent=2) + "\n")
    if not quiet:
        _say(built, paths, out)


def _list() -> None:
    from goldassay.questions.shift.benchmarks import load_recipe, recipe_names

    names = recipe_names()
    width = max(map(len, names))
    for name in names:
        recipe = load_recipe(name)
        typer.echo(f"{name:<{width}}  {recipe.title}: {recipe.task}; {recipe.metric.replace('_', ' ')}")
        typer.echo(f"{'':<{width}}  from {recipe.source}")


def _say(built: Benchmark, paths: list[Path], out: Path) -> None:
    sizes = {
        domain: {name: part.height for name, part in parts.items()} for domain, parts in built.splits.parts.items()
    }
    width = max(map(len, sizes))
    for domain, parts in sizes.items():
        typer.echo(f"{domain:<{width}}  " + "  ".join(f"{name} {count:>7,}" for name, count in parts.items()))
    for reason, count in built.splits.dropped.items():
        typer.echo(f"left out: {count:,} {'row' if count == 1 else 'rows'}: {reason}")
    equal = sum(check["found"] == check["expected"] for check in built.splits.checks)
    if built.splits.checks:
        typer.echo(f"sizes: {equal} of {len(built.splits.checks)} are as expected")
    for note in [*built.notes(), *built.splits.decisions]:
        typer.echo(f"note: {note.rstrip('.')}.")
    typer.echo(paths[-1])
    typer.echo(f"next: {shlex.join(_next(built, out))}")


def _next(built: Benchmark, out: Path) -> list[str]:
    """The command that measures what the benchmark was built for."""
    first = built.to_dict()["experiments"][0]
    sets = {"ID": first["in_distribution"], **first["out_of_distribution"]}
    command = ["goldassay", "shift", "generalization"]
    if built.recipe.metric == "exact_match":
        # Nothing here learns to answer questions.
        command += ["--in-distribution", "ID", "--metric", "exact_match"]
        for name, file in sets.items():
            command += ["--runs", f"{name}=PREDICTIONS", "--test", f"{name}={out / file}"]
        return command
    command.append(str(out / first["train"]))
    for name, file in sets.items():
        command += ["--test", f"{name}={out / file}"]
    return [*command, "--model", "ridge" if built.has_numbers else "quick_probe"]
