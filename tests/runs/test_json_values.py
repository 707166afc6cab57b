"""The quick parser gives what the standard library gives, whatever a tool wrote."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.runs.tables import parse_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans())
def test_values_are_those_of_the_standard_library(value: object, escaped: bool) -> None:
    data = json.dumps(value, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    assert parse_json(data) == json.loads(data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1, "a": 2}',
        b'"\\ud83d"',
        b'"\\ud83d\\ude00"',
        b"\xef\xbb\xbf[1]",
        '{"a": "b"}'.encode("utf-16"),
        b"[" * 300 + b"]" * 300,
        b"1e400",
        b"[Infinity, -Infinity]",
        b"123456789012345678901234567890",
        b"0.1000000000000000055511151231257827",
        b"-0.0",
    ],
)
def test_what_is_seldom_is_read_likewise(data: bytes) -> None:
    assert repr(parse_json(data)) == repr(json.loads(data))


def test_no_number_is_read_as_such() -> None:
    assert math.isnan(parse_json(b"NaN"))


@pytest.mark.parametrize("data", [b"", b"{", b"[1,]", b"{'a': 1}", b"nan", b"[1] 2", b"\xff\xff"])
def test_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse_json(data)


def test_deep_nesting_is_refused_as_by_the_standard_library() -> None:
    with pytest.raises(RecursionError):
        parse_json(b"[" * 100_000)
