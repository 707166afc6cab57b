"""The group of commands, and what they share: options, tables for reading, warnings in one line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from goldassay.cli.app import Commands, app
from goldassay.core.visible import one_line

if TYPE_CHECKING:
    from goldassay.data import Dataset

artifacts_app = Commands(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(artifacts_app, name="artifacts", short_help="Find the word patterns that give labels away.")

Train = Annotated[
    str, typer.Argument(metavar="TRAIN", help="Training data: a file, a folder, or a name on the Hugging Face hub.")
]


@artifacts_app.callback()
def artifacts() -> None:
    """Find the word patterns that give labels away, and what to do about them.

    A pattern is a few tokens in order with an exact number of skipped ones between: "A # # outdoors ." Patterns are
    mined from training data; a test example is easy if those it holds speak for its label, hard if they speak
    against it.
    """


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Say each warning once, in one line on standard error, without the place in the code."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    for line in dict.fromkeys(one_line(each.message) for each in caught):
        typer.echo(f"goldassay: warning: {line}", err=True)


def say(table: Sequence[Sequence[str]], left: int = 1) -> None:
    """Print a table in columns: the first `left` flush left, the others right."""
    shown = [[one_line(cell) for cell in row] for row in table]
    widths = [max(len(row[i]) for row in shown) for i in range(len(shown[0]))]
    for row in shown:
        cells = [
            cell.ljust(w) if i < left else cell.rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        ]
        typer.echo("  ".join(cells).rstrip())


def say_line(text: str) -> None:
    """Print a line with words out of the data."""
    typer.echo(one_line(text))


def say_dropped(name: str, n_read: int, dropped: Mapping[str, int]) -> None:
    """Print how many rows of a file were left out, and why, if any were."""
    from goldassay.core.numbers import count

    if dropped:
        why = "; ".join(f"{one_line(reason)}: {count(n)}" for reason, n in dropped.items())
        typer.echo(f"{one_line(name)}: {count(sum(dropped.values()))} of {count(n_read)} rows left out ({why})")


def say_dropped_of(*datasets: Dataset | None) -> None:
    """Print how many rows of each dataset's file were left out, and why, if any were."""
    for dataset in datasets:
        if dataset is not None:
            say_dropped(dataset.source, dataset.provenance.n_read, dataset.provenance.dropped)


def say_paths(paths: Sequence[Path]) -> None:
    """Print what was written."""
    for path in paths:
        typer.echo(path)
