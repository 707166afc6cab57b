"""`goldassay view`: look through the rows of a report, and decide about them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from goldassay.cli.app import app
from goldassay.cli.options import DATA, OUTPUT, Quiet, Test, of_option


@app.command(short_help="Look through all rows of a report in the browser, and decide about them.")
def view(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="The folder of a report, or its report.json.")],
    test: Test = None,
    decisions: Annotated[Path | None, of_option("decisions", metavar="FILE", group=DATA)] = None,
    port: Annotated[int, of_option("port", metavar="N", group=OUTPUT)] = 0,
    export: Annotated[Path | None, of_option("export", metavar="FILE", group=OUTPUT)] = None,
    state: Annotated[str, of_option("state", metavar="QUERY", group=OUTPUT)] = "",
    quiet: Quiet = False,
) -> None:
    """Look through all rows of a report on a local page: filter, search, sort, and open each one in full.

    Decisions (keep, rewrite, relabel, drop, a note) are appended, each at once, to NAME.decisions.jsonl beside the
    dataset, where a new audit finds them; goldassay mend applies them. Only programs of this machine that know the
    address with its token reach the page, and the page asks nothing of any other machine. Ctrl-C ends it.

    With --export a selection is written as one static file, at most 1,000 rows.
    """
    from goldassay.core.errors import InputError
    from goldassay.core.files import check_not_read, written_whole
    from goldassay.view.opening import open_workbench
    from goldassay.view.page import render_export
    from goldassay.view.server import serve

    if state and export is None:
        raise InputError("--state is given without --export", mend="open the address with the state after its ?")
    bench = open_workbench(report, test, decisions, deciding=export is None)
    asked = bench.state(state)
    if export is not None:
        check_not_read(export, (each for each in (bench.dataset, bench.decisions) if each is not None), "--export")
        if export.resolve().is_relative_to(bench.folder.resolve()):
            raise InputError("is within the report", file=export, mend="name a place outside of it with --export")
        page = render_export(bench, asked, bench.selector.select(asked))
        with written_whole(export, "--export") as aside:
            aside.write_text(page, "utf-8")
        for note in bench.notes:
            typer.echo(note, err=True)
        if asked.page > 1:
            typer.echo(f"--state: page={asked.page} is left out: the file has all pages of the selection", err=True)
        if not quiet:
            typer.echo(export)
        return

    def say(address: str) -> None:
        for note in bench.notes:
            typer.echo(note, err=True)
        if not quiet and bench.decisions is not None and not bench.locked:
            typer.echo(f"decisions go to {bench.decisions}", err=True)
        typer.echo(address)

    serve(bench, port, say)
