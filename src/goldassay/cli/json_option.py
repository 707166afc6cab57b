"""`--json FILE`, the same for every command, and what else is written to a file of its own."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, TextIO

import typer  # noqa: TC002 - typer reads the annotations

from goldassay.cli.options import (
    OUTPUT,
    of_option,
)
from goldassay.core.errors import InputError
from goldassay.core.files import check_place
from goldassay.core.report_seal import REPORT

_DASH = "-"
_standard_output: ContextVar[TextIO] = ContextVar("standard_output")


@contextmanager
def _kept_for_json() -> Iterator[None]:
    """Let what is said to people go to standard error, so that a program can read the other stream."""
    token = _standard_output.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _standard_output.reset(token)


def _opened(context: typer.Context, path: Path | None) -> Path | None:
    if str(path) == _DASH:
        context.with_resource(_kept_for_json())
    elif path is not None:
        check_place(path, "--json")
    return path


JsonFile = Annotated[
    Path | None,
    of_option("json", metavar="FILE", group=OUTPUT, callback=_opened),
]


def write_report_json(path: Path, page: Path) -> None:
    """Write the report.json next to a page to the file of `--json` as well, or to standard output.

    Raises:
        OutputError: It cannot be written.
    """
    write_json(path, page.with_name(REPORT).read_text(encoding="utf-8"))


def write_json(path: Path, content: str, option: str = "--json", inputs: Collection[Path] = ()) -> None:
    """Write a result to the file of an option, or to standard output.

    Args:
        path: What the option says.
        content: The text.
        option: Its name.
        inputs: Files that were read, which it must not replace.

    Raises:
        InputError: The file is one of those read, or standard output is asked for by another option.
        OutputError: It cannot be written.
    """
    from goldassay.core.files import check_not_read, written_whole

    if str(path) == _DASH and option != "--json":
        raise InputError("standard output is for --json alone", mend=f"name a file with {option}")
    if str(path) == _DASH:
        stream = _standard_output.get()
        # JSON is UTF-8, whatever a terminal takes.
        stream.buffer.write(content.encode())
        stream.buffer.flush()
        return
    check_not_read(path, inputs, option)
    with written_whole(path, option) as aside:
        aside.write_text(content, encoding="utf-8")
