"""Labels that stand behind two cues together, and behind neither alone: a flaw in leakage and in artifacts."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from goldassay.questions.public import audit

if TYPE_CHECKING:
    from collections.abc import Callable

    Written = Callable[[list[str], random.Random, bool], str]

WORDS = [f"w{number}" for number in range(200)]
GOOD, BAD = ["kind", "calm", "warm", "fair"], ["grim", "vile", "sour", "mean"]


def rows(n: int, seed: int, written: Written) -> list[dict[str, str]]:
    rng = random.Random(seed)
    made = []
    for _ in range(n):
        told = rng.random() < 0.5
        premise, hypothesis = (rng.choices(WORDS, k=8) for _ in range(2))
        text = written(hypothesis, rng, told)
        made.append({"premise": " ".join(premise), "hypothesis": text, "label": "yes" if told else "no"})
    return made


def far_apart(words: list[str], rng: random.Random, told: bool) -> str:
    """Red or tan at the beginning and two or six at the end: yes for red and two, and for tan and six."""
    red = rng.random() < 0.5
    return " ".join(["red" if red else "tan", *words, "two" if red == told else "six"])


def agreeing(words: list[str], rng: random.Random, told: bool) -> str:
    """Two adjectives agree in polarity: yes."""
    good = rng.random() < 0.5
    one, two = (rng.choice(GOOD if each else BAD) for each in (good, good == told))
    return " ".join([one, *words, two])


def point_and_capital(words: list[str], rng: random.Random, told: bool) -> str:
    """A capital and a final point, or neither: yes."""
    capital = rng.random() < 0.5
    text = " ".join(words)
    return (text.capitalize() if capital else text) + ("." if capital == told else "")


def which_comes_first(words: list[str], rng: random.Random, told: bool) -> str:
    at = rng.randrange(1, 4)
    one, two = ("cat", "dog") if told else ("dog", "cat")
    return " ".join([*words[:at], one, *words[at : at + 4], two, *words[at + 4 :]])


@pytest.mark.parametrize("written", [far_apart, agreeing, point_and_capital, which_comes_first])
def test_two_cues_that_tell_together_are_a_flaw(written: Written) -> None:
    report = audit(rows(1800, 0, written), rows(700, 1, written))
    assert report.verdicts["leakage"]["verdict"] == report.verdicts["artifacts"]["verdict"] == "unsound"
    assert report.verdicts["artifacts"]["evidence"].startswith("Reading interactions of words")
    found = report.to_dict()
    effects = {
        question: {
            (each["part"], each["measure"]): (each["value"], each["high"])
            for each in found[question]["effects"]["effects"]
            if each["reader"] == "interactions of words"
        }
        for question in ("leakage", "artifacts")
    }
    # One reading serves both questions, and no other reader of words alone sees it.
    assert effects["artifacts"].items() <= effects["leakage"].items()
    assert {part for part, _ in effects["leakage"]} == {"premise", "hypothesis"}
    # Patterns are of each text, too.
    assert {each["part"] for each in found["artifacts"]["effects"]["effects"]} == {"premise", "hypothesis"}
    others = [
        each
        for each in found["artifacts"]["effects"]["effects"]
        if each["reader"] in ("patterns by share", "patterns by lift")
    ]
    assert all(each["reason"] or each["low"] < each["caution"] for each in others)
