"""Lines of JSON as bytes, against Python's own reader."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.kernels import json_lines
from goldassay.kernels.json_lines import BLANK, EMPTY, NO_FIELD
from goldassay.kernels.ngram_search import BY_HAND, INVALID, NOTHING
from goldassay.questions.overlap.search.reading import Wanted, texts_below

WANTED = Wanted.of(["text", "title"])


def parsed(line: bytes) -> tuple[int, list[bytes | None]]:
    data, found = np.frombuffer(line + b"\n", np.uint8), np.empty(1, np.int64)
    json_lines.check_lines(data, np.array([len(line)]), *WANTED, found)
    return int(found[0]), []


VALID = st.dictionaries(
    st.sampled_from(["text", "title", "meta", "n", "te xt", "té"]),
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
        max_leaves=6,
    ),
)


def expected(line: bytes) -> set[int]:
    """What Python finds of a line."""
    if not line.strip(b" \t\r\n"):
        return {BLANK}
    try:
        row = json.loads(line)
    except ValueError:
        return {INVALID}
    if not isinstance(row, dict):
        return {INVALID}
    there = [row[name] for name in ("text", "title") if name in row]
    if any(next(texts_below(each), "") for each in there):
        return {NOTHING}
    return {EMPTY if there and not any(isinstance(each, (list, dict)) for each in there) else NO_FIELD}


@given(VALID, st.booleans(), st.sampled_from([None, 1]))
def test_valid_lines(row: dict[str, object], in_ascii: bool, indent: int | None) -> None:
    line = json.dumps(row, ensure_ascii=in_ascii, indent=indent).replace("\n", " ").encode("utf-8", "surrogatepass")
    assert parsed(line)[0] in expected(line)


@given(VALID, st.lists(st.tuples(st.integers(0, 500), st.sampled_from(b'"\\{}[],:0-.eu tfn')), min_size=1, max_size=3))
def test_lines_that_were_damaged(row: dict[str, object], changes: list[tuple[int, int]]) -> None:
    line = bytearray(json.dumps(row).encode())
    for place, byte in changes:
        line[place % len(line)] = byte
    assert parsed(bytes(line))[0] in expected(bytes(line))


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b'{"text": "a"}', NOTHING),
        (b' {"text" : "a\\u00e9"} \r', NOTHING),
        (b'{"te\\u0078t": "a"}', NOTHING),
        (b'{"meta": {"text": "a"}}', NO_FIELD),
        (b'{"text": null}', EMPTY),
        (b'{"text": "", "title": 1}', EMPTY),
        (b'{"a": {"text": "a"}, "title": ""}', EMPTY),
        (b'{"text": ["a"]}', NOTHING),
        (b'{"text": [], "title": ""}', NO_FIELD),
        (b'{"text": "a", "text": 1}', NOTHING),
        (b'{"text": "a", "text": "b"}', NOTHING),
        (b'{"text": 1, "text": "b"}', NOTHING),
        (b'{"text": "a"', INVALID),
        (b'{"text": "a",}', INVALID),
        (b'{"text": "a" "b": 1}', INVALID),
        (b'{"text": "a\tb"}', INVALID),
        (b'{"text": "\\x"}', INVALID),
        (b'{"n": 01, "text": "a"}', INVALID),
        (b'{"n": NaN, "text": "a"}', NOTHING),
        (b'["text"]', INVALID),
        (b'"text"', INVALID),
        (b"{}", NO_FIELD),
        (b"", BLANK),
        (b" \t", BLANK),
        (b'{"a": ' + b"[" * 300 + b"]" * 300 + b"}", BY_HAND),
    ],
)
def test_lines(line: bytes, status: int) -> None:
    assert parsed(line)[0] == status
