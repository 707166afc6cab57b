"""Words that lean to right choices by themselves: found where they are, and learned from other items alone."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.data.kinds.preferences import read_preferences
from goldassay.data.table import Table
from goldassay.questions.leakage.choices import telling_choices
from goldassay.questions.leakage.partial_input import LEANINGS
from goldassay.readers.choice_rules import chance_of

if TYPE_CHECKING:
    from goldassay.data.kinds import ChoiceItems

N = 600


def made(share: float, seed: int) -> ChoiceItems:
    """Pairs of responses of six of 200 words, and in this share of the pairs one of ten words in the preferred one."""
    rng = np.random.default_rng(seed)
    rows = []
    for at in range(N):
        chosen, rejected = (" ".join(f"w{word}" for word in rng.integers(0, 200, 6)) for _ in range(2))
        told = f" tell{at % 10}" if rng.random() < share else " other"
        rows.append({"prompt": f"q{at}", "chosen": chosen + told, "rejected": f"{rejected} other"})
    items = read_preferences(Table(pl.DataFrame(rows), ""), "made")
    assert items is not None
    return items


FOLDS = np.arange(N) % 5


def test_they_are_found_where_they_are_and_nothing_else() -> None:
    clean, flawed = (telling_choices(None, made(share, 0), FOLDS) for share in (0.0, 0.4))
    # Two ends of the alphabet, and sequences of characters and of words shared, most and fewest.
    assert len(clean) == 2 * len(LEANINGS) + 6
    for one, other in zip(clean[: len(LEANINGS)], flawed, strict=False):
        assert one.correct is not None
        assert other.correct is not None
        assert abs(one.correct.mean() - 0.5) < 0.07
        assert other.correct.mean() > 0.6
        assert other.chance is not None
        assert np.array_equal(other.chance, chance_of(made(0.4, 0)))


@pytest.mark.parametrize(("written", "as_"), [("w", "W"), (" ", "  "), (" ", "\u00a0"), (" w", ", w")])
def test_the_form_of_right_choices_is_read(written: str, as_: str) -> None:
    """As capitals, double spaces, other spaces and commas, which words are read without."""
    items = made(0.0, 3)
    flawed = items.right & (np.arange(items.right.size) % 5 < 2)
    texts = [
        text.replace(written, as_, 1) if each else text
        for text, each in zip(items.texts.to_list(), flawed.tolist(), strict=True)
    ]
    clean, found = (
        telling_choices(None, each, FOLDS) for each in (items, replace(items, texts=pl.Series("choice", texts)))
    )
    for one, other in zip(clean[len(LEANINGS) :], found[len(LEANINGS) : -6], strict=False):
        assert other.reader.startswith("traits of form")
        assert one.correct is not None
        assert other.correct is not None
        assert abs(one.correct.mean() - 0.5) < 0.07
        assert other.correct.mean() > 0.6


def test_places_in_the_alphabet_are_read() -> None:
    texts = pl.Series("choice", ["b", "A", "c", "d", "a", "a", "b", "d", "b", "a"])
    items = replace(
        made(0.0, 0).take(np.arange(3)),
        texts=texts,
        offsets=np.array([0, 4, 8, 10]),
        right=np.array([0, 1, 0, 0, 1, 0, 0, 0, 1, 0], bool),
    )
    found = {each.reader: each for each in telling_choices(None, items, np.arange(3))}
    first, last = (found[f"the {which} response in the alphabet"] for which in ("first", "last"))
    assert (first.reader, last.reader) == ("the first response in the alphabet", "the last response in the alphabet")
    assert first.correct is not None
    assert last.correct is not None
    # Of two that are equal each is half of the pick.
    assert first.correct.tolist() == [[1.0, 0.5, 0.0]]
    assert last.correct.tolist() == [[0.0, 0.0, 1.0]]


def test_a_loop_scores_the_same() -> None:
    """With words of ten texts or more whose share among right choices is three standard errors from a half."""
    items = made(0.4, 1)
    found = telling_choices(None, items, FOLDS)[LEANINGS.index(3.0)].correct
    texts, right = [text.split() for text in items.texts.to_list()], items.right
    learned = {
        fold: [
            Counter(
                word
                for at in range(right.size)
                if right[at] == side and FOLDS[items.item_of[at]] != fold
                for word in set(texts[at])
            )
            for side in (False, True)
        ]
        for fold in set(FOLDS.tolist())
    }
    hits = []
    for item in range(N):
        counts = learned[FOLDS[item]]
        scores = []
        for at in np.flatnonzero(items.item_of == item).tolist():
            score = 0.0
            for word in set(texts[at]):
                wrong, good = counts[0][word], counts[1][word]
                n = wrong + good
                if n >= 10 and abs(good - n / 2) / math.sqrt(n / 4) >= 3:
                    score += math.log((good + 0.5) / (wrong + 0.5))
            scores.append((round(score, 9), bool(right[at])))
        best = [hit for score, hit in scores if score == max(scores)[0]]
        hits.append(sum(best) / len(best))
    assert found is not None
    assert found[0] == pytest.approx(hits)


def test_items_of_one_cluster_teach_nothing_of_each_other() -> None:
    """All in one fold: nothing is left to learn from, so that every choice is as likely."""
    found = telling_choices(None, made(0.4, 2), np.zeros(N, np.int64))
    learned = [each for each in found if "lean by" in each.reader]
    assert len(learned) == 2 * len(LEANINGS)
    assert all(each.correct is not None and (each.correct == 0.5).all() for each in learned)
