"""The group of commands, and the options they share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goldassay.cli.app import app
from goldassay.cli.report_files import save_report
from goldassay.cli.run_options import write_json

if TYPE_CHECKING:
    from goldassay.report import Report

shift_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(shift_app, name="shift", short_help="Say whether a score holds elsewhere, and whether the model knows.")

Draws = Annotated[int, typer.Option("--draws", metavar="N", help="Bootstrap draws of each interval.")]


@shift_app.callback()
def shift() -> None:
    """Say whether a score holds on another distribution, and whether the model knows when it has left its own.

    \b
    From predictions that you have:
      goldassay shift generalization --runs own=own.csv --runs other=other.csv --in-distribution own
      goldassay shift detection --in own.csv --out other.csv
    From models trained here:
      goldassay shift build sst2_imdb --from FILES -o sets
      goldassay shift generalization sets/sst2_train.jsonl --test ID=sets/sst2_test.jsonl
        --test imdb=sets/imdb_test.jsonl --model bow
    """


def finish(report: Report, out: Path, json_file: Path | None, figures: str | None, *, latex: bool, quiet: bool) -> None:
    """Write the report where it was asked for, and say what it found."""
    page = save_report(report, out, figures, latex)
    if json_file is not None:
        write_json(json_file, report.to_json())
    if not quiet:
        typer.echo(report.summary())
        typer.echo(page)
