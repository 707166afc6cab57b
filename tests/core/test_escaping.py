"""Control characters are shown as their escapes, in one way everywhere."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.core.errors import one_line, visible, visible_columns

BIDIRECTIONAL = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb", r"a\x1b[31mb"),
        ("\x00\x7f\x85\x9b", r"\x00\x7f\x85\x9b"),
        ("a\u202eb\u2066", r"a\u202eb\u2066"),
        ("\ud800", r"\ud800"),
        ("tab\tand\nline\r\n", "tab\tand\nline\r\n"),
        ("naïve 中文 🙂 e\u0301 \u200d \xa0", "naïve 中文 🙂 e\u0301 \u200d \xa0"),
    ],
)
def test_escapes(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_one_line() -> None:
    assert one_line(" a\tb\n\x1b c\u2028d\U000e0001") == r"a b \x1b c d\U000e0001"


@given(st.text())
def test_nothing_hidden_is_left(text: str) -> None:
    left = visible(text)
    assert not any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n\r" for c in left)
    assert not any(unicodedata.bidirectional(c) in BIDIRECTIONAL for c in left)
    assert one_line(text).isprintable()


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1))
def test_columns(texts: list[str]) -> None:
    table = pl.DataFrame({"n": range(len(texts)), "text": texts})
    assert visible_columns(table).rows() == [(i, visible(text)) for i, text in enumerate(texts)]
