"""The form of a text is all of how it is written and nothing of what it says."""

from __future__ import annotations

import math
from itertools import pairwise

import polars as pl
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from goldassay.data.text_form import form_words


def form(text: str | None) -> str:
    return str(form_words(pl.Series([text], dtype=pl.String))[0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a cat sleeps", "A cat sleeps"), ("a cat sleeps", "a cat sleeps."), ("a cat sleeps", "a  cat sleeps"),
        ("a cat sleeps", " a cat sleeps"), ("a cat sleeps", "a cat sleeps sleeps"), ("a cat", "a cat a"),
        ("it is 1", "it is I"), ("caf\u00e9", "cafe"), ("a\tb", "a b"), ("", "x"),
        ("a, cat sleeps", "a cat, sleeps"), ("a b c", "c b a"), ("he said \"no\"", "he said 'no'"), ("(a)", "-a-"),
    ],
)  # fmt: skip
def test_ways_of_writing_differ(one: str, other: str) -> None:
    assert form(one) != form(other)


def test_words_of_one_shape_do_not_differ() -> None:
    assert form("A cat sleeps on the mat.") == form("A dog dances in the rug.") != form("A dog sat on the rug.")


def test_a_missing_text_is_an_empty_one() -> None:
    assert form(None) == form("")


@given(st.lists(st.text(max_size=80), min_size=1, max_size=5))
def test_every_text_has_all_features(texts: list[str]) -> None:
    found = form_words(pl.Series(texts, dtype=pl.String))
    assert len(found) == len(texts)
    for words in found.str.split(" ").to_list():
        assert len(words) == 26
        assert all(word.startswith("form") and word.isascii() for word in words)
        assert len({word.partition("x")[0] for word in words}) == 26


def by_regular_expressions(text: str) -> dict[str, int]:
    """What some features count, by name."""
    words = [word for word in text.split(" ") if word]
    before = regex.match(r"([^,;:()\u2013\u2014]*)[,;:()\u2013\u2014]", text)
    patterns = {
        "a": r"\p{Lu}", "b": r"\b\p{Lu}\p{Lu}+\b", "c": r"\b\p{Lu}\p{Ll}", "d": r"\p{Nd}", "g": r"\s\s",
        "j": r"[!?]", "o": r"[()\[\]{}]",
    }  # fmt: skip
    return {name: len(regex.findall(pattern, text)) for name, pattern in patterns.items()} | {
        "t": len(words) - len(set(words)),
        "y": -1 if before is None else len(before[1].split()),
        "z": sum(one < other for one, other in pairwise(words)),
    }


@given(
    st.lists(st.text(alphabet="aAbB\u00c9\u00df1 \t,;.!(\u2014\u4e2d\U0001d400_", max_size=25), min_size=1, max_size=5)
)
def test_counts_are_those_of_regular_expressions(texts: list[str]) -> None:
    for text, words in zip(texts, form_words(pl.Series(texts)).str.split(" ").to_list(), strict=True):
        found = {word[4]: word[6:] for word in words}
        for name, count in by_regular_expressions(text).items():
            assert found[name] == ("none" if count < 0 else str(count if count <= 9 else 10 * int(math.log2(count))))


@given(st.text(alphabet="abcdefgh ", max_size=60))
def test_letters_of_one_case_tell_only_lengths_repeats_and_order(text: str) -> None:
    other = text.translate(str.maketrans("abcdefgh", "qrstuvwx"))
    assert form(text) == form(other)


@pytest.mark.parametrize(("n", "said"), [(9, 9), (10, 30), (15, 30), (16, 40), (31, 40), (32, 50)])
def test_counts_above_nine_are_powers_of_two(n: int, said: int) -> None:
    assert f"formhx{said}" in form("," * n).split(" ")


@pytest.mark.parametrize(
    ("character", "said"),
    [
        ("A", "capital"), ("a", "small"), ("\u4e2d", "small"), ("7", "digit"), ("\t", "space"), ("", "none"),
        ("\u00bf", "codec2bf"),
    ],
)  # fmt: skip
def test_the_first_and_the_last_character_are_given_by_their_class(character: str, said: str) -> None:
    assert {f"formux{said}", f"formvx{said}"} <= set(form(character).split(" "))
