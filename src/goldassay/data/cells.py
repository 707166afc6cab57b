"""Cells as text, whatever their type, columns made of them, and codes of equal values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.escaping import has_half_pair

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


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


def series_of(
    name: str, values: list[Any], path: Path | None = None, lines: NDArray[np.int64] | None = None
) -> pl.Series:
    """A column of values; those of mixed types become text, nested ones their JSON."""
    kinds = {type(value) for value in values if value is not None}
    try:
        if kinds <= {str}:
            return pl.Series(name, values, dtype=pl.String)
        if kinds in ({int}, {float}, {bool}, {int, float}):
            return (
                pl.Series(name, values, strict=False) if kinds != {int, float} else pl.Series(name, values, pl.Float64)
            )
        if kinds <= {list, tuple} and all(
            isinstance(item, str) for value in values if value is not None for item in value
        ):
            return pl.Series(name, values, dtype=pl.List(pl.String))
        return pl.Series(name, [cell_text(value) for value in values], dtype=pl.String)
    except UnicodeEncodeError as error:
        row = next(i for i, value in enumerate(values) if has_half_pair(cell_text(value) or ""))
        raise InputError(
            "the text holds half of a surrogate pair, which is no character",
            file=path,
            row=row + 1 if lines is None else int(lines[row]),
            column=name,
            mend="write the character itself, or both halves of its escape",
        ) from error


# White space, in ASCII, that `normalized_text` changes.
_UNEVEN = r"^ | $|  |[\t-\r\x1c-\x1f]"


def normalized_text(text: str) -> str:
    """Text as it is compared: without case, with single spaces."""
    return " ".join(text.casefold().split())


def normalized_texts(texts: pl.Series) -> pl.Series:
    """`normalized_text` of each; ASCII with single spaces, as most texts are, needs no Python object each."""
    # A column without a value has no type of its own.
    texts = texts.cast(pl.String)
    found = texts.str.to_lowercase()
    odd = ((texts.str.len_bytes() != texts.str.len_chars()) | texts.str.contains(_UNEVEN)).arg_true()
    return found.scatter(odd, [normalized_text(text) for text in texts[odd]]) if odd.len() else found


def value_codes(values: pl.Series) -> NDArray[np.int64]:
    """A code for each distinct value, -1 where it is missing or blank, (N,)."""
    text = values.cast(pl.String).str.strip_chars()
    text = pl.select(pl.when(text == "").then(None).otherwise(text)).to_series()
    ranks = text.rank("dense").cast(pl.Int64) - 1
    return ranks.fill_null(-1).to_numpy().astype(np.int64)
