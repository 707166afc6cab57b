"""Keywords of the Python functions, checked by the declarations from which the options of the commands come."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.core.nearest import did_you_mean
from goldassay.core.options import COMMANDS
from goldassay.core.settings import Settings

if TYPE_CHECKING:
    from goldassay.core.setting_keys import Key

Function = TypeVar("Function", bound=Callable[..., Any])
_WORDS = {
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    str: "a text",
    Sequence: "a list",
    Mapping: "a mapping",
    Settings: "goldassay.core.settings.load_settings(FILE)",
}
_BOUNDS = ("ge", "gt", "le", "lt")
# Kinds that the plain declarations cannot name.
_KINDS = {"settings": Settings, "quiet": bool}
_LONGEST = 40


def takes(command: str) -> Callable[[Function], Function]:
    """Let a function take what the command of this name takes, and refuse what a value may not be.

    The decorated function's keywords are checked by `model_of(command)`; what it calls them is in
    `goldassay.core.options`.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        others = next((name for name, each in signature.parameters.items() if each.kind is each.VAR_KEYWORD), None)

        @functools.wraps(function)
        def called(*arguments: Any, **keywords: Any) -> Any:
            given = dict(signature.bind(*arguments, **keywords).arguments)
            more = given.pop(others, {}) if others else {}
            known = COMMANDS[command].keywords()
            if unknown := [name for name in more if name not in known]:
                raise TypeError(f"there is no argument {unknown[0]!r}; {did_you_mean(unknown[0], sorted(known))}")
            check_keywords(command, given | more)
            return function(*arguments, **keywords)

        return cast("Function", called)

    return decorate


def check_keywords(command: str, given: Mapping[str, Any]) -> None:
    """Refuse a value that the model of a command does not take.

    Raises:
        InputError: The first such value, with its keyword and what to give in its place.
    """
    model = model_of(command)
    known = {name: _plain(value) for name, value in given.items() if name in model.model_fields}
    try:
        model.model_validate(known)
    except ValidationError as invalid:
        name = str(invalid.errors()[0]["loc"][0])
        key = COMMANDS[command].keywords()[name]
        raise InputError(
            f"{option(COMMANDS[command].options[name], argument=name)} is {_shown(given[name])}",
            mend=f"give {_wanted(_kind(name, key), key)}",
        ) from invalid


@functools.cache
def model_of(command: str) -> type[BaseModel]:
    """The model of a command: a field a keyword, with its type, default, bounds and help."""
    fields: dict[str, Any] = {
        name: (_field_type(_kind(name, key), key), Field(default=key.default, description=key.help))
        for name, key in COMMANDS[command].keywords().items()
    }
    config = ConfigDict(extra="forbid", frozen=True, strict=True, arbitrary_types_allowed=True, protected_namespaces=())
    return create_model(f"Options of {command}", __config__=config, **fields)


def _kind(name: str, key: Key) -> Any:
    return _KINDS.get(name, key.kind)


def _field_type(kind: Any, key: Key) -> Any:
    """The type of a value; bounds hold for the numbers in it, and None leaves the choice to something else."""
    if kind is Any:
        return Any
    members = [_bounded(each, key) for each in _members(kind)]
    return Union[*members, None]


def _members(kind: Any) -> tuple[Any, ...]:
    return (kind,) if get_origin(kind) in (Literal, Sequence, Mapping, None) else get_args(kind)


def _bounded(kind: Any, key: Key) -> Any:
    if kind in (int, float):
        bounds: dict[str, Any] = {name: bound for name, bound in key.bounds.items() if name in _BOUNDS}
        if kind is float and key.finite is not None:
            bounds["allow_inf_nan"] = key.finite
        return Annotated[kind, Field(**bounds)]
    if kind is str and key.min_length:
        return Annotated[kind, Field(min_length=key.min_length)]
    return kind


def _wanted(kind: Any, key: Key) -> str:
    """What a keyword takes, in words."""
    said = []
    for each in _members(kind):
        origin = get_origin(each) or each
        if origin is Literal:
            said.append(f"one of {', '.join(get_args(each))}")
            continue
        words = "a finite number" if origin is float and key.finite is False else _WORDS[origin]
        inner = [_WORDS[part].removeprefix("a ") + "s" for part in get_args(each)[-1:] if part in (int, float, str)]
        said.append(f"{words} of {inner[0]}" if inner else words)
    return " or ".join(said) + (f", {bounds}" if (bounds := key.bounds_in_words()) else "")


def _shown(value: Any) -> str:
    shown = repr(value)
    return (
        shown
        if isinstance(value, (str, int, float, type(None))) and len(shown) <= _LONGEST
        else f"a {type(value).__name__}"
    )


def _plain(value: Any) -> Any:
    """Numbers of NumPy as Python's own."""
    is_scalar = type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0
    return value.item() if is_scalar else value
