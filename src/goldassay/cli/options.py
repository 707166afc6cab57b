"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from goldassay.core.visible import one_line

if TYPE_CHECKING:
    from goldassay.core.settings import Settings

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Config = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Settings; without it ./goldassay.toml is read if it is there.")
]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the report and its tables.")]
Figures = Annotated[
    Literal["pdf", "svg", "png"] | None,
    typer.Option(help="Draw the figures for a paper as well, one column wide, into DIR/paper."),
]
Latex = Annotated[
    bool, typer.Option("--latex", help="Write the tables for a paper as well, as LaTeX with booktabs, into DIR/paper.")
]


ExampleClusters = Annotated[
    str | None,
    typer.Option(
        "--clusters",
        metavar="COLUMN,...",
        help="Rows that count as one in every interval: those with equal values in these columns, or none.  [default: "
        "rows that share a text, such as a premise, or a column given as group]",
    ),
]
SplitBy = Annotated[
    str | None,
    typer.Option(
        "--split-by",
        metavar="COLUMN,...",
        help="Columns of which no value may be in both parts of a split; none for none.  [default: a column given as "
        "group]",
    ),
]


def say_settings(settings: Settings) -> None:
    """Name the file of the settings, where the lines of a command are no report's summary."""
    if settings.file is not None:
        typer.echo(f"settings of {one_line(settings.file.name)}")
