"""A flaw that many words share takes more training rows than one word: where these are missing, nothing is sound."""

from __future__ import annotations

import random

import numpy as np
import pytest

from goldassay.questions.effect_sentences import scarce_doubts
from goldassay.questions.provenance import doubts_of_dropped
from goldassay.questions.public import audit
from tests.stated import stated_by, states

WORDS = [f"w{number}" for number in range(400)]
# Words that share no spelling, which readers of letters would find.
TOLD = ["".join(random.Random(number).choices("abcdefghijklmnopqrstuvwxyz", k=7)) for number in range(100)]


def rows(n: int, seed: int, share: float, n_words: int) -> list[dict[str, str]]:
    """Of one label's hypotheses a share has one of some words that no other label has."""
    rng = random.Random(seed)
    made = []
    for _ in range(n):
        label = rng.choice("ab")
        premise, hypothesis = (rng.choices(WORDS, k=8) for _ in range(2))
        if label == "b" and rng.random() < share:
            hypothesis[rng.randrange(8)] = TOLD[rng.randrange(n_words)]
        made.append({"premise": " ".join(premise), "hypothesis": " ".join(hypothesis), "label": label})
    return made


def words_of(n_train: int, share: float, n_words: int) -> set[str]:
    report = audit(rows(n_train, 1, share, n_words), rows(2500, 2, share, n_words))
    return {report.verdicts[question]["verdict"] for question in ("artifacts", "leakage")}


def test_a_flaw_of_many_words_is_not_sound_on_few_training_rows() -> None:
    assert "sound" not in words_of(150, 0.24, 20)


@pytest.mark.slow
@pytest.mark.parametrize(("n_train", "n_words"), [(60, 20), (300, 20), (300, 50)])
def test_a_flaw_of_many_words_is_not_sound_on_some_hundred_training_rows(n_train: int, n_words: int) -> None:
    assert "sound" not in words_of(n_train, 0.24, n_words)


@pytest.mark.slow
def test_enough_training_rows_without_a_flaw_are_sound() -> None:
    assert words_of(4000, 0, 1) == {"sound"}


def repeated(n_texts: int, seed: int) -> list[dict[str, str]]:
    """Each hypothesis in twelve rows, nine in ten of them of one label."""
    rng = random.Random(seed)
    made = []
    for _ in range(n_texts):
        hypothesis, mostly = " ".join(rng.choices(WORDS, k=9)), rng.choice("ab")
        for _ in range(12):
            label = mostly if rng.random() < 0.9 else "ab"[mostly == "a"]
            made.append({"premise": " ".join(rng.choices(WORDS, k=9)), "hypothesis": hypothesis, "label": label})
    return made


def test_copies_of_few_texts_are_not_taken_for_many_training_rows() -> None:
    report = audit(repeated(400, 1), repeated(200, 2))
    verdict = report.verdicts["artifacts"]
    assert verdict["verdict"] == "unresolved"
    assert report.to_dict()["artifacts"]["n_significant"] == 0


def test_a_label_behind_missing_texts_is_not_sound() -> None:
    parts = [rows(n, seed, 0, 1) for n, seed in ((2000, 1), (2500, 2))]
    for part in parts:
        for row in [row for row in part if row["label"] == "b"][::4]:
            row["hypothesis"] = ""
    report = audit(*parts)
    for question in ("artifacts", "leakage"):
        verdict = report.verdicts[question]
        assert verdict["verdict"] == "unresolved"
        assert "lack a text and were left out" in stated_by(verdict)


def test_a_few_missing_texts_raise_no_doubt() -> None:
    assert doubts_of_dropped("train", 1000, {"hypothesis is empty": 10, "no label": 500}) == []
    (doubt,) = doubts_of_dropped("train", 1000, {"hypothesis is empty": 6, "premise is empty": 5})
    assert doubt.why.startswith("11 of the 1,000 rows of train (1.1\N{NO-BREAK SPACE}%) lack a text")


def test_missing_texts_may_all_be_of_the_rarest_label() -> None:
    dropped = {"hypothesis is empty": 9}
    assert doubts_of_dropped("train", 5000, dropped, [4800, 191]) == []
    (doubt,) = doubts_of_dropped("train", 5000, dropped, [4850, 141])
    assert states(doubt.why, "rarest label", "6.0\N{NO-BREAK SPACE}%")
    # Effects do not count a label of so few rows.
    assert doubts_of_dropped("train", 5000, dropped, [4970, 21]) == []


def test_a_few_texts_missing_of_a_rare_label_are_not_sound() -> None:
    """Nine in ten rows are of one label; seven in a hundred of the others lack a text, fewer of all rows."""
    parts = []
    for n, seed in ((4000, 1), (4000, 2)):
        made = rows(n, seed, 0, 1)
        rare = [row for row in made if row["label"] == "b"][::9]
        for row in rare[::14]:
            row["hypothesis"] = ""
        parts.append([row for row in made if row["label"] == "a"] + rare)
    report = audit(*parts)
    for question in ("artifacts", "leakage"):
        verdict = report.verdicts[question]
        assert verdict["verdict"] == "unresolved"
        assert "of the rarest label they may be" in stated_by(verdict)


def test_a_label_with_few_training_rows_takes_soundness_back() -> None:
    gold = np.repeat([0, 1, 2], [500, 60, 49])
    assert scarce_doubts(gold, None) == []
    assert scarce_doubts(gold, np.array([900, 50, 0])) == []
    (doubt,) = scarce_doubts(gold, np.array([900, 49, 0]))
    assert states(doubt.why, "A label with 50 test rows", "50 training rows")
