"""`goldassay audit`: from a dataset file to a report one can act on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_report_json
from goldassay.cli.options import (
    DATA,
    AlignOption,
    Columns,
    Config,
    CorpusPaths,
    ExampleClusters,
    Field,
    Format,
    Grades,
    LabelNames,
    Model,
    NamedRunPaths,
    NamedTest,
    Out,
    PoolConfigurations,
    Quiet,
    Seed,
    SplitBy,
    of_option,
)
from goldassay.cli.run_options import parse_names


@app.command(short_help="Audit a benchmark: a report with a verdict for each question.")
def audit(
    train: Annotated[
        str,
        typer.Argument(metavar="TRAIN", help="Training data: a file, a folder, or a name on the Hugging Face hub."),
    ],
    test: NamedTest = None,
    runs: NamedRunPaths = None,
    pool_configurations: PoolConfigurations = False,
    align: AlignOption = "exact",
    grades: Grades = None,
    elsewhere: Annotated[
        list[str] | None,
        of_option("elsewhere", metavar="[NAME=]FILE", group=DATA, also="Repeatable."),
    ] = None,
    corpus: CorpusPaths = None,
    field: Field = "text",
    model: Model = None,
    out: Out = Path("goldassay-report"),
    json_file: JsonFile = None,
    columns: Columns = None,
    clusters: ExampleClusters = None,
    split_by: SplitBy = None,
    label_names: LabelNames = None,
    file_format: Format = "auto",
    seed: Seed = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Audit a benchmark: can its labels be guessed by a shortcut, and would a score on it hold?

    Reads the data, searches the training part for word patterns that give the label away, trains small quick
    models that may see only a part of each input; with --runs measures how much the score moves from seed to
    seed, with --elsewhere what it loses on other distributions, and with --corpus whether the test set stands in what
    was trained on. Without --test the data's own test part is used,
    or a fifth of the rows is set apart such that no sentence is in both parts. With --model a network judges leakage in
    place of the quick models; it needs goldassay[train].
    Writes report.html (open it in a browser), report.json, report.md and the tables and figures behind them,
    and prints a summary: a verdict for each question (sound, caution, unsound, not measurable) with the
    figure that decided it, and what to add for a question that was not asked.

    \b
      goldassay audit train.jsonl --test test.jsonl
      goldassay audit train.jsonl --test test.jsonl --runs runs --elsewhere far=far.jsonl

    The quick models need no GPU and about a minute for 20,000 rows. They set a lower bound: what they can
    read from a part of the input, a stronger model can read too.
    """
    from goldassay.questions.audit import audit as run_audit
    from goldassay.questions.gating import load_settings

    report = run_audit(
        train,
        test,
        runs=runs or None,
        elsewhere=elsewhere or None,
        corpus=corpus or None,
        field=field,
        seed=seed,
        model=model,
        out=out,
        columns=columns,
        clusters=clusters,
        split_by=split_by,
        label_names=parse_names(label_names),
        format=file_format,
        pool_configurations=pool_configurations,
        align=align,
        grades=grades,
        settings=load_settings(config),
        quiet=quiet,
    )
    page = report.save(out)
    if json_file is not None:
        write_report_json(json_file, page)
    if not quiet:
        typer.echo(report.summary())
        typer.echo(page)
