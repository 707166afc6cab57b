"""Plain documents of which any part may be missing or of another kind."""

from __future__ import annotations

from typing import Any

import pytest

from goldassay.core.report_seal import mapping, records, texts


@pytest.mark.parametrize("value", [None, 0, "x", [], {"applies": False, "a": 1}])
def test_what_is_no_object_is_an_empty_one(value: Any) -> None:
    assert mapping(value) == {}
    assert mapping({"inner": value}, "inner", "a") == {}


def test_lists_keep_what_they_are_lists_of() -> None:
    assert mapping({"a": {"b": {"c": 1}}}, "a", "b") == {"c": 1}
    assert records([{"a": 1}, 2, None, {"b": 3}]) == [{"a": 1}, {"b": 3}]
    assert records({"a": 1}) == records("ab") == []
    assert texts(["a", 1]) == ("a", "1")
    assert texts("ab") == texts(None) == ()
