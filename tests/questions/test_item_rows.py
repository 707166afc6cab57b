"""Items to look at first: each stands there for a reason that is true of it."""

from __future__ import annotations

from typing import Any

import numpy as np

import goldassay
from tests.questions.leakage.test_choices import items_with
from tests.questions.test_item_patterns import made
from tests.stated import states

_BY_LENGTH = "Picking by the rule: longest (no training) finds the right choice."
_BY_PATTERN = "Patterns mined from other items pick the right choice."


def first(items: list[dict[str, Any]]) -> list[dict[str, str]]:
    report = goldassay.audit(items)
    assert report.first is not None
    return [{key: str(value) for key, value in row.items()} for row in report.first.rows]


def test_items_that_the_strongest_rule_gives_away_are_named() -> None:
    found = first(items_with("rule", 600, 0))
    named = [row for row in found if row["why"] == _BY_LENGTH]
    assert len(named) >= 2
    for row in named:
        choices = [line.removeprefix("– ") for line in row["text"].splitlines() if line.startswith("– ")]
        assert max(choices, key=len) == row["label"]


def test_items_whose_words_give_them_away_are_named() -> None:
    whys = {row["why"]: row for row in first(made(1500, 0.3, 0))}
    assert "told" in whys[_BY_PATTERN]["label"]
    (told,) = [row for why, row in whys.items() if "predictable from the choices alone" in why][:1]
    assert "told" in told["label"]


def test_items_that_cannot_be_right_come_first() -> None:
    items = made(300, 0.0, 0)
    items[40]["choices"][1] = items[40]["choices"][0]
    items[40]["answer"] = 2
    row = first(items)[0]
    assert row["why"] == "Two choices are the same."
    assert row["label"] == items[40]["choices"][2]


def test_a_rule_that_hits_in_one_subject_is_said() -> None:
    items = items_with("none", 1200, 1)
    subjects = np.random.default_rng(0).integers(10, size=len(items)).tolist()
    for item, subject in zip(items, subjects, strict=True):
        item["subject"] = f"s{subject}"
        if subject == 3:
            item["choices"][item["answer"]] += " and much more than that"
    report = goldassay.measure_leakage(items, seeds=2)
    sentences = " ".join(report.to_dict()["leakage"]["sentences"])
    assert states(sentences, "1 of 10 subjects", "beyond chance")
    assert "s3" in sentences
    table = report.tables["choice_subjects"]
    assert set(table.filter(table["q"] < 0.05)["subject"]) == {"s3"}


def test_long_texts_are_cut_on_the_page_and_whole_in_the_files() -> None:
    long = "\n".join(["a line of it"] * 50)
    items = [
        {"prompt": f"q{at} {'word ' * 200}", "chosen": f"{at} {'good ' * 100}", "rejected": f"{at} {long}"}
        for at in range(60)
    ]
    items[0]["rejected"] = items[1]["rejected"] = "no"
    items[1]["prompt"], items[1]["chosen"] = items[0]["prompt"], items[0]["chosen"]
    report = goldassay.audit(items, quiet=True)
    assert report.first is not None
    shown = [str(row["text"]) for row in report.first.rows]
    assert shown
    assert all(len(text) < 1300 and text.count("\n") < 10 and "…" in text for text in shown)
    assert max(len(text) for each in report.tables["examples"]["choices"] for text in each) > 600
