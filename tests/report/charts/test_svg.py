from __future__ import annotations

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import visible
from goldassay.report.charts.svg import Canvas, code_width, escape, marker, shortened, text_width


@given(st.text(max_size=40))
def test_any_text_is_well_formed_and_comes_back(text: str) -> None:
    canvas = Canvas(10, 10, text)
    canvas.text(0, 0, text)
    canvas.bar(0, 0, 1, 1, "f0", text)
    root = ET.fromstring(canvas.standalone())
    namespace = "{http://www.w3.org/2000/svg}"
    kept = text.replace("\r\n", "\n").replace("\r", "\n")
    clean = visible(kept).replace("\ufffe", "�").replace("\uffff", "�")
    assert (root.find(f"{namespace}text").text or "") == clean
    assert (root.find(f"{namespace}rect/{namespace}title").text or "") == clean


def test_escape_leaves_nothing_that_could_be_markup() -> None:
    assert escape("<a href='x'>&\"") == "&lt;a href=&#39;x&#39;&gt;&amp;&quot;"
    assert escape("a\x00\x0b\ud800") == r"a\x00\x0b\ud800"


@given(st.text(max_size=60), st.floats(20, 300))
def test_shortened_fits(text: str, width: float) -> None:
    short = shortened(text, width)
    assert text_width(short) <= width
    assert short == text or short.endswith("…")


def test_a_very_long_text_is_cut_at_once() -> None:
    assert len(shortened("a" * 1_000_000, 100)) < 30


def test_wide_characters_count_twice() -> None:
    assert code_width("日本") == code_width("abcd")
    assert text_width("日") > text_width("a")
    assert text_width("e\u0301") == text_width("e")


def test_each_label_has_a_marker_of_its_own() -> None:
    assert len({marker(series, 10, 10, 4) for series in range(5)}) == 5
