"""Tables as data."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest

from goldassay.core.sections import Column, Part, Section, Table, explanation, table_of, with_bounds

TABLE = Table(
    "scores",
    "Scores",
    (Column("of", "runs of", "data", aside="why"), with_bounds("mean", "mean score", "points", 2)),
    (
        {"of": "a", "mean": np.float64(0.5), "mean_low": 0.4, "mean_high": math.nan, "further": [1]},
        {"of": "b", "why": "no runs"},
    ),
    file="scores",
)


def test_a_table_as_json_has_the_fields_that_are_shown() -> None:
    plain = json.loads(json.dumps(TABLE.to_dict(), allow_nan=False))
    assert plain["columns"] == [
        {"key": "of", "title": "runs of", "kind": "data", "aside": "why"},
        {"key": "mean", "title": "mean score", "kind": "points", "digits": 2, "low": "mean_low", "high": "mean_high"},
    ]
    assert plain["rows"] == [
        {"of": "a", "why": None, "mean": 0.5, "mean_low": 0.4, "mean_high": None},
        {"of": "b", "why": "no runs", "mean": None, "mean_low": None, "mean_high": None},
    ]
    assert (plain["name"], plain["caption"], plain["file"]) == ("scores", "Scores", "scores")


def test_a_section_lists_its_tables_that_have_rows() -> None:
    empty = Table("empty", "Nothing", TABLE.columns, ())
    parts = (Part("chart"), Part("other", TABLE), Part(table=empty))
    assert Section("key", "Title", "Lead?", parts=parts, small=(TABLE,)).tables == (TABLE, TABLE)


def test_explanations_are_texts_of_their_package() -> None:
    whole = explanation("goldassay.questions.instability", "how_spread", "how_intervals")
    first = explanation("goldassay.questions.instability", "how_spread")
    assert whole.startswith(first)
    assert len(whole) > len(first) > 100


@dataclass(frozen=True)
class _Row:
    model: str
    mean: float
    mean_low: float
    mean_high: float


def test_a_table_of_records_shows_their_fields_and_no_others() -> None:
    columns = (Column("model", "model", aside="as"), with_bounds("mean", "mean score", "points"))
    rows = [_Row("a", 0.5, 0.4, 0.6)]
    made = table_of("means", "Means", columns, rows, lambda row: {"as": row.model.upper()})
    assert made.rows == ({"model": "a", "mean": 0.5, "mean_low": 0.4, "mean_high": 0.6, "as": "A"},)
    with pytest.raises(KeyError, match="'means' shows as, which"):
        table_of("means", "Means", columns, rows)
    with pytest.raises(KeyError, match="dataset"):
        table_of("means", "Means", columns[1:], rows, grouped_by="dataset")
    assert table_of("means", "Means", columns, ()).rows == ()
