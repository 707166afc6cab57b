"""Errors are one line that names the place, the problem and the mend."""

from __future__ import annotations

from goldassay import GoldassayError, InputError
from tests.stated import says


def test_the_line_holds_place_problem_and_mend() -> None:
    error = InputError(
        "is missing", file="a/train.csv", row=7, column="label", mend="name it with --columns label=NAME"
    )
    assert str(error) == says("a/train.csv, line 7, column 'label': is missing", "--columns label=NAME")
    assert isinstance(error, GoldassayError)
    assert isinstance(error, ValueError)
    assert error.exit_status == 2


def test_a_line_stays_one_line() -> None:
    assert str(InputError("two\nlines\tand   more")) == "two lines and more"


def test_a_line_that_quotes_a_whole_file_is_cut() -> None:
    line = str(InputError("x" * 10_000))
    assert len(line) == 500
    assert line.endswith("…")
