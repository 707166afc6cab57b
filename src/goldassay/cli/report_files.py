"""Where a command's report goes: its folder, the file of `--json`, what is for papers, and the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from goldassay.cli.run_options import write_json

if TYPE_CHECKING:
    from goldassay.report import Report


def save_report(
    report: Report, out: Path, *, json_file: Path | None, figures: str | None, latex: bool, quiet: bool
) -> None:
    """Write the report with what was asked for papers, and print its summary."""
    from goldassay.report.paper import paper_files

    page = report.save(out, paper_files(report.to_dict(), figures, latex))
    if json_file is not None:
        write_json(json_file, report.to_json())
    if not quiet:
        typer.echo(report.summary())
        typer.echo(page)
