"""`goldassay instability`: from the predictions of several runs to a report on how far the score moves, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
    Model,
    Seed,
    Split,
    TrainSet,
    choose,
    spoken,
    write_json,
)


@app.command(short_help="Say how far a score moves from seed to seed, and why.")
def instability(
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUNS...", help="Predictions of several runs: files or folders in any known format."),
    ],
    reference: Annotated[
        str | None,
        typer.Option(metavar="DATASET", help="The dataset whose spread those of the others are held against."),
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Take the variance apart by this column: a template, a heuristic. Repeatable.  [default: all groups]",
        ),
    ] = None,
    gold: Gold = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the report and its tables.")
    ] = Path("goldassay-instability"),
    json_file: JsonFile = None,
    file_format: Format = "auto",
    model: Model = None,
    dataset: DatasetName = None,
    condition: Condition = None,
    split: Split = None,
    train_set: TrainSet = None,
    checkpoint: Checkpoint = None,
    columns: Columns = None,
    labels: Labels = None,
    align: AlignOption = "exact",
    seed: Seed = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Settings; without it ./goldassay.toml is read if it is there."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Say how far a score moves from seed to seed, and why.

    For each model and dataset: mean and spread over runs with their uncertainty; how much of it comes from single
    examples and how much from examples that flip together; which groups of examples it comes from; which examples
    are unstable and which go together; with checkpoints, how the score moves in training. Writes report.html,
    report.json, report.md, the tables and the figures, and prints a verdict and what it rests on.
    """
    from goldassay.settings import load_settings
    from goldassay.studies.instability import report_instability

    with spoken():
        choice = choose(
            file_format=file_format, model=model, dataset=dataset, condition=condition, split=split,
            train_set=train_set, checkpoint=checkpoint, columns=columns, labels=labels, align=align, gold=gold,
        )  # fmt: skip
        report = report_instability(
            runs,
            reference=reference,
            groups=groups or None,
            choice=choice,
            seed=seed,
            settings=load_settings(config),
            quiet=quiet,
        )
    page = report.save(out)
    if json_file is not None:
        write_json(json_file, report.to_json())
    if not quiet:
        typer.echo(report.summary())
        typer.echo(page)
