"""Where results go: the folder of a command, with what is for papers, the file of `--json`, and the terminal.

An interruption loses nothing that is finished.

A command made of its Python function: an option for each parameter, and what it returns written and shown.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, get_args, get_origin

import typer

from goldassay.core.commands import REQUIRED, Parameter, described, parameters_of
from goldassay.core.document import REPORT
from goldassay.core.errors import GoldassayError, InputError, Interrupted, InterruptionError, one_line
from goldassay.core.files import check_folder, check_place
from goldassay.core.options import PLACE, Figures, Json, Junit, Latex, Out, Quiet, place

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
        quiet: Print nothing but errors.
        settings: That the function took, or None.
        given: All that was given, by the name of the option.
    """

    out: Path | None = None
    json: Path | None = None
    figures: str | None = None
    latex: bool = False
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
        if self.figures or self.latex:
            from goldassay.report.paper import check_figures

            check_figures(self.figures)
            if self.out is None:
                raise InputError("figures and tables for papers need a place", mend="name a folder with -o DIR")

    def show_report(self, report: Report, lines: Iterable[str], content: str | None = None) -> None:
        """Write a report, and its JSON or another content as that of `--json`; print lines and the page's place."""
        page = None if self.out is None else save_report(report, self.out, self.figures, self.latex)
        if self.json is not None:
            # The report as it was written also tells the digests of the files beside it.
            written = page.with_name(REPORT).read_text(encoding="utf-8") if page and content is None else content
            write_json(self.json, written or report.to_json())
        self.show([*lines, *([] if page is None else [str(page)])])

    def show(self, lines: Iterable[str]) -> None:
        """Print lines, unless the command is to be quiet."""
        if not self.quiet:
            for line in lines:
                typer.echo(line)


def settings_lines(settings: Settings | None) -> list[str]:
    """The file of the settings, where the lines of a command are no report's summary."""
    return [] if settings is None or settings.file is None else [f"settings of {one_line(settings.file.name)}"]


def save_report(report: Report, out: Path, figures: str | None, latex: bool) -> Path:
    """Write the report and what was asked for papers, and return the path of the page.

    Interrupted while figures are drawn, the report is written without them; interrupted while it is written, it is
    written to the end.

    Raises:
        InterruptionError: It was interrupted; the message says what is kept.
    """
    from goldassay.report.paper import paper_files

    kept = f"the report is in {out}"
    interrupted = False
    try:
        also = paper_files(report.paper_charts, figures, report.paper_tables if latex else ())
    except KeyboardInterrupt:
        also, interrupted, kept = {}, True, f"{kept}, without what is for papers"
    with _put_off() as signals:
        page = report.save(out, also)
    if interrupted or signals:
        raise InterruptionError(kept)
    return page


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


# What a shell alone needs: a function returns what these write and show.
_SHELL = {"out": Out, "json": Json, "figures": Figures, "latex": Latex, "junit": Junit, "quiet": Quiet}
# The places that hold more values of an option.
_MORE = "more"


@dataclass(frozen=True)
class Command:
    """A command, and the function that it is.

    Attributes:
        function: "module:name".
        short: What the list of commands says of it.
        example: What may follow it in a shell.
        finish: "module:name" of what is done with a result: it takes the result and the `Output`. "" where the
            function itself writes and prints.
        also: Options that only the shell has: out, json, figures, latex, junit, quiet.
        out: The folder of what is written where none is named; None where nothing is written then.
        instead: "module:name" of what may do all that is asked in place of the function: it takes what is given, and
            returns whether it did.
    """

    function: str
    short: str
    example: str
    finish: str = ""
    also: tuple[str, ...] = ()
    out: str | None = None
    instead: str = ""

    def parameters(self) -> dict[str, Parameter]:
        """What a shell offers, by name."""
        offered = {name: each for name, each in parameters_of(_attribute(self.function)).items() if each.option.group}
        for name, each in list(offered.items()):
            if each.option.further:
                text = f"Further ones, as for {spelled(name)}."
                offered[_MORE] = Parameter(_MORE, each.kind, place(text, each.option.further, repeat=True), None)
        for name in self.also:
            kind, declared = get_args(_SHELL[name])
            offered[name] = Parameter(name, kind, declared, False if kind is bool else None)
        # Who types a command sees how it goes.
        if "quiet" in offered:
            offered["quiet"] = replace(offered["quiet"], default=False)
        if self.out is not None:
            offered["out"] = replace(offered["out"], default=Path(self.out))
        return offered

    def run(self, given: dict[str, Any]) -> None:
        """Call the function with what a shell gives, then write and show what it returns."""
        function, offered = _attribute(self.function), self.parameters()
        for name in (name for name, each in offered.items() if each.option.further):
            given[name] = [*(given[name] or ()), *(given.pop(_MORE, None) or ())]
        values: dict[str, Any] = {
            name: text if isinstance(text, (bool, Path)) else offered[name].parse(text)
            for name, text in given.items()
            if text is not None and text != []
        }
        if self.instead and _attribute(self.instead)(values):
            return
        with kept_for_json(values.get("json")):
            taken = parameters_of(function)
            for name, value in values.items():
                offered[name].check(value)
            if "settings" in taken:
                from goldassay.questions.gating import load_settings

                values["settings"] = load_settings(values.get("settings"))
            asked: dict[str, Any] = {each.name: values[each.name] for each in fields(Output) if each.name in values}
            output = Output(**asked, given=values)
            output.check()
            arguments = {name: value for name, value in values.items() if name in taken}
            finish = _attribute(self.finish) if self.finish else None
            try:
                result = function(*_by_place(function, arguments), **arguments)
            except (GoldassayError, Interrupted) as stopped:
                if stopped.report is None or finish is None:
                    raise
                finish(stopped.report, output)
                if isinstance(stopped, Interrupted):
                    raise InterruptionError(f"{stopped} is in {output.out}") from stopped
                raise
            if finish is not None:
                finish(result, output)


def typer_function(spec: Command) -> Callable[..., None]:
    """What typer makes a command of: a function with an option for each parameter."""

    def called(**given: Any) -> None:
        spec.run(given)

    called.__doc__ = "\n\n".join(map(_paragraph, described(_attribute(spec.function)).split("\n\n")))
    called.__dict__["__signature__"] = inspect.Signature(
        [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=_default(each),
                annotation=Annotated[_type(each), _declaration(each)],
            )
            for name, each in spec.parameters().items()
        ]
    )
    return called


def spelled(name: str) -> str:
    """A parameter as an option."""
    return f"--{name.rstrip('_').replace('_', '-')}"


def _attribute(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def _by_place(function: Any, arguments: dict[str, Any]) -> list[Any]:
    """The values of what a function takes as *NAME, which are taken out of the arguments."""
    several = [
        name for name, each in inspect.signature(function).parameters.items() if each.kind is each.VAR_POSITIONAL
    ]
    return [value for name in several for value in arguments.pop(name)]


def _paragraph(text: str) -> str:
    """A paragraph of a help; lines of one that holds indented ones are kept."""
    return f"\b\n{text}" if any(line.startswith(" ") for line in text.splitlines()) else text


def _declaration(each: Parameter) -> Any:
    option = each.option
    metavar = option.metavar or (f"<{'|'.join(each.choices)}>" if each.choices else None)
    if option.group == PLACE:
        return typer.Argument(metavar=metavar, help=option.help)
    text, mark, tail = option.help.partition("  [default: ")
    help_text = " ".join(part for part in (text, option.shell, "Repeatable." if option.repeat else "") if part)
    shown = each.default is None and option.default is not None
    help_text += mark + tail + (f"  [default: {option.default}]" if shown else "")
    how: dict[str, Any] = {"autocompletion": lambda: list(each.choices)} if each.choices else {}
    names = option.spelled or (spelled(each.name),)
    return typer.Option(*names, help=help_text, metavar=metavar, rich_help_panel=option.group, **how)


def _type(each: Parameter) -> Any:
    """What typer is to read: a switch, a path, a text, or several; numbers are read and checked as Python's are."""
    if bool in each.members:
        return bool if each.kind is bool else bool | None
    is_path = any(get_origin(member) is os.PathLike or member is Path for member in each.members)
    one: Any = Path if is_path else str
    several: Any = list[one] if each.option.repeat else one
    return several if each.default is REQUIRED else several | None


def _default(each: Parameter) -> Any:
    value = each.default
    if value is REQUIRED or value is None or isinstance(value, (bool, Path)):
        return value
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
