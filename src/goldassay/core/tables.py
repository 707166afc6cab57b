"""Tables as data: typed columns over plain rows. Renderers make the cells; nothing here knows how a table looks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar

from goldassay.core.results import to_plain

Kind = Literal[
    "text",
    "data",
    "prose",
    "count",
    "decimal",
    "points",
    "difference",
    "percent",
    "probability",
    "ratio",
    "variance",
    "interval",
]
Row = Mapping[str, Any]
T = TypeVar("T")


@dataclass(frozen=True)
class Column:
    """One typed column. All but `title`, `kind`, `digits` and `absent` are keys of the table's rows.

    Attributes:
        key: Field of the rows that is shown.
        title: Its heading.
        kind: "text" is our words; "data" a short text out of the dataset, "prose" one to be read; both are never
            trusted and set apart. Fractions are shown as "points" (x 100), "difference" (signed points), "percent", or
            "variance" (squared points). "count", "decimal" and "ratio" (three digits) are shown as they are,
            "probability" with three significant digits. "interval" has no value of its own, only `low` and `high`.
        digits: Decimals of the value and its interval; None takes those usual for the kind.
        low: Field with the lower end of the interval.
        high: Field with its upper end.
        aside: Field with words shown smaller after the value, such as a reason; an interval goes before them.
        marks: Field with the parts of a prose to set off: (begin, end) in characters.
        unfolds: Field with further texts that a reader may open: objects with `text`, `marks` and `aside`.
        variants: Field with short texts that stand for the same.
        sort: Field with the number that a text is sorted by.
        absent: Words in place of a value that is not there.
    """

    key: str
    title: str
    kind: Kind = "text"
    digits: int | None = None
    low: str = ""
    high: str = ""
    aside: str = ""
    marks: str = ""
    unfolds: str = ""
    variants: str = ""
    sort: str = ""
    absent: str = "—"

    @property
    def keys(self) -> tuple[str, ...]:
        """Every field of a row that the column shows."""
        named = (self.low, self.high, self.aside, self.marks, self.unfolds, self.variants, self.sort)
        return (self.key, *(name for name in named if name))


def with_bounds(key: str, title: str, kind: Kind, digits: int | None = None) -> Column:
    """A column whose interval is in the fields `KEY_low` and `KEY_high`."""
    return Column(key, title, kind, digits, low=f"{key}_low", high=f"{key}_high")


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        name: What it is called among the tables of its section.
        caption: What it shows.
        columns: Its typed columns.
        rows: Plain rows; fields that no column names are not shown.
        file: The name of the full table that is written next to the report, if there is one.
        grouped_by: Key of the column whose values each keep some rows where a long table is cut.
        note: A sentence that it is read with.
        folded: Whether it only spells out what is shown already, and is to be opened.
    """

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    file: str | None = None
    grouped_by: str | None = None
    note: str = ""
    folded: bool = False

    def to_dict(self) -> dict[str, Any]:
        """The table as plain data: what is shown, and no other field of the rows."""
        keys = list(dict.fromkeys(key for column in self.columns for key in column.keys))
        return {
            "name": self.name,
            "caption": self.caption,
            "note": self.note,
            "file": self.file,
            "columns": [_stated(column) for column in self.columns],
            "rows": [{key: to_plain(row.get(key)) for key in keys} for row in self.rows],
        }


def table_of(
    name: str,
    caption: str,
    columns: Sequence[Column],
    records: Sequence[T],
    more: Callable[[T], Row] = lambda _: {},
    *,
    file: str | None = None,
    grouped_by: str | None = None,
    note: str = "",
    folded: bool = False,
) -> Table:
    """The table of records: dataclasses, the fields of which columns name.

    Args:
        name: See `Table`, as for all that is not said here.
        caption: What it shows.
        columns: Its columns.
        records: One for each row.
        more: Further fields of a row, or other values for its fields.
        file: Of the full table.
        grouped_by: Of a long table.
        note: It is read with this.
        folded: Whether it is to be opened.

    Raises:
        KeyError: A column names what no row has.
    """
    rows = tuple({**vars(each), **more(each)} for each in records)
    named = {key for column in columns for key in column.keys} | ({grouped_by} if grouped_by else set())
    if rows and (unknown := named - rows[0].keys()):
        raise KeyError(f"the table {name!r} shows {', '.join(sorted(unknown))}, which its rows do not have")
    return Table(name, caption, tuple(columns), rows, file, grouped_by, note, folded)


def _stated(column: Column) -> dict[str, Any]:
    """A column's fields that differ from their defaults."""
    return {field.name: value for field in fields(column) if (value := getattr(column, field.name)) != field.default}
