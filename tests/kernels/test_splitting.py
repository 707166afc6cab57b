"""Words of texts against an expression that finds the same."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.kernels.splitting import LETTER, MARK, OUTSIDE, SINGLE, code_points, number_words

KINDS = np.full(0x110000, OUTSIDE, np.uint8)
for letters, kind in (("abcxyz0123456789", LETTER), ("\u0301", MARK), ("!?\u4e2d", SINGLE)):
    KINDS[[ord(letter) for letter in letters]] = kind
WORD = re.compile("[abcxyz0-9\u0301]+|[!?\u4e2d]")


def check(texts: list[str], at_once: int) -> None:
    """Number words a few texts at a time, from tables that are too small."""
    numbers: dict[str, int] = {}
    slots, hashes, n_words = np.full(4, -1, np.int32), np.empty(2, np.uint64), 0
    names: list[str] = []
    for begin in range(0, len(texts), at_once):
        part = texts[begin : begin + at_once]
        expected = [WORD.findall(text) for text in part]
        ids, ends, new, slots, hashes, n_words = number_words(*code_points(part), KINDS, slots, hashes, n_words)
        assert ids.tolist() == [numbers.setdefault(word, len(numbers)) for words in expected for word in words]
        assert ends.tolist() == np.cumsum([len(words) for words in expected]).tolist()
        names += ["".join(part)[first:past] for first, past in new.tolist()]
    assert names == list(numbers)
    assert n_words == len(numbers) == np.unique(hashes[:n_words]).size


@given(st.lists(st.text(st.sampled_from("abc \u0301!?\u4e2d.")), min_size=1, max_size=20), st.integers(1, 20))
def test_words_are_numbered_in_the_order_in_which_they_come(texts: list[str], at_once: int) -> None:
    check(texts, at_once)


def test_tables_grow() -> None:
    rng = np.random.default_rng(0)
    check([" ".join(f"x{number}" for number in rng.integers(0, 9000, 50)) for _ in range(400)], 150)


@pytest.mark.parametrize("texts", [[], [""], ["", "a\u0301", "\U0001f600 b", ""]])
def test_code_points_of_lists_and_of_columns(texts: list[str]) -> None:
    for given_ in (texts, pl.Series(texts, dtype=pl.String)):
        points, starts = code_points(given_)
        assert "".join(map(chr, points.tolist())) == "".join(texts)
        assert np.diff(starts).tolist() == [len(text) for text in texts]


def test_lone_surrogates_are_code_points() -> None:
    assert code_points(["\ud800a"])[0].tolist() == [0xD800, 0x61]
