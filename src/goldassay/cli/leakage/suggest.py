"""`goldassay leakage suggest`: which rows to rewrite or drop first, and what that is worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldassay.cli.json_option import JsonFile, write_report_json
from goldassay.cli.leakage.group import leakage_app
from goldassay.cli.options import (
    METHOD,
    Columns,
    Condition,
    Config,
    Out,
    Quiet,
    Seed,
    Test,
    of_option,
)
from goldassay.cli.report_files import save_report
from goldassay.core.errors import InputError


@leakage_app.command(short_help="Rank the rows to rewrite first, and measure what leakage falls to without them.")
def suggest(
    train: Annotated[str, typer.Argument(metavar="TRAIN", help="The rows: a file, a folder, or a name on the hub.")],
    test: Test = None,
    condition: Condition = None,
    shares: Annotated[
        str,
        of_option("shares", metavar="SHARE,...", group=METHOD),
    ] = "0.02,0.05,0.1,0.2,0.3",
    out: Out = Path("goldassay-suggest"),
    json_file: JsonFile = None,
    columns: Columns = None,
    seed: Seed = None,
    config: Config = None,
    quiet: Quiet = False,
) -> None:
    """Rank the rows to rewrite or drop first, and measure what leakage falls to without them.

    Each row's label is predicted from its hypothesis alone by probes trained on other rows; those that are given away
    by most bits come first. Probes are then fitted anew without the first rows, and for comparison without as many at
    random. Writes tables/rows.csv (all rows, ranked, with the patterns that give them away) and a report.

    Multiple-choice items and preferences are ranked by what rules without training and a probe of the choices, or of
    the responses, tell of the answer;
    tables/rows.csv says what to change in each, and tables/mends.csv in how many items until a rule is at chance.
    """
    from goldassay.questions.gating import load_settings
    from goldassay.questions.leakage.suggested import suggest_rewrites

    report = suggest_rewrites(
        train,
        test,
        condition=condition,
        shares=_numbers(shares),
        columns=columns,
        seed=seed,
        settings=load_settings(config),
        quiet=quiet,
    )
    page = save_report(report, out, None, latex=False)
    if json_file is not None:
        write_report_json(json_file, page)
    if not quiet:
        typer.echo(report.summary())
        typer.echo(page)


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise InputError(f"--shares {text!r} are no numbers", mend="write --shares 0.05,0.1") from error
