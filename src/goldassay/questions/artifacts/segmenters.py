"""The tokenizer that a command names: one of ours, or a function of the user's, imported because they asked for it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldassay.core.errors import InputError
from goldassay.data.tokenization import TOKENIZERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from goldassay.data.tokenization import Tokenizer

AUTO = "auto"
# Between the texts of an example where a function cuts them; no text is likely to hold it.
SEPARATOR = "\x1e"


def resolve_tokenizer(name: str) -> Tokenizer:
    """Take "auto" and our own names as they are, MODULE:FUNCTION and FILE.py:FUNCTION as the function.

    A module is looked for where Python looks, and before that in the current folder.

    Raises:
        InputError: There is no such name, module, file or function, it cannot be imported, or it is no function.
    """
    if name in (AUTO, *TOKENIZERS):
        return name
    place, colon, path = name.rpartition(":")
    if not colon or not place or not path:
        raise InputError(
            f"there is no tokenizer {name!r}",
            mend=f"choose {', '.join((AUTO, *TOKENIZERS))}, or name a function: MODULE:FUNCTION or FILE.py:FUNCTION",
        )
    value: Any = _module(place)
    for part in path.split("."):
        if not hasattr(value, part):
            raise InputError(f"{place} has no {path}", mend="name a function of it")
        value = getattr(value, part)
    if not callable(value):
        raise InputError(
            f"{name} is {type(value).__name__}, not a function",
            mend="name a function that takes a string and returns a list of strings",
        )
    function: Callable[[str], Any] = value
    return function


def _module(place: str) -> ModuleType:
    try:
        return _from_file(Path(place)) if place.endswith(".py") else _by_name(place)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        absent = isinstance(error, ModuleNotFoundError)
        raise InputError(
            f"the tokenizer's module {place} cannot be imported ({reason})",
            mend="install what is missing, or name a function of a module that is there" if absent else "mend it",
        ) from error


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InputError("there is no such file", file=path, mend="name the file of the tokenizer")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InputError("this is no Python file", file=path, mend="name the file of the tokenizer")
    module = importlib.util.module_from_spec(spec)
    # Data classes look their module up; what is there already under this name stays.
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _by_name(name: str) -> ModuleType:
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(here)


class EachText:
    """A function that cuts one text, applied to each text of an example and known by the same name."""

    def __init__(self, function: Callable[[str], Any]) -> None:
        self._function = function
        self.__qualname__ = getattr(function, "__qualname__", type(function).__qualname__)
        self.__module__ = getattr(function, "__module__", None) or type(function).__module__

    def __call__(self, texts: str) -> Any:
        """The tokens of all texts, one after the other; whatever else the function returns is handed on."""
        parts = [self._function(text) for text in texts.split(SEPARATOR)]
        strange = [part for part in parts if not isinstance(part, (list, tuple))]
        return strange[0] if strange else [token for part in parts for token in part]
