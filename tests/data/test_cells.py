"""Cells of any kind as text: no type of column is an error, and what is missing stays missing."""

from __future__ import annotations

import datetime
from decimal import Decimal

import polars as pl
import pytest

from goldassay.data.fields import cell_texts


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pl.Series([1, None]), ["1", None]),
        (pl.Series([True, None]), ["true", None]),
        (pl.Series(["a", None], dtype=pl.Categorical), ["a", None]),
        (pl.Series([Decimal("1.50"), None]), ["1.50", None]),
        (pl.Series([datetime.timedelta(days=1), None]), ["1 day, 0:00:00", None]),
        (pl.Series([["ä", "b"], None]), ['["ä", "b"]', None]),
        (pl.Series([[1, 2], None], dtype=pl.Array(pl.Int64, 2)), ["[1, 2]", None]),
        (pl.Series([{"a": [1]}, None]), ['{"a": [1]}', None]),
        (pl.Series([b"caf\xc3\xa9\xff", None]), ["café\\xff", None]),
        (pl.Series([None, None]), [None, None]),
        (pl.Series([frozenset(), None], dtype=pl.Object), ["frozenset()", None]),
    ],
)
def test_every_kind_of_cell_has_a_text(values: pl.Series, expected: list[str | None]) -> None:
    found = cell_texts(values)
    assert found.dtype == pl.String
    assert found.to_list() == expected
