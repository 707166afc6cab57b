"""A command made of its Python function: an option for each parameter, and what it returns written and shown."""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import typer

from goldassay.cli.output import Output, kept_for_json
from goldassay.core.commands import REQUIRED, Parameter, described, parameters_of
from goldassay.core.errors import GoldassayError, Interrupted, InterruptionError
from goldassay.core.options import PLACE, Figures, Json, Junit, Latex, NoTexts, Out, PaperTables, Quiet, place

# What a shell alone needs: a function returns what these write and show.
_SHELL = {"out": Out, "json": Json, "figures": Figures, "latex": Latex, "paper_tables": PaperTables,
          "no_texts": NoTexts, "junit": Junit, "quiet": Quiet}  # fmt: skip
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
        also: Options that only the shell has: out, json, figures, latex, paper_tables, no_texts, junit, quiet.
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
