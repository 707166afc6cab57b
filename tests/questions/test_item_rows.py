"""Items to look at first: each stands there for a reason that is true of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import goldassay
from goldassay.view.rows import RowTable

if TYPE_CHECKING:
    from pathlib import Path
from tests.questions.leakage.test_choices import items_with
from tests.questions.test_item_patterns import QUICK, made
from tests.stated import states

_BY_LENGTH = "Picking by the rule: longest (no training) finds the right choice."
_BY_PATTERN = "Patterns mined from other items pick the right choice."


def first(items: list[dict[str, Any]]) -> list[dict[str, str]]:
    report = goldassay.audit(items)
    assert report.first is not None
    return [{key: str(value) for key, value in row.items()} for row in report.first.rows]


def choices_of(row: dict[str, str]) -> dict[str, str]:
    """{letter: text} of the choices as they are shown."""
    lines = [re.fullmatch(r"([A-Z])\. (.*)", line) for line in row["text"].splitlines()]
    return {line[1]: line[2] for line in lines if line is not None}


def answer_of(row: dict[str, str]) -> str:
    return choices_of(row)[row["label"]]


def test_items_that_the_strongest_rule_gives_away_are_named() -> None:
    found = first(items_with("rule", 600, 0))
    named = [row for row in found if row["why"] == _BY_LENGTH]
    assert len(named) >= 2
    for row in named:
        choices = choices_of(row)
        assert max(choices, key=lambda letter: len(choices[letter])) == row["label"]


def test_items_whose_words_give_them_away_are_named() -> None:
    whys = {row["why"]: row for row in first(made(1500, 0.3, 0))}
    assert "told" in answer_of(whys[_BY_PATTERN])
    (told,) = [row for why, row in whys.items() if "predictable from the choices alone" in why][:1]
    assert "told" in answer_of(told)


def test_items_that_cannot_be_right_come_first() -> None:
    items = made(300, 0.0, 0)
    items[40]["choices"][1] = items[40]["choices"][0]
    items[40]["answer"] = 1
    row, *others = first(items)
    assert all(part in row["why"] for part in ("is also a wrong choice.", "Two choices are the same."))
    assert row["label"] == "B"
    assert row["text"] not in [each["text"] for each in others]


@pytest.mark.parametrize(
    ("items", "question", "reader", "mend"),
    [
        (items_with("rule", 600, 0), "leakage", "rule: longest", "as long as the others"),
        (made(600, 0.3, 0), "artifacts", "naive Bayes on words", "that they give away"),
    ],
    ids=["rule", "words"],
)
def test_the_items_behind_a_flaw_are_counted_as_the_workbench_filters_them(
    items: list[dict[str, Any]], question: str, reader: str, mend: str, tmp_path: Path
) -> None:
    report = goldassay.audit(items, settings=QUICK)
    report.save(tmp_path)
    assert report.issues is not None
    (found,) = [each for each in report.issues if each.filter == f"choices: {reader}=right"]
    facet = RowTable.open(tmp_path / "tables" / "examples.parquet").rules[f"choices: {reader}"]
    assert found.question == question
    assert found.n_rows == int((facet.codes == facet.values.index("right")).sum()) > 0
    assert found.worst.rpartition(" → ")[2] in "ABCDE"
    assert mend in found.mend


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
