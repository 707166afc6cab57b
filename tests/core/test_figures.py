"""Figures and their measures: declared once, cut to what is possible, read back as they were written."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core import figures as module
from goldassay.core.figures import Figure, Measure, Pairing, Rule, declare, figure, figures_of, frame_of, result, role
from goldassay.core.results import Result

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


def whole() -> Any:
    """A result with figures of every kind; its measures are declared for one test."""
    count = declare(Measure("typed.parts", "parts", "number"))

    @result
    class _Part(Result):
        part: str = role("condition", "{}_only")
        score: float = figure(Measure("typed.score", "score", "points"), "low", "high", n="n", reason="reason")
        low: float
        high: float
        reason: str = ""
        gain: float | None = figure(Measure("typed.gain", "gain", "points"), default=None)

    @result
    class _Estimate(Result):
        value: float
        low: float
        high: float
        reason: str

    @result
    class _Whole(Result):
        parts: tuple[_Part, ...]
        n: int
        total: _Estimate = figure(
            Measure("typed.total", "total", "number"), "low", "high", at="value", n="n", reason="reason"
        )
        few: float = figure(Measure("typed.few", "few", "share"), why="it takes two")
        models: Mapping[str, tuple[_Part, ...]] = role("model")

        def more_figures(self) -> list[Figure]:
            return [count.figure(len(self.parts))]

    return _Whole(
        parts=(_Part("premise", 0.5, 0.4, 0.6), _Part("hypothesis", 0.7, 0.1, 0.9, "too few", 0.25)),
        n=9,
        total=_Estimate(2.0, 1.0, 3.0, ""),
        few=math.nan,
        models={"bert": (_Part("premise", 0.1, 0.0, 0.2),)},
    )  # fmt: skip


def test_figures_are_declared_at_the_fields_of_a_result() -> None:
    found = {(each.id, *each.of.items()): each for each in figures_of(whole(), dataset="anli")}
    anli = ("dataset", "anli")
    assert list(found) == [
        ("typed.score", anli, ("condition", "premise_only")),
        ("typed.score", anli, ("condition", "hypothesis_only")),
        ("typed.gain", anli, ("condition", "hypothesis_only")),
        ("typed.total", anli),
        ("typed.few", anli),
        ("typed.score", anli, ("model", "bert"), ("condition", "premise_only")),
        ("typed.parts", anli),
    ]
    score = found["typed.score", anli, ("condition", "premise_only")]
    assert (score.value, score.low, score.high, score.n, score.reason) == (0.5, 0.4, 0.6, 9, "")
    unsure = found["typed.score", anli, ("condition", "hypothesis_only")]
    assert (unsure.is_defined, unsure.has_interval, unsure.reason) == (False, False, "too few")
    total = found["typed.total", anli]
    assert (total.value, total.low, total.high, total.n) == (2.0, 1.0, 3.0, 9)
    assert found["typed.few", anli].reason == "it takes two"


def test_a_figure_that_is_left_out_is_not_in_the_plain_form_either() -> None:
    parts = whole().to_dict()["parts"]
    assert "gain" not in parts[0]
    assert parts[1]["gain"] == 0.25


def test_a_figure_cannot_name_a_field_that_its_record_lacks() -> None:
    with pytest.raises(TypeError, match=r"_Bad\.score names 'lov'"):

        @result
        class _Bad(Result):
            score: float = figure(Measure("typed.bad", "score", "points"), "lov")
            low: float
