"""The spelling of rare words, against a loop over words and letters."""

from __future__ import annotations

from collections import Counter

import polars as pl
import regex
from hypothesis import given
from hypothesis import strategies as st

from goldassay.data.text_form import spelled_with

TEXTS = st.lists(st.text(alphabet="abAB1\u0301\u00e9\u4e2d .,-", max_size=20) | st.none(), min_size=1, max_size=6)


def spelled(texts: list[str | None], training: list[str | None], rare_below: int) -> list[str]:
    columns = (pl.Series(each, dtype=pl.String) for each in (training, texts))
    of_training, found = spelled_with(*columns, rare_below)
    assert of_training.to_list() == by_loop(training, training, rare_below)
    return found.to_list()


def words_of(text: str | None) -> list[str]:
    return sorted(set(regex.findall(r"[\p{L}\p{M}\p{N}]+", (text or "").lower())))


def hexed(name: str, letters: str) -> str:
    return f"spelled{name}x{letters.encode().hex()}"


def by_loop(texts: list[str | None], training: list[str | None], rare_below: int) -> list[str]:
    counts = Counter(word for text in training for word in words_of(text))
    shared = Counter(shape for text in training for shape in inside(text, counts, rare_below))
    found = []
    for text in texts:
        letters = regex.findall(r"[\p{L}\p{N}]", (text or "").lower())
        ends = [hexed("first1", letters[0] if letters else ""), hexed("last1", letters[-1] if letters else "")]
        kept = sorted(shape for shape in inside(text, counts, rare_below) if shared[shape] >= rare_below)
        found.append(" ".join([*ends, " ".join(kept)]))
    return found


def inside(text: str | None, counts: Counter[str], rare_below: int) -> set[str]:
    shapes: set[str] = set()
    for word in words_of(text):
        if counts[word] < rare_below:
            shapes |= {hexed(f"begin{n}", word[:n]) for n in (1, 2, 3)}
            shapes |= {hexed(f"end{n}", word[-n:]) for n in (1, 2, 3)}
            shapes |= {f"spelledlong{len(word)}", *(hexed("has1", letter) for letter in word)}
    return shapes


@given(TEXTS, TEXTS, st.integers(1, 4))
def test_it_is_what_a_loop_over_letters_says(
    texts: list[str | None], training: list[str | None], rare_below: int
) -> None:
    assert spelled(texts, training, rare_below) == by_loop(texts, training, rare_below)


@given(TEXTS, TEXTS)
def test_order_of_rows_does_not_matter(texts: list[str | None], training: list[str | None]) -> None:
    assert spelled(texts[::-1], training[::-1], 2) == spelled(texts, training, 2)[::-1]


def test_only_training_texts_decide_what_is_rare() -> None:
    assert "begin" in spelled(["cat"], ["cat", "cow"], 2)[0]
    assert "begin" not in spelled(["cat"], ["cat", "a cat"], 2)[0]
    assert "begin" not in spelled(["cat"], ["cat", "dog"], 2)[0]
    assert spelled(["cat"] * 9, ["dog"], 2) == spelled(["cat"], ["dog"], 2) * 9
