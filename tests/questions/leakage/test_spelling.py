"""Labels that stand inside made-up words, each word in one text alone: no such set is sound."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import pytest

from goldassay.data.dataset import Dataset
from goldassay.questions.leakage.partial_input import word_readings
from goldassay.questions.public import audit
from goldassay.readers.conditions import DataSplit
from tests.questions.artifacts.form import read_form_by_lift

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Each is in more texts than a rare word.
WORDS = [f"w{number}" for number in range(100)]
LETTERS = "abcdefghijklmnop"


def last_letter(word: str, told: bool) -> str:
    return word[:-1] + ("a" if told else "b")


def first_letter(word: str, told: bool) -> str:
    return ("c" if told else "d") + word[1:]


def letter_within(word: str, told: bool) -> str:
    return f"{word[:3]}{'y' if told else 'z'}{word[3:]}"


def number_of_letters(word: str, told: bool) -> str:
    return word[:5] if told else word


def parity(word: str, told: bool) -> str:
    # Numbers of five digits, of which two texts seldom have the same.
    number = sum(16**place * LETTERS.index(letter) for place, letter in enumerate(word)) % 90_000 + 10_000
    return str(number // 2 * 2 + told)


def no_letter(word: str, told: bool) -> str:
    return word


def rows(n: int, seed: int, spelled: Callable[[str, bool], str], share: float = 0.6) -> list[dict[str, str]]:
    rng = random.Random(seed)
    made = []
    for _ in range(n):
        label, premise = rng.random() < 0.5, " ".join(rng.choices(WORDS, k=8))
        told = label if rng.random() < share else rng.random() < 0.5
        words = rng.choices(WORDS, k=8)
        words[rng.randrange(8)] = spelled("".join(rng.choices(LETTERS, k=7)), told)
        made.append({"premise": premise, "hypothesis": " ".join(words), "label": "yes" if label else "no"})
    return made


def words_of_hypothesis(train: Dataset, test: Dataset) -> NDArray[np.integer]:
    (reading,) = word_readings(DataSplit(train, test), ["hypothesis_only"])
    assert reading.predictions is not None
    return reading.predictions[0]


WAYS = [last_letter, first_letter, letter_within, number_of_letters, parity]


@pytest.mark.parametrize("spelled", WAYS)
def test_readers_of_both_questions_find_it(spelled: Callable[[str, bool], str]) -> None:
    train, test = (Dataset.from_frame(rows(n, seed, spelled)) for n, seed in ((2000, 0), (1000, 1)))
    order = [train.label_names.index(name) for name in test.label_names]
    gold = np.array(order)[test.labels()]
    by_form = read_form_by_lift(
        train.examples["hypothesis"],
        train.labels(),
        test.examples["hypothesis"],
        train.label_names,
        min_count=50,
        q=0.01,
    )
    by_words = words_of_hypothesis(train, test)
    # 0.6 of the labels are told, and half of the rest are right by chance.
    assert (by_form == gold).mean() > 0.7
    assert (by_words == gold).mean() > 0.7


def test_no_question_calls_it_sound() -> None:
    verdicts = audit(rows(2000, 0, last_letter), rows(1000, 1, last_letter)).verdicts
    assert {question: verdicts[question]["verdict"] for question in ("artifacts", "leakage")} == {
        "artifacts": "unsound",
        "leakage": "unsound",
    }


def test_made_up_words_that_tell_nothing_are_no_flaw() -> None:
    train, test = (Dataset.from_frame(rows(n, seed, no_letter, 0)) for n, seed in ((2000, 0), (1000, 1)))
    texts = (train.examples["hypothesis"], train.labels(), test.examples["hypothesis"])
    assert np.unique(read_form_by_lift(*texts, train.label_names, min_count=50, q=0.01)).size == 1
    by_words = words_of_hypothesis(train, test)
    order = [train.label_names.index(name) for name in test.label_names]
    # Three standard errors of 1,000 guesses.
    assert abs((by_words == np.array(order)[test.labels()]).mean() - 0.5) < 0.05
