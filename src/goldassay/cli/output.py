"""Where results go: the folder of a command, with what is for papers, the file of `--json`, and the terminal.

An interruption loses nothing that is finished.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from goldassay.core.errors import InputError, InterruptionError, one_line
from goldassay.core.files import check_folder, check_place
from goldassay.core.report_seal import REPORT

if TYPE_CHECKING:
    from goldassay.core.options import AnyPath
    from goldassay.core.settings import Settings
    from goldassay.report.report import Report

_DASH = "-"
_standard_output: ContextVar[TextIO] = ContextVar("standard_output")


@dataclass(frozen=True)
class Output:
    """What a shell asked for beside the options of the function.

    Attributes:
        out: The folder, or None.
        json: The file of the result, or None.
        figures: Kind of the figures for a paper, or None.
        latex: Whether the tables are wanted for a paper.
        paper_tables: Whether the figures are to be laid out as the paper's tables.
        no_texts: Whether ids of rows stand in place of their texts.
        quiet: Print nothing but errors.
        settings: That the function took, or None.
        given: All that was given, by the name of the option.
    """

    out: Path | None = None
    json: Path | None = None
    figures: str | None = None
    latex: bool = False
    paper_tables: bool = False
    no_texts: bool = False
    quiet: bool = False
    settings: Settings | None = None
    given: dict[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse places where nothing can be written, before anything is computed.

        Raises:
            InputError: A folder or a file cannot be written, or figures have no folder.
        """
        if self.out is not None:
            check_folder(self.out, "-o")
        if self.json is not None and str(self.json) != _DASH:
            check_place(self.json, "--json")
        if self.figures or self.latex or self.paper_tables:
            from goldassay.report.paper import check_figures

            check_figures(self.figures)
            if self.out is None:
                raise InputError("figures and tables for papers need a place", mend="name a folder with -o DIR")

    def show_report(self, report: Report, lines: Iterable[str], content: str | None = None) -> None:
        """Write a report, and its JSON or another content as that of `--json`; print lines and the page's place."""
        if self.no_texts:
            from goldassay.report.without_texts import hidden_texts

            texts = hidden_texts(report)
            lines = texts.hide(list(lines))
            content = None if content is None else as_text(texts.hide(json.loads(content)))
            report = report.without_texts()
        page = None if self.out is None else self.save(report, self.out)
        if self.json is not None:
            # The report as it was written also tells the digests of the files beside it.
            written = page.with_name(REPORT).read_text(encoding="utf-8") if page and content is None else content
            write_json(self.json, written or report.to_json())
        self.show([*lines, *([] if page is None else [str(page)])])

    def save(self, report: Report, out: Path) -> Path:
        """Write a report and what was asked for papers, and return the path of the page.

        Interrupted while figures are drawn, the report is written without them; interrupted while it is written, it is
        written to the end.

        Raises:
            InterruptionError: It was interrupted; the message says what is kept.
        """
        from goldassay.report.paper import paper_files, printed_files

        kept = f"the report is in {out}"
        interrupted = False
        try:
            also = paper_files(report.paper_charts, self.figures, report.paper_tables if self.latex else ())
            also |= printed_files(report.printed_tables if self.paper_tables else ())
        except KeyboardInterrupt:
            also, interrupted, kept = {}, True, f"{kept}, without what is for papers"
        with _put_off() as signals:
            page = report.save(out, also)
        if interrupted or signals:
            raise InterruptionError(kept)
        return page

    def show(self, lines: Iterable[str]) -> None:
        """Print lines, unless the command is to be quiet."""
        if not self.quiet:
            for line in lines:
                typer.echo(line)


def settings_lines(settings: Settings | None) -> list[str]:
    """The file of the settings, where the lines of a command are no report's summary."""
    return [] if settings is None or settings.file is None else [f"settings of {one_line(settings.file.name)}"]


@contextmanager
def _put_off() -> Iterator[list[int]]:
    """Note a first Ctrl-C or request to end instead of obeying it; a second one is obeyed."""
    noted: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}

    def note(number: int, _frame: object) -> None:
        if noted:
            raise KeyboardInterrupt
        noted.append(number)

    for number in numbers:
        signal.signal(number, note)
    try:
        yield noted
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def kept_for_json(path: Path | None) -> Iterator[None]:
    """Where the result goes to standard output: let what is said to people go to standard error."""
    if str(path) != _DASH:
        yield
        return
    token = _standard_output.set(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _standard_output.reset(token)


def as_text(result: Any) -> str:
    """A result as JSON that people can read."""
    return json.dumps(result, ensure_ascii=False, indent=2) + "\n"


def write_json(path: AnyPath, content: str, option: str = "--json", inputs: Collection[Path] = ()) -> None:
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
    check_not_read(Path(path), inputs, option)
    with written_whole(Path(path), option) as aside:
        aside.write_text(content, encoding="utf-8")
