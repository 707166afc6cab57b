r"""Texts out of data shown so that nothing in them is hidden: control characters as their escapes, \x1b.

A control character could drive a terminal, turn the direction of a line, or break a page; dropped, it would hide why
two patterns that look alike are two. Everything that prints, writes CSV or renders a report comes here; Parquet and
JSON keep texts as they are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    import polars as pl

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
