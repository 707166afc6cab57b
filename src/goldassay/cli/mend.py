"""`goldassay mend`: write a dataset anew with the decisions about its rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldassay.cli.app import app
from goldassay.cli.json_option import JsonFile, write_json
from goldassay.cli.options import DATA, AlignOption, Columns, Format, NamedRunPaths, Out, Quiet, of_option


@app.command(short_help="Write a dataset anew with the decisions about its rows, and a log of every change.")
def mend(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The dataset file that decisions were made about.")],
    decisions: Annotated[Path | None, of_option("decisions", metavar="FILE", group=DATA)] = None,
    runs: NamedRunPaths = None,
    align: AlignOption = "exact",
    out: Out = Path("goldassay-mend"),
    columns: Columns = None,
    file_format: Format = "auto",
    json_file: JsonFile = None,
    quiet: Quiet = False,
) -> None:
    """Write a dataset anew: rows dropped, relabelled and rewritten as decided, and changes.jsonl with every change.

    Decisions are found by the content of rows, so that a reordered file still fits; those that fit no row are counted
    and change nothing. The dataset itself is read and never changed. Audit the mended file, and goldassay diff says
    what it was worth.

    With --runs the predictions are written to OUT/runs for the mended rows: without dropped and rewritten ones, which
    no model has answered, and scored by the new labels.
    """
    from goldassay.core.files import check_not_read
    from goldassay.data.mending import mend_dataset
    from goldassay.questions.artifacts.output import as_json
    from goldassay.questions.mended_runs import FOLDER, mend_runs, write_mended_runs

    mended = mend_dataset(data, decisions, columns=columns, file_format=file_format)
    sets, said = mend_runs(mended, runs, out / FOLDER, columns=columns, align=align) if runs else ([], [])
    if json_file is not None:
        check_not_read(json_file, mended.read, "--json")
    paths = mended.save(out)
    if sets:
        paths.append(write_mended_runs(sets, out / FOLDER))
    if json_file is not None:
        write_json(json_file, as_json({**mended.to_dict(), "runs": said}), inputs=mended.read)
    if not quiet:
        for line in (*mended.lines(), *(f"- {each}" for each in said)):
            typer.echo(line)
        for path in paths:
            typer.echo(path)
