"""Labels that stand behind how a text is written, and behind no word: no such set is sound."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from goldassay.questions.public import audit
from tests.stated import stated_by, states

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = [f"w{number}" for number in range(300)]


def rows(n: int, seed: int, written: Callable[[list[str], bool], str]) -> list[dict[str, str]]:
    rng = random.Random(seed)
    made = []
    for _ in range(n):
        told = rng.random() < 0.5
        premise, hypothesis = (rng.choices(WORDS, k=8) for _ in range(2))
        made.append(
            {"premise": " ".join(premise), "hypothesis": written(hypothesis, told), "label": "yes" if told else "no"}
        )
    return made


def capital(words: list[str], told: bool) -> str:
    return " ".join(words).capitalize() if told else " ".join(words)


def spaces(words: list[str], told: bool) -> str:
    return ("  " if told else " ").join(words)


def repeats(words: list[str], told: bool) -> str:
    return " ".join([*words[:7], words[0] if told else words[7]])


@pytest.mark.parametrize("written", [capital, spaces, repeats])
def test_how_a_text_is_written_is_read(written: Callable[[list[str], bool], str]) -> None:
    report = audit(rows(1200, 0, written), rows(600, 1, written))
    verdict = report.verdicts["leakage"]
    assert verdict["verdict"] == "unsound"
    assert "form by lift (hypothesis)" in verdict["headline"]["label"]


def test_rows_of_few_passages_are_never_sound() -> None:
    def shared(n: int, seed: int) -> list[dict[str, str]]:
        plain = rows(n, seed, lambda words, _: " ".join(words))
        return [{**row, "premise": f"passage {place % 4} {WORDS[place % 4]}"} for place, row in enumerate(plain)]

    report = audit(shared(1200, 0), shared(3000, 1))
    for question in ("artifacts", "leakage"):
        verdict = report.verdicts[question]
        assert verdict["verdict"] == "unresolved"
        assert states(stated_by(verdict), "a fifth", "test rows", "one premise")


def test_what_could_not_have_found_planted_words_is_never_sound() -> None:
    plain = [rows(n, seed, lambda words, _: " ".join(words)) for n, seed in ((150, 0), (3000, 1))]
    verdict = audit(*plain).verdicts["artifacts"]
    assert verdict["verdict"] == "unresolved"
    assert states(stated_by(verdict), "“ten words”", "no planted share", "7.5")


def test_a_test_part_of_one_label_is_never_sound() -> None:
    plain = rows(600, 0, lambda words, _: " ".join(words))
    same = [{**row, "label": "yes"} for row in rows(600, 1, lambda words, _: " ".join(words))]
    report = audit(plain, same)
    for question in ("artifacts", "leakage"):
        assert report.verdicts[question]["verdict"] == "not measurable"
        assert "all test rows have the same label" in stated_by(report.verdicts[question])


def test_where_all_are_written_alike_the_form_gains_nothing() -> None:
    report = audit(rows(1200, 0, lambda words, _: " ".join(words)), rows(600, 1, lambda words, _: " ".join(words)))
    assert report.verdicts["leakage"]["verdict"] in ("sound", "unresolved")
    effects = report.to_dict()["leakage"]["effects"]["effects"]
    of_form = [row for row in effects if row["reader"] == "form of the text"]
    assert {row["part"] for row in of_form} == {"premise", "hypothesis"}
    assert all(row["reason"] or row["low"] < 0 for row in of_form if row["measure"] != "information share")
