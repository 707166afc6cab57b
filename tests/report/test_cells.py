"""Cells of every kind of column."""

from __future__ import annotations

import math
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.sections import Column, Kind, Table
from goldassay.report.content import are_numeric, cell_of, rows_of

NB = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("kind", "digits", "text", "interval"),
    [
        ("count", None, "1", "[0, 2]"),
        ("decimal", None, "0.71", "[0.41, 1.62]"),
        ("decimal", 3, "0.714", "[0.414, 1.616]"),
        ("points", None, "71.4", "[41.4, 161.6]"),
        ("points", 2, "71.42", "[41.42, 161.62]"),
        ("difference", None, "+71.4", "[41.4, 161.6]"),
        ("percent", 0, f"71{NB}%", "[41, 162]"),
        ("probability", None, "0.714", "[0.414, 1.616]"),
        ("ratio", None, "0.71", "[0.41, 1.62]"),
        ("variance", None, "7,142.0000", "[4,142.0000, 16,162.0000]"),
    ],
)
def test_numbers_are_shown_in_their_unit_with_their_interval(
    kind: Kind, digits: int | None, text: str, interval: str
) -> None:
    column = Column("x", "x", kind, digits, low="low", high="high", aside="why")
    cell = cell_of(column, {"x": 0.7142, "low": 0.4142, "high": 1.6162, "why": "so"})
    assert (cell.text, cell.sort, cell.aside) == (text, 0.7142, interval)
    # Without an interval the words go with the value.
    assert cell_of(column, {"x": 0.7142, "why": "so"}).aside == "so"


@pytest.mark.parametrize(("value", "shown"), [(2.1782, "2.18"), (21.782, "21.8"), (217.82, "218")])
def test_ratios_have_three_digits(value: float, shown: str) -> None:
    assert cell_of(Column("x", "x", "ratio"), {"x": value}).text == shown


@pytest.mark.parametrize("value", [None, math.nan, math.inf, "x", [], {}])
@pytest.mark.parametrize("kind", [kind for kind in get_args(Kind) if kind not in ("text", "data", "prose")])
def test_what_is_no_number_is_absent(kind: Kind, value: Any) -> None:
    cell = cell_of(Column("x", "x", kind, absent="none"), {"x": value})
    assert (cell.text, cell.sort) == ("none", None)


def test_words_of_ours_and_of_the_dataset() -> None:
    row = {"x": "a b", "n": 3, "why": "so", "marks": [[0, 1], [5, 2], "x", [2, 9]], "none": None, "empty": ""}
    ours = cell_of(Column("x", "x", sort="n", aside="why"), row)
    assert (ours.text, ours.sort, ours.aside, ours.code) == ("a b", 3, "so", False)
    data = cell_of(Column("x", "x", "data"), row)
    assert (data.text, data.sort, data.code, data.prose) == ("a b", None, True, False)
    prose = cell_of(Column("x", "x", "prose", marks="marks"), row)
    assert prose.code
    assert prose.prose
    assert prose.pieces == (("a", True), (" b", False))
    assert [cell_of(Column(key, key), row).text for key in ("none", "empty", "missing")] == ["—"] * 3
    assert cell_of(Column("empty", "x", "data"), row).text == ""
    assert cell_of(Column("none", "x", "data", absent="no"), row).code is False


def test_examples_and_variants_unfold() -> None:
    row = {"x": "a", "of": [{"text": "an a", "marks": [(3, 4)], "aside": "label"}, 5], "like": ["b", "c"]}
    cell = cell_of(Column("x", "x", "data", unfolds="of", variants="like"), row)
    (opened,) = cell.unfolds
    assert opened.pieces == (("an ", False), ("a", True))
    assert opened.aside == "label"
    assert cell.variants == ("b", "c")


def test_columns_with_a_number_are_numeric() -> None:
    columns = (Column("a", "a"), Column("n", "n", "count"), Column("s", "s", sort="n"), Column("m", "m", "count"))
    rows = rows_of(Table("t", "T", columns, ({"a": "x"}, {"a": "y", "n": 1, "s": "one"})))
    assert are_numeric(rows, 4) == (False, True, True, False)
    assert are_numeric((), 2) == (False, False)


ANY = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.lists(st.integers(), max_size=2)
)


@given(kind=st.sampled_from(get_args(Kind)), values=st.lists(ANY, min_size=7, max_size=7))
def test_no_row_breaks_a_cell(kind: Kind, values: list[Any]) -> None:
    fields = ("low", "high", "aside", "marks", "unfolds", "variants", "sort")
    column = Column("x", "x", kind, **{field: field for field in fields})
    cell = cell_of(column, {"x": values[0], **dict(zip(fields, values, strict=True))})
    assert isinstance(cell.text, str)
    assert "nan" not in cell.aside
