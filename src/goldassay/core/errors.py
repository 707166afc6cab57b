r"""What can go wrong, as seen by the person who has to mend it, with parameters named as that person gives them.

Every error a user can cause is one line that names the place, what is wrong there, and how to mend it.
The command prints exactly that line and leaves with `exit_status`.

Texts out of data shown so that nothing in them is hidden: control characters as their escapes, \x1b.

A control character could drive a terminal, turn the direction of a line, or break a page; dropped, it would hide why
two patterns that look alike are two. Everything that prints, writes CSV or renders a report comes here; Parquet and
JSON keep texts as they are.
"""

from __future__ import annotations

import os
import re
import shlex
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    import polars as pl


# A line that quotes a whole file helps nobody.
LONGEST_LINE = 500


class GoldassayError(Exception):
    """Base of all errors that the package raises on purpose; 1 means that a policy is violated, and is none of them.

    Attributes:
        exit_status: What a command leaves with.
        report: What was finished before, which a command writes; None where there is nothing.
    """

    exit_status: int = 2
    report: Any = None


class InputError(GoldassayError, ValueError):
    """Something that was handed in cannot be used.

    Args:
        problem: What is wrong, in a clause: "the label column is missing".
        file: The file concerned, if there is one.
        row: The row or line, counted from 1 as an editor counts (a header is line 1).
        column: The column or field concerned.
        mend: What to do about it, in a clause: "name it with --columns label=NAME".
    """

    exit_status = 2

    def __init__(
        self,
        problem: str,
        *,
        file: str | os.PathLike[str] | None = None,
        row: int | None = None,
        column: str | None = None,
        mend: str | None = None,
    ) -> None:
        self.problem = problem
        self.file = None if file is None else os.fspath(file)
        self.row = row
        self.column = column
        self.mend = mend
        super().__init__(self._line())

    def rename(self, old: str, new: str) -> None:
        """Word a parameter as the function that was called does."""
        self.problem = self.problem.replace(old, new)
        self.mend = None if self.mend is None else self.mend.replace(old, new)
        self.args = (self._line(),)

    def _line(self) -> str:
        place = [
            part
            for part in (
                self.file,
                None if self.row is None else f"line {self.row}",
                None if self.column is None else f"column {self.column!r}",
            )
            if part is not None
        ]
        line = f"{', '.join(place)}: {self.problem}" if place else self.problem
        if self.mend:
            line = f"{line}; {self.mend}"
        line = " ".join(line.split())
        return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1]}…"


class BoundError(InputError):
    """What was handed in is larger than what is read: no other way of reading it is tried."""


def no_such_file(path: str | os.PathLike[str], what: str = "file or folder") -> InputError:
    """The error for a path where nothing is, which says of a link that it is one.

    Args:
        path: The path.
        what: What was looked for there.
    """
    place = Path(path)
    if not place.is_symlink():
        return InputError(f"there is no such {what}", file=path, mend="check the path")
    return InputError(f"the link leads to no {what} ({place.readlink()})", file=path, mend="mend the link")


class OutputError(GoldassayError, OSError):
    """A result cannot be written where it was asked for."""

    exit_status = 2


class InterruptionError(GoldassayError):
    """The user stopped a command; the message says what was kept."""

    exit_status = 130

    def __init__(self, kept: str = "") -> None:
        super().__init__(f"interrupted; {kept}" if kept else "interrupted")


class Interrupted(KeyboardInterrupt):
    """The user stopped a function that has finished a part.

    Args:
        kept: What is finished.
        report: On what is finished.
    """

    def __init__(self, kept: str, report: Any) -> None:
        super().__init__(kept)
        self.report = report


class MissingDependencyError(GoldassayError, ImportError):
    """An optional library is needed for what was asked; the message says what to install."""

    exit_status = 2


class TrainingError(GoldassayError):
    """A training that cannot go on; others of the same command can."""

    exit_status = 2


class UndefinedMeasureWarning(UserWarning):
    """A measure has no value on this input; the message says why. The value returned is NaN."""


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


# C0 but tab, line feed and carriage return; DEL and C1; marks, embeddings and isolates of direction.
_HIDDEN = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# And halves of surrogates.
_HALVES = r"\ud800-\udfff"
# What a cell begins with that a spreadsheet takes for a formula, and texts that it takes for numbers.
_EXECUTED, _NUMBER = r"^[=+\-@\t\r]", r"^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
_PATTERN = re.compile(f"[{_HIDDEN}{_HALVES}]")
_HALF = re.compile(f"[{_HALVES}]")


def visible(text: object) -> str:
    """A text with its control characters escaped, tabs and line breaks as they are."""
    return _PATTERN.sub(_escaped, str(text))


def has_half_pair(text: str) -> bool:
    """Whether half of a surrogate pair stands alone in a text: no character, and nothing that UTF-8 can write."""
    return _HALF.search(text) is not None


def one_line(text: object) -> str:
    """A text on one line: stretches of white space become a space, whatever else does not print its escape."""
    line = " ".join(str(text).split())
    return line if line.isprintable() else "".join(c if c.isprintable() else _named(c) for c in line)


def visible_columns(table: pl.DataFrame) -> pl.DataFrame:
    """A table whose texts are `visible`."""
    import polars as pl

    changed = [
        values.map_elements(visible, pl.String)
        for values in table.select(pl.col(pl.String)).iter_columns()
        if values.str.contains(f"[{_HIDDEN}]").any()
    ]
    return table.with_columns(changed)


def _escaped(found: re.Match[str]) -> str:
    return _named(found[0])


def _named(character: str) -> str:
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def is_inert(text: str) -> bool:
    """Whether `inert_cells` leaves a text as it is."""
    return visible(text) == text and not (re.match(_EXECUTED, text) and not re.match(_NUMBER, text))


def inert_cells(table: pl.DataFrame, exact: Collection[str] = ()) -> pl.DataFrame:
    """A table for CSV, which people open in spreadsheets: control characters as their escapes, nothing to execute.

    An apostrophe precedes texts and names of columns that begin with =, +, -, @, a tab or a carriage return; texts that
    are plain numbers stay as they are.

    Args:
        table: Without lists and structures.
        exact: Columns of texts to leave alone.
    """
    import polars as pl

    shown = visible_columns(table)
    texts = pl.selectors.string(include_categorical=True) - pl.selectors.by_name(*exact)
    text = texts.cast(pl.String)
    is_number = text.str.contains(_NUMBER)
    inert = shown.with_columns(pl.when(is_number).then(text).otherwise(text.str.replace(_EXECUTED, "'$0")).name.keep())
    return inert.rename(lambda name: re.sub(_EXECUTED, r"'\g<0>", name))
