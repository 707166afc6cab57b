"""What is written into texts."""

from __future__ import annotations

import numpy as np
import polars as pl

from goldassay.data.text_form import form_words
from goldassay.questions.detection_limits import N_FORMS, N_OPTION_GROUPS, option_planting, planted_texts
from goldassay.stats.detection import MANY_TOGETHER, TEN_WORDS, Cell, CueKind, Planting, plant_rows

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
        [word.rstrip(".") for word in text.lower().split()[1:-1]] == words
        for text, words in zip(texts, [[], ["one"], ["one", "two"]] * N_FORMS, strict=True)
    )


def test_another_seed_has_other_words() -> None:
    one, other = (planted_texts(pl.Series(["x"]), planting([[0, -1]]), seed).item() for seed in (0, 1))
    assert not set(one.split()) & set(other.split()) - {"x"}


def planted_choices(kind: CueKind, n: int = 3000) -> tuple[Planting, Planting, np.ndarray, np.ndarray]:
    """What items of three choices get, and what their choices get."""
    rng, codes = np.random.default_rng(0), np.zeros(n, np.int64)
    of_items = plant_rows(codes, N_OPTION_GROUPS, codes, [kind], (0.6,), [Cell(0, 0)], 0)
    item_of, right = np.repeat(np.arange(n), 3), np.zeros((n, 3), np.bool_)
    right[np.arange(n), rng.integers(3, size=n)] = True
    return of_items, option_planting(of_items, item_of, right.ravel(), 0), item_of, right.ravel()


def test_a_word_stands_in_the_right_choice_alone() -> None:
    of_items, found, item_of, right = planted_choices(TEN_WORDS)
    assert (found.words[right] == of_items.words).all()
    assert (found.words[~right] == -1).all()
    assert not found.forms.any()
    assert (found.cells == of_items.cells[item_of]).all()


def test_of_two_words_in_choices_each_alone_tells_nothing_and_both_tell_all() -> None:
    of_items, found, item_of, right = planted_choices(MANY_TOGETHER)
    planted = of_items.cells[item_of] >= 0
    assert ((found.words >= 0).all(axis=1) == planted).all()
    for place in (0, 1):
        words, numbers = np.unique(found.words[planted, place], return_inverse=True)
        assert words.size == MANY_TOGETHER.n_words
        table = np.bincount(numbers * 2 + right[planted], minlength=2 * words.size).reshape(-1, 2)
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
        # A chi-square of 9 degrees of freedom, at five standard deviations.
        assert ((table - expected) ** 2 / expected).sum() < 9 + 5 * np.sqrt(18)
    pairs = found.words[planted, 0] * 1000 + found.words[planted, 1]
    assert np.unique(pairs * 2 + right[planted]).size == np.unique(pairs).size


def test_rows_are_not_planted_fold_by_fold() -> None:
    """Folds are dealt by the same seed."""
    codes = np.zeros(5000, np.int64)
    planting = plant_rows(codes, 1, codes, [TEN_WORDS], (0.1,), [Cell(0, 0)], 0)
    fold = np.empty(5000, np.int64)
    fold[np.random.default_rng(0).permutation(5000)] = np.arange(5000) // 1000
    counts = np.bincount(fold[planting.cells >= 0], minlength=5)
    assert counts.min() > 60


def test_texts_without_capitals_and_spaces_end_otherwise() -> None:
    given = pl.Series(["42", "\u4e0d\u540c\u610f", "a b"])
    written = planted_texts(given, planting([[-1, -1]] * 3, [1, 2, 3]), 0).to_list()
    assert [text[13:-13] for text in written] == ["42.", "\u4e0d\u540c\u610f..", "a  b"]
