"""Cells of any kind as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import polars as pl


def cell_texts(values: pl.Series) -> pl.Series:
    """Values as text; what is missing stays missing.

    Lists and mappings are written as JSON, bytes as UTF-8 with escapes for what is none, and what else the table engine
    cannot write (a span of time) as Python does.
    """
    dtype = values.dtype
    if not (dtype.is_nested() or isinstance(dtype, (pl.Duration, pl.Object, pl.Binary))):
        return values.cast(pl.String)
    return pl.Series(values.name, [cell_text(value) for value in values.to_list()], dtype=pl.String)


def cell_text(value: Any) -> str | None:
    """One value as text."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, (bool, list, tuple, Mapping)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
