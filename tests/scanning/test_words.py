"""Words of texts: the plain way against Unicode's own tables, and the loop over bytes against the plain way."""

from __future__ import annotations

import json
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.scanning import json_kernels, word_kernels, words_of
from goldassay.scanning.words import ALONE, DEPENDS, DROPPED, N_POINTS, SEPARATES, point_table
from tests.scanning.corpora import sought


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What is  2+2?\n", ["what", "is", "2", "2"]),
        ("don't - DON\u2019T", ["don", "t", "don", "t"]),
        ("Stra\u00dfe CAF\u00c9 cafe\u0301", ["straße", "café", "café"]),
        ("\ufb01ne \uff26\uff4f\uff4f", ["fine", "foo"]),
        ("co\u00adoperate se\u200bcret \u202bword\u202c", ["cooperate", "secret", "word"]),
        ("\u039f\u0394\u039f\u03a3 \u03bf\u03b4\u03bf\u03c2", ["οδοσ", "οδοσ"]),
        ("东京 tower 2020年", ["东", "京", "tower", "2020", "年"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("snake_case", ["snake", "case"]),
        ("\u2764\ufe0f yes \ud800", ["yes"]),
        ("\x00\u00ad one two", ["one", "two"]),
        ("se\u034fcret wo\u3164rd ta\U000e0061g vs\U000e0100", ["secret", "word", "tag", "vs"]),
        ('<p class="x">don&#39;t</p> a&nbsp;b &copy; A&B 1 < 2 > 1', ["don", "t", "a", "b", "a", "b", "1", "2", "1"]),
        ("if a <b and c=d> e, <br /> <i\n> <a b='c d'> </p> <x=1>", ["if", "a", "b", "and", "c", "d", "e"]),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_the_table_says_of_each_character_what_the_words_are() -> None:
    table = point_table()
    assert table.size == N_POINTS
    for point in [*range(0x3000), *range(0x3000, N_POINTS, 7)]:
        character, entry = chr(point), int(table[point])
        if entry == DEPENDS:
            continue
        words = words_of(f"x{character}y")
        if entry == SEPARATES:
            assert words == ["x", "y"], hex(point)
        elif entry == DROPPED:
            assert words == ["xy"], hex(point)
        elif entry & ALONE:
            assert words == ["x", chr(entry & ~ALONE), "y"], hex(point)
        else:
            assert words == [f"x{chr(entry)}y"], hex(point)


def test_what_depends_on_its_neighbours_is_left_to_python() -> None:
    """A character whose normal form may join the one before it can have no entry of its own."""
    table = point_table()
    for point in range(N_POINTS):
        character = chr(point)
        if unicodedata.normalize("NFKC", f"e{character}") != "e" + unicodedata.normalize("NFKC", character):
            assert table[point] in (DEPENDS, DROPPED), hex(point)


# What markup is made of, and what breaks it off.
_MARKUP = st.text(st.sampled_from('<>&;/#xXab7= "\\\n\t\x0c\u00e9\u034f\U000e0061')) | st.sampled_from(
    [
        "<b>",
        "</b>",
        "&amp;",
        "&#39;",
        "&#x2019;",
        '<a href="x">',
        "<" + "a" * 300 + ">",
        "&" + "a" * 9 + ";",
        "a<b",
        "<a b>",
        "<a / =>",
        "<a x='b\"c>",
        "<a b= 'c'>",
        "='",
        "<br />",
    ]
)


@given(
    st.text(min_size=1) | st.lists(_MARKUP, min_size=1).map(lambda parts: "a".join(parts) + "a"),
    st.booleans(),
    st.booleans(),
)
def test_bytes_are_read_as_their_words(text: str, in_json: bool, in_ascii: bool) -> None:
    """What is sought is found in its own bytes; what differs in one word is not."""
    words = words_of(text)
    if len(words) < 5:
        text = f"{text} one two three four five"
    known = sought([text], n=5)
    assert _status(text, known, in_json=in_json, in_ascii=in_ascii) in (word_kernels.CANDIDATE, word_kernels.BY_HAND)
    other = " . ".join(f"{word} zq" for word in words_of(text))
    assert _status(other, known, in_json=in_json, in_ascii=in_ascii) != word_kernels.CANDIDATE or "zq" in words


def _status(text: str, known: object, *, in_json: bool, in_ascii: bool) -> int:
    tables = known.tables.arguments()  # type: ignore[attr-defined]
    found = np.empty(1, np.int64)
    if in_json:
        line = json.dumps({"id": 1, "text": text, "n": [1]}, ensure_ascii=in_ascii).encode("utf-8", "surrogatepass")
        data = np.frombuffer(line + b"\n", np.uint8)
        names, starts = np.frombuffer(b"text", np.uint8), np.array([0, 4])
        json_kernels.seek_lines(data, np.array([len(line)]), names, starts, *tables, found)
    else:
        raw = text.encode("utf-8", "replace")
        data = np.frombuffer(raw + b"\0", np.uint8)
        word_kernels.seek_texts(data, np.array([0]), np.array([len(raw)]), *tables, found)
    return int(found[0])


def test_bytes_that_are_no_utf8_are_said_to_be() -> None:
    known = sought(["one two three four five six"], n=5)
    for raw in (b"\xff", b"\xc3", b"\xe2\x82", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xf0\x80\x80\x80"):
        data, found = np.frombuffer(raw + b"\0", np.uint8), np.empty(1, np.int64)
        word_kernels.seek_texts(data, np.array([0]), np.array([len(raw)]), *known.tables.arguments(), found)
        assert found[0] == word_kernels.INVALID, raw
