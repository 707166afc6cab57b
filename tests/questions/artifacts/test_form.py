"""A label behind the form of a text alone is a surface pattern: no set of single texts with one is sound."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.questions.public import audit
from tests.questions.artifacts.form import read_form_by_lift

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = [f"w{number}" for number in range(300)]


def capitals(words: list[str], told: bool) -> str:
    return " ".join(words).upper() if told else " ".join(words)


def spaces(words: list[str], told: bool) -> str:
    return ("  " if told else " ").join(words)


def repeats(words: list[str], told: bool) -> str:
    return " ".join([*words[:7], words[0] if told else words[7]])


def longer(words: list[str], told: bool) -> str:
    return " ".join(words if told else words[:6])


def rows(n: int, seed: int, written: Callable[[list[str], bool], str]) -> list[dict[str, str]]:
    rng = random.Random(seed)
    labels = [rng.choice(("yes", "no")) for _ in range(n)]
    # Of one label three texts in ten are written in another way: four times the limit.
    texts = [written(rng.choices(WORDS, k=8), label == "yes" and rng.random() < 0.3) for label in labels]
    return [{"text": text, "label": label} for text, label in zip(texts, labels, strict=True)]


@pytest.mark.parametrize("written", [capitals, spaces, repeats, longer])
def test_a_label_behind_the_form_of_single_texts_is_a_caution(written: Callable[[list[str], bool], str]) -> None:
    report = audit(rows(1200, 0, written), rows(600, 1, written))
    verdict = report.verdicts["artifacts"]
    assert verdict["verdict"] == "caution"
    assert "form by lift" in verdict["evidence"]


def test_the_form_is_read_as_counts_say() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 400)
    shouted = (codes == 1) & (rng.random(400) < 0.5)
    texts = pl.Series(["ab CD" if loud else "ab cd" for loud in shouted])
    named = read_form_by_lift(texts, codes, pl.Series(["ab cd", "xy ZZ", ""]), ("a", "b"), min_count=8, q=0.01)
    assert named[:2].tolist() == [0, 1]


def test_a_form_that_tells_nothing_names_one_label() -> None:
    rng = np.random.default_rng(0)
    codes = np.sort(rng.integers(0, 2, 400))
    texts = pl.Series([" ".join(rng.choice(WORDS, rng.integers(3, 9))) for _ in range(400)])
    named = read_form_by_lift(texts, rng.permutation(codes), texts, ("a", "b"), min_count=8, q=0.01)
    assert np.unique(named).size == 1
