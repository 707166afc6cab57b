"""Figures and their measures: declared once, cut to what is possible, read back as they were written."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core import figures as module
from goldassay.core.figures import Figure, Measure, Pairing, Rule, declare, frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator

RULE = Rule("most_toy", "toy", "at most", {"model": "probe"})


@pytest.fixture(autouse=True)
def apart() -> Iterator[None]:
    """What a test declares is forgotten after it."""
    kept = dict(module._DECLARED)
    yield
    module._DECLARED.clear()
    module._DECLARED.update(kept)


def test_a_declared_measure_is_found_by_its_id() -> None:
    toy = declare(Measure("toy.share", "toy", "share"))
    assert module.measure_of("toy.share") is toy
    assert toy.question == "toy"
    assert declare(Measure("toy.share", "toy", "share")) == toy
    with pytest.raises(ValueError, match=r"measure 'toy\.share' is declared twice"):
        declare(Measure("toy.share", "another", "share"))


def test_a_rule_may_limit_several_measures_and_has_one_meaning() -> None:
    for name in ("a", "b"):
        declare(Measure(f"toy.{name}", name, "points", rule=RULE))
    with pytest.raises(ValueError, match="rule 'most_toy' is declared twice"):
        declare(Measure("toy.c", "c", "points", rule=Rule("most_toy", "toy", "at least")))
    declare(Measure("toy.c", "c", "points", rule=RULE))


def test_which_figures_are_taken_and_which_count() -> None:
    toy = Measure("toy.x", "x", "points", only={"condition": "*_only"}, rule=RULE)
    assert toy.takes(toy.figure(0.1, condition="premise_only"))
    assert not toy.takes(toy.figure(0.1, condition="paired"))
    assert not toy.takes(toy.figure(0.1))
    assert not RULE.counts(toy.figure(0.1, model="probe"))
    assert RULE.counts(toy.figure(0.1, model="bert"))


@given(st.sampled_from(["share", "points", "number"]), *[st.floats(-9, 9) | st.none()] * 3)
def test_ends_are_cut_to_what_is_possible_and_the_value_is_not(unit: Any, value: Any, low: Any, high: Any) -> None:
    least, most = {"share": (0, 1), "points": (-1, 1), "number": (0, math.inf)}[unit]
    declared = {} if unit == "share" else {"least": least, "most": most}
    found = Measure("toy.x", "x", unit, **declared).figure(value, low, high)
    assert found.value == value or (value is None and math.isnan(found.value))
    assert found.low == (max(low, least) if low is not None else pytest.approx(math.nan, nan_ok=True))
    assert found.high == (min(high, most) if high is not None else pytest.approx(math.nan, nan_ok=True))


def test_a_figure_is_the_same_after_json() -> None:
    toy = Measure("toy.x", "x", "points", "lower")
    assert toy.figure(0.5, reason="another number is undefined").reason == ""
    for one in (toy.figure(0.5, 0.1, 0.9, n=3, model="m"), toy.figure(None, reason="no runs", label="another")):
        row = json.loads(json.dumps(one.to_dict(), allow_nan=False))
        assert list(row) == [
            "id", "question", "of", "label", "unit", "better", "value", "low", "high", "n", "reason",
        ]  # fmt: skip
        assert Figure.from_dict(row).to_dict() == one.to_dict()
        assert Figure.from_dict(row).is_defined == one.is_defined


def test_the_table_of_figures() -> None:
    toy = Measure("toy.x", "x", "points")
    table = frame_of([toy.figure(0.5, model="m").to_dict(), toy.figure(None, n=2, dataset="d").to_dict()])
    assert table["of"].struct.unnest().to_dicts() == [
        {"model": "m", "dataset": None}, {"model": None, "dataset": "d"},
    ]  # fmt: skip
    assert table["value"].to_list() == [0.5, None]
    assert table.schema["n"] == pl.Int64
    assert frame_of([]).height == 0


def test_the_column_of_a_pairing() -> None:
    toy = Measure("toy.x", "x", "points")
    assert Pairing("right_{condition}").column_of(toy.figure(0.1, condition="paired")) == "right_paired"
    assert Pairing("right_{condition}").column_of(toy.figure(0.1)) == "right_{condition}"
