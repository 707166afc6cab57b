"""Numbers and arrays as callers may hand them over."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from goldassay.core.arguments import as_codes, as_numbers, check_bootstrap, check_whole
from goldassay.core.errors import InputError


@pytest.mark.parametrize("value", [2, np.int32(2), np.uint8(2)])
def test_whole_numbers_of_any_kind_are_taken(value: Any) -> None:
    check_whole("n", value, 2, 2)


@pytest.mark.parametrize(
    ("value", "message"),
    [(1, "n is 1; choose 2 to 3"), (4, "n is 4; choose 2 to 3"), (2.0, "n is 2.0; choose a whole"), (True, "n is True"),
     ("2", "n is '2'"), (None, "n is None")],
)  # fmt: skip
def test_other_numbers_are_named(value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_whole("n", value, 2, 3)


@pytest.mark.parametrize("level", [0, 1, 1.5, float("nan"), "0.95", None])
def test_a_level_lies_between_0_and_1(level: Any) -> None:
    check_bootstrap(0, 1, 0.95)
    with pytest.raises(InputError, match="level is"):
        check_bootstrap(0, 1, level)


def test_arrays_of_other_libraries_are_taken() -> None:
    assert as_numbers(pl.Series([1, 2]), "these").tolist() == [1, 2]
    assert as_numbers(np.array([1, 2.5], dtype=object), "these").dtype == np.float64
    assert as_codes(pl.Series([1, 0], dtype=pl.UInt8), "these").dtype == np.int64


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["a"], "these hold <U1, no real numbers"),
        ([1j], "complex128"),
        ([[1], [1, 2]], "as many in each row"),
        ([object()], "no array of numbers"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "datetime64"),
    ],
)
def test_what_holds_no_numbers_is_refused(values: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_numbers(values, "these")


@pytest.mark.parametrize(
    ("values", "message"),
    [([], "at least one"), ([[0]], "one an example"), ([0.0], "whole numbers"), ([True], "whole numbers"),
     ([-1], "negative codes"), ([2_000_000], "the code 2000000; count classes from 0")],
)  # fmt: skip
def test_what_are_no_codes_is_refused(values: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_codes(values, "these")
