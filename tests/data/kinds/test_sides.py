"""Which of two sides a value names, in every spelling that is published."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import InputError
from goldassay.data.kinds.sides import FIRST, SECOND, TIE, side_reader


@pytest.mark.parametrize(
    ("values", "sides"),
    [
        ([1, 2], [FIRST, SECOND]),
        (["1", "2"], [FIRST, SECOND]),
        ([0, 1], [FIRST, SECOND]),
        ([0.0, 1.5, 1.0, 2.0], [TIE, TIE, FIRST, SECOND]),
        ([1.0000001, 1.9, 1.4999], [FIRST, SECOND, FIRST]),
        ([0, 0.5, 1], [FIRST, TIE, SECOND]),
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


@pytest.mark.parametrize("values", [[0, 1, 2], ["0", "2"], [0.0, 2.0, 1.0, None]])
def test_two_codings_of_ties_are_no_guess(values: list[Any]) -> None:
    """Published sets write 0 for the tie, or 2: no verdict before it is decided."""
    with pytest.raises(InputError, match="label=0:first,1:second,2:tie") as refused:
        side_reader(values, ["label"], "pairs.jsonl")
    assert (refused.value.file, refused.value.column) == ("pairs.jsonl", "label")


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
