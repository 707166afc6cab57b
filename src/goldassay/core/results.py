"""What every result can do: turn into plain data that JSON can hold, and into a table."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, get_args, get_type_hints

import numpy as np
import polars as pl

# Keys of a field's metadata that leave the field out of the plain form: where it is None or (), and always.
LEFT_OUT, ASIDE = "left_out", "aside"


def to_plain(value: Any) -> Any:
    """Turn a value into what JSON can hold, without loss of meaning.

    Arrays become nested lists, tables become lists of records, dataclasses become objects. NaN and infinities,
    which JSON lacks, become None: a result that holds one says why in its `skipped` or `reason` field.

    Raises:
        TypeError: The value is of a kind that has no plain form.
    """
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if isinstance(value, np.ndarray):
        return to_plain(value.tolist())
    if isinstance(value, pl.DataFrame):
        return to_plain(value.to_dicts())
    if isinstance(value, Result):
        return value.to_dict()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no plain form")


@dataclasses.dataclass(frozen=True)
class Result:
    """Base of all results richer than one number: frozen values, `.to_dict()` for JSON, `.to_frame()` for the table."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, in the order in which they are declared."""
        return {
            each.name: to_plain(getattr(self, each.name))
            for each in dataclasses.fields(self)
            if not each.metadata.get(ASIDE) and not holds_nothing(each, getattr(self, each.name))
        }


def holds_nothing(of: dataclasses.Field[Any], value: Any) -> bool:
    """Whether a field is not in the plain form because it holds nothing."""
    return bool(of.metadata.get(LEFT_OUT)) and (value is None or (of.default == () and value == ()))


# Of plain types that of a column; a column of anything else is as its values are.
_COLUMN_TYPES = {str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}


def frame_of_records(records: Sequence[Result], kind: type[Result] | None = None) -> pl.DataFrame:
    """A table with one row a record and one column a field; undefined numbers are null.

    A field that the plain form of every record leaves out has no column.

    Args:
        records: Of one class.
        kind: Their class, where there may be none.
    """
    kind = type(records[0]) if records else kind
    if kind is None:
        return pl.DataFrame()
    types = get_type_hints(kind)
    columns = {each: [getattr(record, each.name) for record in records] for each in dataclasses.fields(kind)}
    return pl.DataFrame(
        {
            each.name: values
            for each, values in columns.items()
            if not each.metadata.get(LEFT_OUT) or not all(holds_nothing(each, value) for value in values)
        },
        schema_overrides={
            name: _COLUMN_TYPES[plain] for name, of in types.items() if (plain := _without_none(of)) in _COLUMN_TYPES
        },
    ).fill_nan(None)


def _without_none(kind: Any) -> Any:
    """X of X | None; other types as they are."""
    parts = [part for part in get_args(kind) if part is not NoneType]
    return parts[0] if len(parts) == 1 and isinstance(kind, UnionType) else kind
