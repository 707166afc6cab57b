"""What is written into texts."""

from __future__ import annotations

import numpy as np
import polars as pl

from goldassay.data.text_form import form_words
from goldassay.readers.planting import N_FORMS, planted_texts
from goldassay.stats.detection import Planting

TEXT = "the man is gazing over the wide water"


def planting(words: list[list[int]], forms: list[int] | None = None) -> Planting:
    n = len(words)
    return Planting(np.zeros(n, np.int64), np.array(words), np.array(forms or [0] * n))


def test_rows_with_one_number_have_one_word_and_all_others_one_of_their_own() -> None:
    given = pl.Series("hypothesis", [TEXT, None, "a", "b", "c"])
    texts = planted_texts(given, planting([[0, -1], [0, 1], [2, -1], [-1, -1], [-1, -1]]), 0)
    assert texts.name == "hypothesis"
    before, middle, after = zip(
        *((text.split()[0], text.split()[1:-1], text.split()[-1]) for text in texts), strict=True
    )
    assert [" ".join(each) for each in middle] == [TEXT, "", "a", "b", "c"]
    assert after[0] == after[1]
    words = [*before, *after[1:]]
    assert len(set(words)) == len(words)
    assert all(len(word) == 12 and word.isascii() and word.isalpha() and word.islower() for word in words)
    # Readers of stems see no kinship.
    assert len({word[:6] for word in words}) == len(words)


def test_each_form_is_another_one_and_changes_no_word() -> None:
    texts = planted_texts(
        pl.Series([TEXT] * (N_FORMS + 1)), planting([[-1, -1]] * (N_FORMS + 1), list(range(N_FORMS + 1))), 0
    )
    inner = [text[13:-13] for text in texts]
    assert all(text.lower().split() == TEXT.split() for text in inner)
    assert form_words(pl.Series(inner)).n_unique() == N_FORMS + 1


def test_short_texts_have_a_form_as_far_as_they_can() -> None:
    texts = planted_texts(
        pl.Series(["", "one", "one two"] * N_FORMS),
        planting([[-1, -1]] * 3 * N_FORMS, [form for form in range(1, N_FORMS + 1) for _ in range(3)]),
        0,
    )
    assert all(
        text.lower().split()[1:-1] == words
        for text, words in zip(texts, [[], ["one"], ["one", "two"]] * N_FORMS, strict=True)
    )


def test_another_seed_has_other_words() -> None:
    one, other = (planted_texts(pl.Series(["x"]), planting([[0, -1]]), seed).item() for seed in (0, 1))
    assert not set(one.split()) & set(other.split()) - {"x"}
