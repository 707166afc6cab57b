"""Words that lean to a label, against a loop with scipy's binomial test."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, false_discovery_control
from statsmodels.stats.proportion import proportion_confint

from goldassay.questions.leakage.measures.token_relevance import (
    LEAST_LIFT,
    LEAST_TEXTS,
    WORD,
    leaning_words,
    word_places,
)

NAMES = ("no", "maybe", "yes")


def made(n: int = 900, seed: int = 0) -> tuple[pl.Series, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    texts = []
    for at, code in enumerate(codes):
        words = [f"row{at}", *rng.choice(["a", "the", "tree", "runs", "Don't"], 3)]
        if code == 0 and rng.random() < 0.3:
            words.append("Nobody")
        if rng.random() < (0.05, 0.5, 0.05)[code]:
            words.append("perhaps")
        if rng.random() < (0.15, 0.15, 0.4)[code]:
            words.append("soon")
        texts.append(" ".join(words) + ".")
    return pl.Series(texts), codes


def by_loop(texts: pl.Series, codes: np.ndarray, q: float) -> dict[str, tuple[str, int, float]]:
    rows = sorted(set(zip(texts.to_list(), codes.tolist(), strict=True)))
    share = np.bincount([code for _, code in rows], minlength=3) / len(rows)
    held: dict[str, np.ndarray] = {}
    for text, code in rows:
        for word in set(re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower())):
            held.setdefault(word, np.zeros(3, int))[code] += 1
    words = sorted(word for word, counts in held.items() if counts.sum() >= LEAST_TEXTS)
    best, p = {}, []
    for word in words:
        counts, n = held[word], held[word].sum()
        k = int(np.argmax((counts - n * share) / np.sqrt(n * share * (1 - share))))
        best[word] = (k, counts[k], n)
        p.append(min(1.0, 3 * binom.sf(counts[k] - 1, n, share[k])))
    adjusted = false_discovery_control(p)
    return {
        word: (NAMES[k], int(n), float(low / share[k]))
        for (word, (k, hits, n)), each in zip(best.items(), adjusted, strict=True)
        if each <= q and (low := proportion_confint(hits, n, method="wilson")[0]) / share[k] >= LEAST_LIFT
    }


@pytest.mark.parametrize("q", [0.01, 1e-15])
@pytest.mark.parametrize("seed", range(3))
def test_words_are_those_of_a_loop(seed: int, q: float) -> None:
    texts, codes = made(seed=seed)
    table = leaning_words(texts, codes, NAMES, q=q)
    told = {row["word"]: (row["label"], row["support"], row["lift"]) for row in table.iter_rows(named=True)}
    wanted = by_loop(texts, codes, q)
    # The last is planted such that it is sure, and not that sure.
    assert {"nobody", "perhaps", "soon"} - set(wanted) == (set() if q == 0.01 else {"soon"})
    assert told.keys() == wanted.keys()
    for word, (label, support, lift) in wanted.items():
        assert told[word] == (label, support, pytest.approx(lift, rel=1e-9))


def test_labels_by_chance_have_no_telling_words() -> None:
    texts, codes = made()
    found = [leaning_words(texts, np.random.default_rng(seed).permutation(codes), NAMES, q=0.01) for seed in range(20)]
    assert sum(table.height > 0 for table in found) <= 2


def test_copies_of_a_text_count_once() -> None:
    texts = pl.Series(["nobody here"] * 50 + [f"a tree {at}" for at in range(50)])
    assert leaning_words(texts, np.array([0] * 50 + [1] * 50), ("a", "b"), q=0.01)["word"].to_list() == []


def test_the_order_of_rows_and_the_number_of_words_change_nothing() -> None:
    texts, codes = made()
    order = np.random.default_rng(1).permutation(len(texts))
    whole = leaning_words(texts, codes, NAMES, q=0.01)
    assert whole.equals(leaning_words(texts[order], codes[order], NAMES, q=0.01))
    assert leaning_words(texts, codes, NAMES, q=0.01, most=1).height == whole["label"].n_unique()


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40))
def test_words_are_cut_as_they_are_counted(text: str) -> None:
    counted = pl.Series([text]).str.extract_all(WORD)[0].to_list()
    assert [text[begin:end] for _, begin, end in word_places(text)] == counted


def test_scripts_without_spaces_are_cut_into_characters() -> None:
    assert [word for word, *_ in word_places("他在 Beijing's 睡觉")] == ["他", "在", "beijing's", "睡", "觉"]
