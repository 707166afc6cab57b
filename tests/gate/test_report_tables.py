"""Tables of reports whose columns are of other kinds are refused by name, wherever they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.core.document import PatternSettings, StoredPatterns
from goldassay.core.errors import InputError
from goldassay.gate.reading import NAME, NUMBER, NUMBERS, TEXT, TEXTS, WHOLE, WHOLES, Kind, read_table, table_schema
from goldassay.view.details import Patterns
from goldassay.view.rows import RowTable

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = {
    "text": pl.Series(["a", None]),
    "whole": pl.Series([1, 2]),
    "real": pl.Series([0.5, None]),
    "none": pl.Series([None, None]),
    "truth": pl.Series([True, False]),
    "bytes": pl.Series([b"a", b"b"]),
    "texts": pl.Series([["a"], []]),
    "reals": pl.Series([[0.5], [1.0]]),
    "wholes": pl.Series([[1], []], dtype=pl.List(pl.Int64)),
    "nested": pl.Series([[["a"]], [[]]]),
    "fields": pl.Series([{"a": 1}, {"a": 2}]),
    "span": pl.Series([1, 2]).cast(pl.Duration),
}


@pytest.mark.parametrize(
    ("kind", "fitting"),
    [
        (TEXT, {"text", "none"}),
        (NAME, {"text", "whole"}),
        (NUMBER, {"whole", "real", "none"}),
        (WHOLE, {"whole"}),
        (TEXTS, {"texts"}),
        (NUMBERS, {"reals", "wholes"}),
        (WHOLES, {"wholes"}),
    ],
)
def test_each_kind_takes_its_columns_alone(tmp_path: Path, kind: Kind, fitting: set[str]) -> None:
    file = tmp_path / "table.parquet"
    for name, column in COLUMNS.items():
        pl.DataFrame({"of_this": column, "besides": [1, 2]}).write_parquet(file)
        if name in fitting:
            assert read_table(file, {"of_*": kind})["of_this"].equals(column)
        else:
            with pytest.raises(InputError, match="column 'of_this' holds"):
                table_schema(file, {"of_*": kind})


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    file = tmp_path / "table.parquet"
    pl.DataFrame(COLUMNS).write_parquet(file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"table\.parquet"):
        table_schema(file, {})


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("premise", [["a"], ["b"]]),
        ("premise", [1, 2]),
        ("example_id", [0.5, 1.5]),
        ("runs_scores", ["a", "b"]),
        ("runs_answers", [1, 2]),
        ("right_premise_only", ["a", "b"]),
        ("confidence", ["a", "b"]),
    ],
)
def test_a_view_refuses_columns_of_another_kind(tmp_path: Path, column: str, values: list[object]) -> None:
    file = tmp_path / "examples.parquet"
    pl.DataFrame({"example_id": ["a", "b"], "premise": ["x", "y"], column: values}).write_parquet(file)
    with pytest.raises(InputError, match=f"column '{column}' holds"):
        RowTable.open(file, ("premise",))


def test_patterns_that_are_not_in_their_table_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    classes = {"example_id": ["a", "b"], "pattern_ids": [[0], [1]]}
    pl.DataFrame(classes).write_parquet(tmp_path / "tables" / "difficulty.parquet")
    told = {"pattern": ["not"], "label": ["no"], "probability": [0.9], "support": [9], "tokens": [["not"]]}
    gaps = pl.Series("gaps", [[]], dtype=pl.List(pl.Int8))
    pl.DataFrame({**told, "gaps": gaps}).write_parquet(tmp_path / "tables" / "patterns.parquet")
    said = StoredPatterns(applies_to="text", settings=PatternSettings(tokenizer="whitespace"))
    patterns = Patterns.of(tmp_path, said)
    rows = [{"example_id": "a", "text": "do not"}, {"example_id": "b", "text": "do"}]
    assert [held.pattern for held in patterns.held(rows[:1])[0]] == ["not"]
    with pytest.raises(InputError, match=r"patterns that patterns\.parquet lacks"):
        patterns.held(rows)
