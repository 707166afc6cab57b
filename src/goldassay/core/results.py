"""What every result can do: turn into plain data that JSON can hold."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl


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
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no plain form")


@dataclasses.dataclass(frozen=True)
class Result:
    """Base of all results richer than one number: frozen values, `.to_dict()` for JSON, `.to_frame()` for the table."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, in the order in which they are declared."""
        return {field.name: to_plain(getattr(self, field.name)) for field in dataclasses.fields(self)}
