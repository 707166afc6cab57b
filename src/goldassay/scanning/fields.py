"""The fields of a document that hold its text: names, also of lists and objects, and dotted paths into these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TEXT_FIELD = "text"
# What is read where no field is named: the text, and conversations under the names that they commonly have.
USUAL_FIELDS = (TEXT_FIELD, "messages", "conversations", "conversation", "turns")


class Pairs(list[tuple[str, Any]]):
    """The names and values of an object of JSON, as they stand there: a name may stand there twice."""


def say_fields(fields: Sequence[str]) -> str:
    """The fields in words; of the usual ones the first."""
    return " + ".join(map(repr, fields[:1] if tuple(fields) == USUAL_FIELDS else fields))


def keys_of(fields: Sequence[str]) -> tuple[str, ...]:
    """The names of an object's own in which wanted texts lie: each field's, and the one where its path begins."""
    return tuple(dict.fromkeys(key for name in fields for key in (name, name.split(".")[0])))


def text_of(row: Pairs, fields: Sequence[str]) -> str:
    """The texts of all wanted fields, joined by line breaks.

    Of a name that stands there twice one reader takes the first text, another one the last: both are searched.
    """
    return "\n".join(text for name in fields for text in _texts_in(row, name))


def fields_in(row: Pairs, fields: Sequence[str]) -> list[bool]:
    """Which dotted paths lead to a text that no name of the object's own has; False for all other fields."""
    own = {name for name, _ in row}
    return ["." in name and name not in own and any(_texts_in(row, name)) for name in fields]


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


def has_text(kind: pl.DataType | None, path: Sequence[str] = ()) -> bool:
    """Whether a column has texts, or a list or an object with texts to which a path leads."""
    if isinstance(kind, (pl.List, pl.Array)):
        return has_text(_plain(kind.inner), path)
    if isinstance(kind, pl.Struct):
        below = [field for field in kind.fields if not path or field.name == path[0]]
        return any(has_text(_plain(field.dtype), path[1:]) for field in below)
    return is_text(kind)


def _plain(kind: Any) -> pl.DataType:
    return kind() if isinstance(kind, type) else kind
