"""`goldassay instability`: from the predictions of several runs to a report on how far the score moves, and why."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_report_json
from goldassay.cli.options import (
    METHOD,
    Config,
    Discount,
    DiscountPart,
    Figures,
    Latex,
    Out,
    Quiet,
    Seed,
    of_option,
)
from goldassay.cli.report_files import save_report
from goldassay.cli.run_options import reads_runs
from goldassay.core.errors import InterruptionError
from goldassay.questions.run_choice import RunChoice


@app.command(short_help="Say how far a score moves from seed to seed, and why.")
@reads_runs()
def instability(
    *,
    runs: Annotated[
        list[str],
        typer.Argument(metavar="RUNS...", help="Predictions of several runs: files or folders in any known format."),
    ],
    reference: Annotated[
        str | None,
        of_option("reference", metavar="DATASET", group=METHOD),
    ] = None,
    groups: Annotated[
        list[str] | None,
        of_option("groups", metavar="COLUMN", group=METHOD, also="Repeatable."),
    ] = None,
    discount: Discount = None,
    discount_part: DiscountPart = None,
    out: Out = Path("goldassay-instability"),
    json_file: JsonFile = None,
    figures: Figures = None,
    latex: Latex = False,
    choice: RunChoice,
    seed: Seed = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Say how far a score moves from seed to seed, and why.

    For each model and dataset: mean and spread over runs with their uncertainty; how much of it comes from single
    examples and how much from examples that flip together; which groups of examples it comes from; which examples
    are unstable and which go together; with checkpoints, how the score moves in training. Writes report.html,
    report.json, report.md, the tables and the figures, and prints a verdict and what it rests on.
    """
    from goldassay.questions.discount.page import discount_lines
    from goldassay.questions.discount.result import DiscountResult
    from goldassay.questions.gating import load_settings
    from goldassay.questions.instability.options import InstabilityChoice
    from goldassay.questions.instability.report import study_instability
    from goldassay.report.paper import check_figures

    check_figures(figures)
    report = study_instability(
        runs,
        InstabilityChoice(reference, groups or None, keep_finished=True),
        seed=seed,
        settings=load_settings(config),
        quiet=quiet,
        discount=discount,
        discount_part=discount_part,
        model=choice.model,
        dataset=choice.dataset,
        **choice.reading(),
    )
    page = save_report(report, out, figures, latex)
    if json_file is not None:
        write_report_json(json_file, page)
    if not quiet:
        typer.echo(report.summary())
        for line in discount_lines(report.answer(DiscountResult)):
            typer.echo(line)
        typer.echo(page)
    left = report.document["instability"]["interrupted"]
    if left:
        kept = f"the report on the {left['finished']} of {left['of']} sets of runs that were finished is in {out}"
        raise InterruptionError(kept)
