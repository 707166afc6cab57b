"""A command is its Python function: what its signature declares is checked, documented, and offered in a shell."""

from __future__ import annotations

import functools
import inspect
import os
import re
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from goldassay.core.errors import InputError
from goldassay.core.errors import option as named
from goldassay.core.naming import did_you_mean, names, pairs
from goldassay.core.options import PLACE, AnySettings, Option

Function = TypeVar("Function", bound=Callable[..., Any])
REQUIRED = inspect.Parameter.empty
_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a text",
    os.PathLike: "a path",
    Path: "a path",
    AnySettings: "settings",
    Sequence: "a list",
    Mapping: "a mapping",
}
_LONGEST = 40


@dataclass(frozen=True)
class Parameter:
    """What a function takes under one name.

    Attributes:
        name: Of the parameter; that of the option has dashes.
        kind: The type of its value.
        option: Its declaration.
        default: Its value where nothing is given.
    """

    name: str
    kind: Any
    option: Option
    default: Any = REQUIRED

    @property
    def members(self) -> tuple[Any, ...]:
        """The types that a value may have, without None."""
        each = get_args(self.kind) if get_origin(self.kind) in (Union, UnionType) else (self.kind,)
        return tuple(member for member in each if member is not type(None))

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that there are, where they are few."""
        return get_args(self.members[0]) if get_origin(self.members[0]) is Literal else ()

    def parse(self, text: Any) -> Any:
        """The value that a shell's text stands for, or its texts; what cannot be one is left as it is."""
        if self.option.parse is not None:
            return self.option.parse(text)
        origins = [get_origin(member) or member for member in self.members]
        if Mapping in origins:
            return pairs(text if self.option.repeat else text.split(","), self.name, self.option.metavar)
        if Sequence in origins:
            parts = names(text if self.option.repeat else text.split(","), self.name)
            inner = get_args(self.members[origins.index(Sequence)])[0]
            return tuple(_number(part, inner) for part in parts)
        return _number(text, origins[0]) if len(origins) == 1 else text

    def check(self, value: Any) -> None:
        """Refuse a value of another type, or beyond the bounds.

        Raises:
            InputError: It names the parameter, and says what to give in its place.
        """
        # NumPy's numbers are Python's own.
        is_scalar = type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0
        plain = value.item() if is_scalar else value
        if (plain is None and type(None) in get_args(self.kind)) or any(self._is_one(plain, m) for m in self.members):
            return
        shown = self.name if self.option.group == PLACE else named(self.name)
        raise InputError(f"{shown} is {_shown(value)}", mend=f"give {self.wanted()}")

    def _is_one(self, value: Any, member: Any) -> bool:
        origin, inner = get_origin(member) or member, get_args(member)
        if origin is Any:
            return True
        if origin is Literal:
            return value in inner
        if origin is float:
            return isinstance(value, (int, float)) and not isinstance(value, bool) and self.option.allows(value)
        if origin is int:
            return isinstance(value, int) and not isinstance(value, bool) and self.option.allows(value)
        if origin is Sequence:
            if type(value).__module__ == "numpy":
                value = value.tolist()
            return isinstance(value, Sequence) and not isinstance(value, str) and all(_of(v, inner[0]) for v in value)
        if origin is Mapping:
            return isinstance(value, Mapping) and all(_of(k, inner[0]) and _of(v, inner[1]) for k, v in value.items())
        return isinstance(value, origin) and self.option.allows(value)

    def wanted(self) -> str:
        """What it takes, in words."""
        said = []
        is_path = any(get_origin(member) is os.PathLike for member in self.members)
        # The text of a path is one.
        for member in (each for each in self.members if each is not str or not is_path):
            origin = get_origin(member) or member
            if origin is Literal:
                said.append(f"one of {', '.join(get_args(member))}")
                continue
            words = "a finite number" if origin is float and self.option.finite is False else _WORDS[origin]
            parts = () if origin is os.PathLike else get_args(member)[-1:]
            inner = [_WORDS[part].removeprefix("a ") + "s" for part in parts if part in (int, float, str)]
            said.append(f"{words} of {inner[0]}" if inner else words)
        bounds = "a name" if self.option.min_length else self.option.range()
        return " or ".join(said) + (f", {bounds}" if bounds else "")


def command(*, without: Collection[str] = ()) -> Callable[[Function], Function]:
    """Make a function one that a command can be made of: what its signature declares is checked when it is called.

    Its docstring gets the arguments.

    Args:
        without: Options of a bundle, `**reading: Unpack[...]`, that it does not take.
    """

    def decorate(function: Function) -> Function:
        parameters = _parameters(function, without)
        signature = inspect.signature(function)
        bundle = next((name for name, each in signature.parameters.items() if each.kind is each.VAR_KEYWORD), "")

        @functools.wraps(function)
        def called(*arguments: Any, **keywords: Any) -> Any:
            given = dict(signature.bind(*arguments, **keywords).arguments)
            given |= given.pop(bundle, {})
            if unknown := [name for name in given if name not in parameters]:
                raise TypeError(f"there is no argument {unknown[0]!r}; {did_you_mean(unknown[0], sorted(parameters))}")
            for name, value in given.items():
                parameters[name].check(value)
            return function(*arguments, **keywords)

        called.__doc__ = _with_arguments(inspect.getdoc(function) or "", parameters)
        called.__dict__["parameters"] = parameters
        return typing.cast("Function", called)

    return decorate


def parameters_of(function: Any) -> dict[str, Parameter]:
    """What a function takes that `command` decorates, by name."""
    found: dict[str, Parameter] = function.parameters
    return found


def described(function: Any) -> str:
    """What the docstring of a function says to people in a shell, too: all that precedes its arguments."""
    return re.split(r"\n\n(?:Args|Returns|Raises|Note|Source):", inspect.getdoc(function) or "")[0]


def _parameters(function: Any, without: Collection[str]) -> dict[str, Parameter]:
    annotations = {name: each for name, each in function.__annotations__.items() if name != "return"}
    hints = _hints(SimpleNamespace(__annotations__=annotations), function.__globals__)
    found = {}
    for name, each in inspect.signature(function).parameters.items():
        if each.kind is each.VAR_KEYWORD:
            bundle = get_args(hints[name])[0]
            for key, hint in _hints(bundle).items():
                if key not in without:
                    kind, declared = get_args(hint)[:2]
                    default = None if declared.setting else declared.default
                    found[key] = Parameter(key, kind, declared, False if kind is bool else default)
        else:
            kind, declared = get_args(hints[name])[:2]
            found[name] = Parameter(name, kind, declared, each.default)
    return found


def _hints(of: Any, names_in: dict[str, Any] | None = None) -> dict[str, Any]:
    return typing.get_type_hints(of, names_in, include_extras=True)


def _with_arguments(text: str, parameters: Mapping[str, Parameter]) -> str:
    """A docstring with what it takes, in the words of the declarations."""
    lines = [f"    {each.name}: {_in_python(each.option.help)}" for each in parameters.values()]
    head, *rest = re.split(r"\n\n(?=(?:Returns|Raises|Note|Source):)", text)
    return "\n\n".join([head, "\n".join(["Args:", *lines]), *rest])


def _in_python(help_text: str) -> str:
    """The help of an option, which names others as a shell does."""
    return re.sub(r"--([a-z][a-z-]*)", lambda found: found[1].replace("-", "_"), help_text)


def _of(value: Any, kind: Any) -> bool:
    if get_origin(kind) in (Union, UnionType):
        return any(_of(value, each) for each in get_args(kind))
    if get_origin(kind) is Mapping:
        return isinstance(value, Mapping) and all(_of(each, get_args(kind)[1]) for each in value.values())
    return (
        kind is Any or (isinstance(value, kind) and not isinstance(value, bool)) or (kind is float and _of(value, int))
    )


def _number(text: Any, kind: Any) -> Any:
    if kind not in (int, float):
        return text
    try:
        return kind(text)
    except ValueError:
        return text


def _shown(value: Any) -> str:
    shown = repr(value)
    if isinstance(value, (str, int, float, type(None))) and len(shown) <= _LONGEST:
        return shown
    return f"a {type(value).__name__}"
