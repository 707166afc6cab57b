"""Which of two sides a value names, in every spelling that is published."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.data.kinds.sides import FIRST, SECOND, TIE, say_sides, side_reader


@pytest.mark.parametrize(
    ("values", "sides"),
    [
        ([1, 2], [FIRST, SECOND]),
        (["1", "2"], [FIRST, SECOND]),
        ([0.0, 1.5, 1.0, 2.0], [TIE, TIE, FIRST, SECOND]),
        ([1.0000001, 1.9, 1.4999], [FIRST, SECOND, FIRST]),
        (["A", "B", "tie"], [FIRST, SECOND, TIE]),
        (["A>B", "B>A", "A=B", "A>>B", "A<B"], [FIRST, SECOND, TIE, FIRST, SECOND]),
        (["[[A]]", "[[B]]", "[[C]]"], [FIRST, SECOND, TIE]),
        (["model_a", "model_b", "tie (bothbad)"], [FIRST, SECOND, TIE]),
        (["output_1", "response_b", "Response 2", "Assistant A"], [FIRST, SECOND, SECOND, FIRST]),
        (["first", "second", "neither"], [FIRST, SECOND, TIE]),
        (["garbage", None, "", 3, "A>A", True], [None] * 6),
        (["no idea", "llama2", "gemma", "club", "None"], [None] * 5),
    ],
)
def test_spellings(values: list[Any], sides: list[int | None]) -> None:
    read, doubtful = side_reader(values)
    assert [read(value) for value in values] == sides
    assert not doubtful


def test_numbers_turn_round_where_one_means_the_first() -> None:
    read, _ = side_reader([0, 1], one_means_first=True)
    assert [read(1), read(0)] == [FIRST, SECOND]


@pytest.mark.parametrize(
    ("values", "mend"),
    [([0, 1, 2], "0:first,1:second,2:tie"), (["0", "2"], "0:first,2:tie"), ([0.0, 2.0, 1.0, None], "0.0:tie,1.0:first"),
     ([0, 1], "0:first,1:second"), ([1, 0, None], "0:second,1:first"), ([0, 0.5, 1], "0:first,0.5:tie,1:second"),
     ([1.0, 0.5, 0.0], "0.0:second,0.5:tie,1.0:first"), (["0", "1", "tie"], "0:second,1:first,tie:tie"),
     ([0, 0], "0:second"), ([0, 1, -1], "-1:tie,0:first,1:second"), ([1, 0, 2], "0:second,1:first,2:tie"),
     ([1, 0, 2], "0:tie,1:second,2:first")],
)  # fmt: skip
def test_codes_from_0_on_are_no_guess(values: list[Any], mend: str) -> None:
    """Published sets write 0 for the tie, for the first or for the second: no verdict before it is decided."""
    with pytest.raises(InputError, match=f"label={mend}") as refused:
        side_reader(values, ["label"], "pairs.jsonl")
    assert (refused.value.file, refused.value.column) == ("pairs.jsonl", "label")


def test_the_number_of_a_response_is_its_name() -> None:
    """PKU-SafeRLHF: better_response_id is 0 for response_0."""
    by_id, _ = side_reader([0, 1], ["better_response_id"])
    by_responses, _ = side_reader([0, 1], ["winner"], from_zero=True)
    assert [by_id(0), by_id(1), by_responses(0), by_responses(1)] == [FIRST, SECOND] * 2


@pytest.mark.parametrize(
    ("values", "readings"),
    [
        ([1, 2, 3], ["1:first,2:second,3:tie", "1:first,2:tie,3:second", "1:second,2:tie,3:first"]),
        ([0, 1, -1], ["-1:tie,0:first,1:second", "-1:tie,0:second,1:first", "-1:first,0:tie,1:second"]),
        ([1, 2, 3, 4, 5], ["1:first,2:first,3:tie,4:second,5:second"]),
    ],
)
def test_every_plausible_reading_is_offered(values: list[int], readings: list[str]) -> None:
    mend = say_sides("winner", values)
    assert [each for each in readings if f"winner={each}" not in mend] == []


def test_a_column_of_ones_may_count_from_0_or_from_1() -> None:
    read, doubtful = side_reader([1, 1, 1])
    assert read(1) == FIRST
    assert "may be" in doubtful


def test_numbers_of_another_scale_name_no_side() -> None:
    read, _ = side_reader([1, 2, 7])
    assert read(1) is None


@given(st.text(max_size=12))
def test_any_text_is_read_without_an_error(text: str) -> None:
    read, _ = side_reader([text])
    assert read(text) in (FIRST, SECOND, TIE, None)
