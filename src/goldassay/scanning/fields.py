"""The fields of a document that hold its text: names, also of lists and objects, and dotted paths into these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

TEXT_FIELD = "text"
# What is read where no field is named: the text, and conversations under the names that they commonly have.
USUAL_FIELDS = (TEXT_FIELD, "messages", "conversations", "conversation", "turns")


class Pairs(list[tuple[str, Any]]):
    """The names and values of an object of JSON, as they stand there: a name may stand there twice."""


def say_fields(fields: Sequence[str]) -> str:
    """The fields in words; of the usual ones the first."""
    return " + ".join(map(repr, fields[:1] if tuple(fields) == USUAL_FIELDS else fields))


class Wanted(NamedTuple):
    """Names and paths of fields, as loops over bytes take them.

    Attributes:
        names: Bytes of all names, one after the other.
        starts: Where each begins, one more at the end, (P + 1,).
        paths: The first name of each path, one more at the end, (W + 1,).
        fields: The field of each path, from 0, (W,): one with dots is a name or a path.
    """

    names: NDArray[np.uint8]
    starts: NDArray[np.int64]
    paths: NDArray[np.int64]
    fields: NDArray[np.int64]

    @classmethod
    def of(cls, fields: Sequence[str]) -> Wanted:
        """Those of some fields."""
        found = [
            (number, path)
            for number, name in enumerate(fields)
            for path in dict.fromkeys([(name,), tuple(name.split("."))])
        ]
        names = [name.encode() for _, path in found for name in path]
        return cls(
            np.frombuffer(b"".join(names), np.uint8),
            np.cumsum([0, *map(len, names)]),
            np.cumsum([0, *(len(path) for _, path in found)]),
            np.array([number for number, _ in found]),
        )


def text_of(row: Pairs, fields: Sequence[str]) -> str:
    """The texts of all wanted fields, joined by line breaks.

    Of a name that stands there twice one reader takes the first text, another one the last: both are searched.
    """
    return "\n".join(text for name in fields for text in _texts_in(row, name))


def _texts_in(row: Pairs, field: str) -> Iterator[str]:
    path = tuple(field.split("."))
    for name, value in row:
        if name == field:
            yield from texts_below(value)
        elif len(path) > 1 and name == path[0]:
            yield from texts_below(value, path[1:])


def texts_below(value: Any, path: Sequence[str] = ()) -> Iterator[str]:
    """All texts below a value, in order, but for empty ones; of objects those to which a path leads.

    A path that meets a text before its end takes it: nothing is left unread for a name too many.
    """
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, (Pairs, Mapping)):
        for name, below in value.items() if isinstance(value, Mapping) else value:
            if not path or name == path[0]:
                yield from texts_below(below, path[1:])
    elif isinstance(value, Iterable) and not isinstance(value, bytes):
        for each in value:
            yield from texts_below(each, path)


def is_text(kind: pl.DataType | None) -> bool:
    """Whether a column has texts; such as are stored once each are texts."""
    return kind in (pl.String, pl.Categorical, pl.Enum)


def texts_of_column(column: pl.Expr, kind: pl.DataType | None, path: Sequence[str] = ()) -> pl.Expr | None:
    """Of each value of a column what `texts_below` finds, joined by line breaks, or null; None where none can be.

    Args:
        column: The column, or what stands in it.
        kind: What it holds.
        path: As of `texts_below`.
    """
    if is_text(kind):
        return _or_null(column.cast(pl.String))
    if isinstance(kind, pl.Array):
        return texts_of_column(column.arr.to_list(), pl.List(kind.inner), path)
    if isinstance(kind, pl.List):
        below = texts_of_column(pl.element(), _plain(kind.inner), path)
        return None if below is None else _or_null(column.list.eval(below).list.join("\n", ignore_nulls=True))
    if isinstance(kind, pl.Struct):
        each = [
            texts_of_column(column.struct.field(field.name), _plain(field.dtype), path[1:])
            for field in kind.fields
            if not path or field.name == path[0]
        ]
        parts = [part for part in each if part is not None]
        return _or_null(pl.concat_str(parts, separator="\n", ignore_nulls=True)) if parts else None
    return None


def unread_below(kind: pl.DataType | None, path: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
    """Names that lead to binary or maps below a column, which may hold text, but for pictures and sound of the hub.

    Args:
        kind: What the column holds.
        path: As of `texts_below`.
    """
    # Maps came with a later version than the oldest that is taken.
    if kind == pl.Binary or isinstance(kind, getattr(pl, "Map", ())):
        yield ()
    elif isinstance(kind, (pl.List, pl.Array)):
        yield from unread_below(_plain(kind.inner), path)
    elif isinstance(kind, pl.Struct) and {field.name for field in kind.fields} != {"bytes", "path"}:
        for field in kind.fields:
            if not path or field.name == path[0]:
                yield from ((field.name, *below) for below in unread_below(_plain(field.dtype), path[1:]))


def _or_null(texts: pl.Expr) -> pl.Expr:
    return pl.when(texts != "").then(texts)


def _plain(kind: Any) -> pl.DataType:
    return kind() if isinstance(kind, type) else kind
