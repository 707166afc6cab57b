from __future__ import annotations

import math

import pytest

from goldassay.core import numbers as n

NB = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize("value", [None, math.nan, math.inf, "x", True])
def test_what_is_no_number_is_a_dash(value: object) -> None:
    assert {n.decimal(value), n.count(value), n.points(value), n.percent(value), n.small(value)} == {"—"}
    assert n.bounds(0.1, value) == ""
    assert n.with_unit(value, "points") == "not defined"


def test_numbers_for_people() -> None:
    assert n.count(9824) == "9,824"
    assert n.decimal(-1.25, 1) == "−1.2"
    assert n.decimal(-0.001, 1) == "0.0"
    assert n.decimal(-1234.5, 1) == "−1,234.5"
    assert n.points(0.716) == "71.6"
    assert n.percent(0.5) == f"50.0{NB}%"
    assert n.percent(0.0002) == f"< 0.1{NB}%"
    assert n.percent(0) == f"0.0{NB}%"
    assert n.bounds(0.302, 0.32) == "[30.2, 32.0]"


def test_fractions_as_points() -> None:
    assert n.in_points(0.25) == 25.0
    assert n.in_points(None) is None
    assert n.signed_points(0.0312, 1) == "+3.1"
    assert n.signed_points(-0.0312) == "−3.12"
    assert n.signed_points(-0.0001, 1) == "0.0"


def test_small_numbers() -> None:
    assert n.small(0.0123) == "0.012"
    assert n.small(3.4e-7) == "3e−7"
    assert n.small(3.4e-73) == "3e−73"
    assert n.small(0.0) == "< 1e−300"


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.244, "points", "24.4 points"),
        (-0.004, "points", "−0.4 points"),
        (0.311, "share", f"31.1{NB}%"),
        (137, "examples", "137 examples"),
        (218.36, "ratio", "218 ×"),
        (21.836, "ratio", "21.8 ×"),
        (1.86, "ratio", "1.86 ×"),
    ],
)
def test_units(value: float, unit: str, shown: str) -> None:
    assert n.with_unit(value, unit) == shown


def test_bounds_in_units() -> None:
    assert n.bounds_in(0.1, 0.2, "points") == "[10.0, 20.0]"
    assert n.bounds_in(100, 2000, "examples") == "[100, 2,000]"
    assert n.bounds_in(1.5, 2.5, "ratio") == "[1.50, 2.50]"
    assert n.bounds_in(None, 2.5, "ratio") == ""
