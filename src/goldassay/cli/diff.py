"""`goldassay diff`: what changed from one report to another?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import Out, Quiet


@app.command(short_help="Lay two reports side by side: what changed when a dataset or a model was mended.")
def diff(
    before: Annotated[
        Path, typer.Argument(metavar="BEFORE", help="A report.json that any command wrote, or its folder.")
    ],
    after: Annotated[Path, typer.Argument(metavar="AFTER", help="A later report of the same command.")],
    out: Out = Path("goldassay-diff"),
    json_file: JsonFile = None,
    quiet: Quiet = False,
) -> None:
    """Lay two reports side by side, before and after a dataset was mended or a model changed.

    Says how each measure changed, with an interval of the change; which verdicts moved; which patterns are gone and
    which are new. The interval is paired where two reports with a row for each example evaluate on the same test file,
    else made from the intervals of the two reports, and each row says which. Reports of different questions, labels or
    texts are refused; other commands, versions, data or settings are named.

    Writes diff.html, diff.json, diff.md, tables and a figure.
    """
    from goldassay.questions.gating import diff as diff_reports

    found = diff_reports(before, after)
    page = found.save(out)
    if json_file is not None:
        write_json(
            json_file, found.to_json(), inputs=[Path(found.document[side]["path"]) for side in ("before", "after")]
        )
    if not quiet:
        typer.echo(found.summary())
        typer.echo(page)
