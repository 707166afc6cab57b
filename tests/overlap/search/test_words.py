"""Words of texts: the plain way against Unicode's own tables, and the loop over bytes against the plain way."""

from __future__ import annotations

import json
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.kernels import json_lines, ngram_search
from goldassay.kernels.words import (
    ALONE,
    DEPENDS,
    DROPPED,
    END,
    N_POINTS,
    SEPARATES,
    SEVERAL,
    point_table,
    readings_of,
    words_of,
)
from goldassay.questions.overlap.search.reading import Wanted
from goldassay.questions.overlap.search.sought import MOST_N, Sought, SoughtText
from tests.overlap.search.corpora import no_rows, sought


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
        ("كِتَابٌ بـــيت أَكَلَ \u0627\u064e\u0654", ["كتاب", "بيت", "أكل", "\u0623"]),
        ("שָׁלוֹם עֹלָם", ["שלום", "עלם"]),
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
    for point in [*range(0x3000), *range(0x3000, N_POINTS, 7)]:
        character, entry = chr(point), int(table[point])
        if entry == DEPENDS:
            continue
        words = words_of(f"x{character}y")
        if entry >= SEVERAL:
            stands = table[entry - SEVERAL :].tolist()
            said = "".join(
                " " if each == SEPARATES else f" {chr(each - ALONE)} " if each >= ALONE else chr(each)
                for each in stands[: stands.index(END)]
            )
            assert words == f"x{said}y".split(), hex(point)
        elif entry == SEPARATES:
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
_CHARACTERS = "<>&;/#-!()[].:{}xXab7unrtd= \"'\\\n\t\r\x0c\u00e9\u034f\u200b\U000e0061\u6771"
_PIECES = st.text(st.sampled_from(_CHARACTERS)) | st.sampled_from(
    [
        "<b>", "</b>", "&amp;", "&#39;", "&#x2019;", '<a href="x">', "<" + "a" * 300 + ">", "&" + "a" * 9 + ";",
        "a<b", "<a b>", "<a / =>", "<a x='b\"c>", "<a b= 'c'>", "='", "<br />", "<a b=c>", "<a b=c d=/ e>",
        "<a b=c/>", "<a b==c =>", "<a \u00e9=b>", "<" + "a " * 128 + ">", "<!--", "-->", "--", "<!---->",
        "<!-- \u00e9 <b> -->", "<!-->", "<!--" + "-" * 255, "<!--" + "b" * 257 + "-->", "&amp;amp;", "&eacute;",
        "&Eacute;", "&shy;", "&#xe9;", "&#55357;", "&#9999999;", "&amp;#39;", "&nbsp", "&thetasym;", "](",
        "](http://a.b/c)", "](/a_(b))", "](#)", "](a)", "](a.b \"t\")", "](a:b  'c')", "](a/" + "b" * 255 + ")",
        "](./(" + "b" * 256 + "))", "](.((a)))", "](. \n\t \"", '")', "\\n", "\\t", "\\r", "\\nabla", "\\nu",
        "\\textbf{", "\\emph{", "\\sqrt{", "\\text{", "\\textbf", "\\newcommand", "\\newcommanda", "\\u00e9",
        "\\ud83d\\ude00", "\\ud840\\udc00", "\\ud83d", "\\u200b", "\\u12", "-\n", "-\r\n  ", "\u00ad", "\u2060",
        "\ufeff",
    ]
)  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(
    st.text(min_size=1) | st.lists(_PIECES, min_size=1, max_size=20).map("".join)
    | st.lists(_PIECES, min_size=1, max_size=9).map(lambda parts: "a".join(parts) + "a"),
    st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_bytes_are_read_as_their_words(text: str, in_json: bool, in_ascii: bool) -> None:
    """All words of a text, in each reading, are one n-gram that is found in its bytes: none more and none fewer."""
    text = f"one two three four {text} five"
    for words in readings_of(text):
        if len(words) > MOST_N:
            continue
        known = Sought([SoughtText(tuple(words), 0, (0, len(words)))], [()], np.arange(1), max(len(words), 5))
        status = _status(text, known, in_json=in_json, in_ascii=in_ascii)
        is_plain = text.isascii() and "".join(words).isascii()
        assert status == ngram_search.CANDIDATE or (status == ngram_search.BY_HAND and not is_plain)
    other = " . ".join(f"{word} zq" for word in words_of(text))
    known = sought([text], n=5)
    assert _status(other, known, in_json=in_json, in_ascii=in_ascii) != ngram_search.CANDIDATE or "zq" in words_of(text)


def test_characters_for_which_several_stand_are_read_from_bytes() -> None:
    several = [chr(point) for point in np.flatnonzero(point_table()[:N_POINTS] >= SEVERAL).tolist()]
    assert {"\u00bd", "\u00b4", "\u2122", "\ufb01", "\u3231", "\u0958"} <= set(several)
    for at in range(0, len(several), 5):
        text = "one two three " + "".join(f"a{each}b {each}" for each in several[at : at + 5])
        for in_json, in_ascii in ((False, False), (True, False), (True, True)):
            known = sought([text], n=min(len(words_of(text)), MOST_N))
            assert _status(text, known, in_json=in_json, in_ascii=in_ascii) == ngram_search.CANDIDATE, text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a<!-- no --> b<!---->c", ["a", "b", "c"]),
        ("<span class=y id=z>one</span> <td width=1 /> <a \u00e9=b>", ["one"]),
        ("a <b and c=d> e <b c= d>", ["a", "b", "and", "c", "d", "e", "b", "c", "d"]),
        ('[one](https://a.b/c_(d)?e=f) [two](/w "A b") f[i](x)', ["one", "two", "f", "i", "x"]),
        ("\\textbf{one} \\emph{two} \\sqrt{3} \\textbf", ["one", "two", "sqrt", "3", "extbf"]),
        ("caf&eacute; &Eacute;t&#233; &amp;#39; a&shy;b &lt;b&gt;", ["caf\u00e9", "\u00e9t\u00e9", "ab", "b"]),
        ('{"a": "one\\ntwo\\tcaf\\u00e9 don\\u2019t"}', ["a", "one", "two", "caf\u00e9", "don", "t"]),
        ("\\times \\nabla \\nu C:\\new", ["times", "nabla", "nu", "c", "ew"]),
        ("**one** _two_ ~~three~~", ["one", "two", "three"]),
    ],
)
def test_markup(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("one\u200btwo se\u00adcret", ["onetwo", "secret"], ["one", "two", "se", "cret"]),
        ("exam-\n  ple well-known", ["exam", "ple", "well", "known"], ["example", "well", "known"]),
        ("exam-\r\nple", ["exam", "ple"], ["example"]),
        ("one&#8203;two", ["onetwo"], ["one", "two"]),
    ],
)
def test_readings(text: str, first: list[str], second: list[str]) -> None:
    assert readings_of(text) == (first, second)


def test_what_has_one_reading() -> None:
    for text in ("one two", "\u200bone \u00ad two", "one - \ntwo", "\u6771\u200b\u4eac", ""):
        assert readings_of(text) == (words_of(text),)


def _status(text: str, known: object, *, in_json: bool, in_ascii: bool) -> int:
    tables = known.tables.arguments()  # type: ignore[attr-defined]
    found, (*before, rows) = np.empty(1, np.int64), no_rows(1)
    if in_json:
        line = json.dumps({"id": 1, "text": text, "n": [1]}, ensure_ascii=in_ascii).encode("utf-8", "surrogatepass")
        data = np.frombuffer(line + b"\n", np.uint8)
        json_lines.seek_lines(
            data,
            np.array([len(line)]),
            *Wanted.of(["text"]),
            *tables,
            *before,
            found,
            rows,
            *np.zeros((2, 1), np.int64),
        )
    else:
        raw = text.encode("utf-8", "replace")
        data = np.frombuffer(raw + b"\0", np.uint8)
        ngram_search.seek_texts(data, np.array([0]), np.array([len(raw)]), *tables, *before, found, rows)
    return int(found[0])


def test_bytes_that_are_no_utf8_are_said_to_be() -> None:
    known = sought(["one two three four five six"], n=5)
    for raw in (b"\xff", b"\xc3", b"\xe2\x82", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xf0\x80\x80\x80"):
        data, found = np.frombuffer(raw + b"\0", np.uint8), np.empty(1, np.int64)
        ngram_search.seek_texts(
            data, np.array([0]), np.array([len(raw)]), *known.tables.arguments(), *no_rows(1)[:2], found, no_rows(1)[2]
        )
        assert found[0] == ngram_search.INVALID, raw
