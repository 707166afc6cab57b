"""`goldassay check`: does a report keep what the policy demands?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import (
    OUTPUT,
    Config,
    Quiet,
    of_option,
)


@app.command(short_help="Hold a report against the policy in goldassay.toml; exit with 1 if a rule is broken.")
def check(
    reports: Annotated[
        list[Path],
        typer.Argument(
            metavar="REPORT...",
            help="A report.json that any command wrote, or its folder; several are judged together.",
        ),
    ],
    junit: Annotated[
        Path | None,
        of_option("junit", metavar="FILE", group=OUTPUT),
    ] = None,
    json_file: JsonFile = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Hold a report against the policy in goldassay.toml, for CI and for pre-commit.

    \b
      [policy]
      max_single_sentence_improvement = 0.05     # fractions: 5 points
      max_easy_share = 0.2
      min_runs = { limit = 5, optional = true }  # passes where no runs were given
      worst_verdict = "caution"

    Prints one line for each rule that is broken and exits with 1, or with 0 where none is; with 2 where the report or
    the policy cannot be read, or the report was edited. A measure that the reports lack breaks its rule, unless the
    rule is optional.
    """
    import json

    from goldassay.core.visible import one_line
    from goldassay.questions.gating import check as check_reports

    found = check_reports(reports, config)
    inputs = [Path(report["path"]) for report in found.reports]
    if junit is not None:
        from goldassay.gate.check import to_junit

        write_json(junit, to_junit(found), "--junit", inputs)
    if json_file is not None:
        text = json.dumps(found.to_dict(), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
        write_json(json_file, text.encode("utf-8", "backslashreplace").decode("utf-8"), inputs=inputs)
    for outcome in found.outcomes:
        if outcome.status == "broken":
            typer.echo(f"broken   {one_line(outcome.line)}")
        elif outcome.status == "skipped" and not quiet:
            typer.echo(f"skipped  {one_line(outcome.line)}")
    # Whoever loosens a limit makes a verdict pass: no gate may be quiet about that.
    for note in found.notes:
        typer.echo(f"note     {one_line(note)}")
    if found.broken:
        raise typer.Exit(1)
    if not quiet:
        kept = sum(outcome.status == "kept" for outcome in found.outcomes)
        typer.echo(f"{kept} rule{'' if kept == 1 else 's'} of {one_line(found.policy)} kept, none broken")
