"""The look at bytes: every n-gram is noticed wherever it begins and ends, and nothing that is shorter."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldassay.kernels import json_lines, ngram_search
from goldassay.questions.overlap.search.shard import notices
from tests.overlap.search.corpora import no_rows, sentence, sought


@pytest.mark.parametrize("n", [5, 6, 8, 13, 30])
def test_each_ngram_of_each_item_is_noticed(n: int) -> None:
    """By anchors that n-grams of one item share with each other, and with other items."""
    rng = random.Random(n)
    shared = sentence(rng, 25).split()
    items = []
    for size in [*range(8, 45), *range(8, 45)]:
        begin, length = rng.randrange(20), rng.randrange(12)
        items.append(" ".join([*sentence(rng, size).split()[length:], *shared[begin : begin + length]]))
    known = sought(items, n=n)
    wholes, parts = [], []
    ngrams = set()
    for item in items:
        words = item.split()
        size = min(n, len(words))
        for begin in range(len(words) - size + 1):
            window = words[begin : begin + size]
            ngrams.add(f" {' '.join(window)} ")
            wholes.append(" ".join(["zq", "zr", *window, "zs"]))
            # One word less at either end, which another one stands for.
            parts += [" ".join(["zq", *window[1:], "zr"]), " ".join(["zq", *window[:-1], "zr"])]
    assert all(notices(known, wholes))
    # A part of one item may be all of another, short one.
    expected = [any(ngram in f"{part} " for ngram in ngrams) for part in parts]
    assert notices(known, parts) == expected
    assert expected.count(False) > len(parts) / 2


def test_words_of_any_length_end_at_any_character() -> None:
    """Eight letters are read at once: before, within, at the end and after, each byte of ASCII may follow."""
    texts = []
    for point in range(128):
        for size in range(18):
            tail = chr(point) + ("" if size % 2 else "éß" if size % 3 else "zz9")
            texts.append(f"{point}q {'aBcDeFgHiJkLmNoPqR'[:size]}{tail} {size}r {point}s one two")
    known = sought(texts, n=5)
    assert all(notices(known, [f"before {text} after" for text in texts]))
    upper = [text.upper() if "ß" not in text else text for text in texts]
    assert all(notices(known, upper))
    assert not any(notices(known, [text.replace("r ", "x ") for text in texts if "<" not in text and "&" not in text]))


@given(st.lists(st.sampled_from(b"\n\nab\x0b\x8a\xff"), max_size=60), st.integers(0, 20), st.integers(0, 20))
def test_line_breaks_are_found(values: list[int], skipped: int, spare: int) -> None:
    data = np.array([*values, *([10] * spare)], np.uint8)
    begin, end = min(skipped, len(values)), len(values)
    found = np.empty(data.size + 1, np.int64)
    n = json_lines.line_ends(data, begin, end, found)
    assert found[:n].tolist() == [at for at in range(begin, end) if values[at] == 10]


def test_letters_beyond_the_end_of_a_text_are_not_of_it() -> None:
    """Texts of a table lie one behind the other: eight bytes at once must not reach into the next."""
    known = sought(["one two three four fivesix"], n=5)
    data = np.frombuffer(b"one two three four fivesixseven eight nine\0", np.uint8)
    for end in range(27):
        status = np.empty(1, np.int64)
        ngram_search.seek_texts(
            data, np.array([0]), np.array([end]), *known.tables.arguments(), *no_rows(1)[:2], status, no_rows(1)[2]
        )
        assert status[0] == (ngram_search.CANDIDATE if end == 26 else ngram_search.NOTHING)
