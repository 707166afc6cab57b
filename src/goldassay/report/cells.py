"""The cells of a table, made from its typed columns and plain rows: the one place where kinds become texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.core.documents import records, texts
from goldassay.core.numbers import (
    bounds,
    count,
    decimal,
    number,
    percent,
    points,
    ratio_digits,
    signed_points,
    small,
    squared_points,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goldassay.core.tables import Column, Row, Table

# Of each kind: its text from value and digits, what its interval is multiplied by, its usual decimals.
_KINDS: dict[str, tuple[Callable[[Any, int], str], float, int]] = {
    "count": (lambda value, _: count(value), 1.0, 0),
    "decimal": (decimal, 1.0, 2),
    "points": (points, 100.0, 1),
    "difference": (signed_points, 100.0, 1),
    "percent": (percent, 100.0, 1),
    "probability": (lambda value, _: small(value), 1.0, 3),
    "ratio": (decimal, 1.0, 2),
    "variance": (lambda value, _: squared_points(value), 10_000.0, 4),
}


@dataclass(frozen=True)
class Cell:
    """One cell: what is shown, what it sorts by, and whether it is text out of the dataset.

    Attributes:
        text: As shown.
        sort: The number it sorts by; None sorts by the text.
        code: It comes from the data, and is set apart as such.
        aside: Shown smaller after it: an interval, a reason.
        unfolds: Longer texts out of the dataset that a reader may open, such as example sentences.
        prose: It comes from the data and is to be read as text, line by line.
        marks: Parts of the text to set off, (begin, end) in characters, ascending and apart from each other.
        variants: Texts out of the dataset that stand for the same, opened with `unfolds`.
    """

    text: str
    sort: float | None = None
    code: bool = False
    aside: str = ""
    unfolds: tuple[Cell, ...] = ()
    prose: bool = False
    marks: tuple[tuple[int, int], ...] = ()
    variants: tuple[str, ...] = ()

    @property
    def pieces(self) -> tuple[tuple[str, bool], ...]:
        """The text in pieces, each with whether it is marked."""
        found, at = [], 0
        for begin, end in self.marks:
            if at <= begin < end <= len(self.text):
                found += [(self.text[at:begin], False), (self.text[begin:end], True)]
                at = end
        return tuple(piece for piece in (*found, (self.text[at:], False)) if piece[0])


def rows_of(table: Table) -> tuple[tuple[Cell, ...], ...]:
    """The cells of a table, row by row."""
    return tuple(tuple(cell_of(column, row) for column in table.columns) for row in table.rows)


def are_numeric(rows: tuple[tuple[Cell, ...], ...], n_columns: int) -> tuple[bool, ...]:
    """For each column, whether it has numbers (where any are defined)."""
    return tuple(any(row[i].sort is not None for row in rows) for i in range(n_columns))


def cell_of(column: Column, row: Row) -> Cell:
    """The cell of one column in one row."""
    value = row.get(column.key)
    aside = str(row.get(column.aside) or "")
    if column.kind in _KINDS:
        shown, scale, usual = _KINDS[column.kind]
        digits = usual if column.digits is None else column.digits
        if column.kind == "ratio":
            digits = ratio_digits(value)
        text = column.absent if number(value) is None else shown(value, digits)
        return Cell(text, number(value), aside=_bounds(column, row, digits, scale) or aside)
    if column.kind == "interval":
        return Cell(_bounds(column, row, 1 if column.digits is None else column.digits, 100.0) or column.absent)
    if value is None or (value == "" and column.kind == "text"):
        return Cell(column.absent, number(row.get(column.sort)), aside=aside)
    if column.kind == "text":
        return Cell(str(value), number(row.get(column.sort)), aside=aside)
    if column.kind == "prose":
        return Cell(str(value), code=True, prose=True, aside=aside, marks=_spans(row.get(column.marks)))
    opened, variants = records(row.get(column.unfolds)), texts(row.get(column.variants))
    return Cell(
        str(value),
        number(row.get(column.sort)),
        code=True,
        aside=aside,
        unfolds=tuple(_opened(each) for each in opened),
        variants=variants,
    )


def _bounds(column: Column, row: Row, digits: int, scale: float) -> str:
    return bounds(row.get(column.low), row.get(column.high), digits, scale) if column.low else ""


def _opened(example: Mapping[str, Any]) -> Cell:
    return Cell(
        str(example.get("text")),
        prose=True,
        marks=_spans(example.get("marks")),
        aside=str(example.get("aside") or ""),
    )


def _spans(marks: Any) -> tuple[tuple[int, int], ...]:
    """The parts to set off, without what is no pair of places."""
    if not isinstance(marks, (list, tuple)):
        return ()
    pairs = [tuple(span) for span in marks if isinstance(span, (list, tuple)) and len(span) == 2]
    return tuple((begin, end) for begin, end in pairs if isinstance(begin, int) and isinstance(end, int))
