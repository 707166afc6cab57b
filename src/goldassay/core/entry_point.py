"""Parameters in messages: as options for who typed a command, as arguments for who called a function.

Both lead to the same functions, so a message names a parameter by `option`, which words it for the caller.
"""

from __future__ import annotations

import os
import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SHELL, PYTHON = "shell", "python"
# Processes that a command starts speak as it does.
VARIABLE = "GOLDASSAY_ENTRY_POINT"
_MORE = "..."
_UNSAFE = frozenset(" \t*?'\"`$;&|<>()[]\\!")

# Not a context variable: threads of a command speak as it does.
_entered = PYTHON if os.environ.get(VARIABLE) != SHELL else SHELL


def entry_point() -> str:
    """How this process was entered: "shell" for a command, "python" for a function."""
    return _entered


@contextmanager
def entered(through: str) -> Iterator[None]:
    """Word all parameters as a shell or Python takes them.

    Args:
        through: "shell" or "python".
    """
    global _entered
    before, _entered = _entered, through
    try:
        yield
    finally:
        _entered = before


def option(name: str, value: str = "") -> str:
    """A parameter as its user writes it.

    `option("columns", "label=NAME")` is `--columns label=NAME` in a shell and `columns={'label': NAME}` in Python,
    `option("floor", "0")` is `--floor 0` and `floor=0`, `option("matched")` is `--matched` and `matched`.

    Args:
        name: Of the option, without its first dashes.
        value: As a shell takes it; words in capitals stand for what the user puts in their place.
    """
    name = name.replace("_", "-")
    if _entered == SHELL:
        # Else the shell would look for files of that name, or see several words.
        return f"--{name} {shlex.quote(value) if _UNSAFE & set(value) else value}".rstrip()
    argument = name.replace("-", "_")
    return f"{argument}={_literal(value)}" if value else argument


def right_labels(value: str = "FILE") -> str:
    """The parameter that gives runs the dataset that was predicted: `--test FILE` in a shell, `test=FILE` in Python."""
    return option("test", value)


def place(name: str) -> str:
    """A parameter that a command takes by its place: `TRAIN` in a shell, `train` in Python."""
    return name.upper() if _entered == SHELL else name


def _literal(value: str) -> str:
    """A value of the command line as Python writes it: pairs as a dict, several words as a list."""
    parts = value.split(",")
    pairs = [part.partition("=") for part in parts if part != _MORE]
    more = [_MORE] if _MORE in parts else []
    if any(":" in text for _, sign, text in pairs if sign):
        return repr(value)
    if all(sign for _, sign, _ in pairs):
        return f"{{{', '.join([*(f'{_key(key)}: {_word(text)}' for key, _, text in pairs), *more])}}}"
    if len(parts) > 1:
        return f"[{', '.join(part if part == _MORE else _word(part) for part in parts)}]"
    return _word(value)


def _word(text: str) -> str:
    """Numbers and placeholders as they are, all others as strings."""
    return text if text.replace(".", "", 1).isdigit() else _key(text)


def _key(text: str) -> str:
    return text if text.isupper() and text.isidentifier() else repr(text)
