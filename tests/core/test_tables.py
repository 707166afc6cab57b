"""Tables as data."""

from __future__ import annotations

import json
import math

import numpy as np

from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds

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
