"""Multiple-choice questions: a leak that was put in is found, where there is none nothing is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data import Dataset
from goldassay.questions.leakage.choices import Questions, holds_choices, read_questions
from goldassay.questions.leakage.options import LeakageChoice
from goldassay.questions.leakage.report import study_leakage

if TYPE_CHECKING:
    from pathlib import Path

WORDS = [f"w{i}" for i in range(40)]


def rows(n: int, leaky: bool, seed: int) -> list[dict[str, Any]]:
    """Questions whose right choice, if leaky, says "exactly" in four of five."""
    rng = np.random.default_rng(seed)
    made = []
    for i in range(n):
        answer = int(rng.integers(4))
        choices = [" ".join(rng.choice(WORDS, 3)) for _ in range(4)]
        if leaky and rng.random() < 0.8:
            choices[answer] += " exactly"
        question = f"What is number {i} of {rng.choice(WORDS)}?"
        made.append({"question": question, "choices": choices, "answer": "ABCD"[answer]})
    return made


def write(path: Path, content: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("leaky", [True, False])
def test_a_leak_in_the_choices_is_found_and_only_then(tmp_path: Path, leaky: bool) -> None:
    report = study_leakage(
        write(tmp_path / "train.jsonl", rows(400, leaky, 0)), write(tmp_path / "test.jsonl", rows(300, leaky, 1)),
        seeds=2, choice=LeakageChoice(map=False),
    )  # fmt: skip
    found = report.to_dict()["leakage"]
    by_condition = {row["condition"]: row for row in found["conditions"]}
    assert list(by_condition) == ["paired", "choices_only", "question_only", "longest_choice"]
    alone = by_condition["choices_only"]
    bits = {row["condition"]: row["information"] for row in found["information"]}
    if leaky:
        assert alone["improvement_low"] > 0.4
        assert bits["choices_only"] > 0.8
        assert by_condition["longest_choice"]["improvement_low"] > 0.2
        assert report.verdicts["leakage"]["verdict"] == "unsound"
    else:
        assert alone["accuracy_low"] < 0.25 < alone["accuracy_high"] + 0.05
        assert abs(bits["choices_only"]) < 0.05
    assert abs(by_condition["question_only"]["improvement"]) < 0.1
    agreement = {row["condition"]: row for row in found["agreement"]}
    assert 0 < agreement["choices_only"]["agreement"] <= 1


def test_questions_in_memory_are_measured_as_those_of_a_file(tmp_path: Path) -> None:
    parts = [rows(120, True, 0), rows(60, True, 1)]
    options: dict[str, Any] = {"seeds": 1, "choice": LeakageChoice(cluster=False, map=False)}
    files = [write(tmp_path / f"{name}.jsonl", part) for name, part in zip(("train", "test"), parts, strict=True)]
    expected = study_leakage(*files, **options).to_dict()
    assert "choices_only" in {row["condition"] for row in expected["leakage"]["conditions"]}
    for convert in (list, pl.DataFrame):
        found = study_leakage(*map(convert, parts), **options).to_dict()
        assert found["figures"] == expected["figures"]
        assert found["verdicts"] == expected["verdicts"]


def frame(**columns: list[Any]) -> Dataset:
    return Dataset.from_frame({"question": ["a?", "b?", "c?"], **columns})


def test_answers_by_position_letter_and_text() -> None:
    choices = [["x", "y"], ["x", "y", "z"], ["p", "q"]]
    for answer in ([1, 2, 0], ["B", "C", "A"], ["y", "z", "p"], ["1", "2", "0"]):
        data = frame(choices=choices, answer=answer)
        assert holds_choices(data)
        assert read_questions(data).answers.tolist() == [1, 2, 0]


def test_questions_without_an_answer_are_counted() -> None:
    found = read_questions(frame(choices=[["x", "y"], ["x"], ["p", "q"]], answer=["A", "A", "E"]))
    assert len(found) == 1
    assert found.dropped == {"fewer than two choices": 1, "no answer among the choices": 1}
    with pytest.raises(InputError, match="no question has an answer"):
        read_questions(frame(choices=[["x", "y"]] * 3, answer=["Z"] * 3))
    with pytest.raises(InputError, match="no column 'answer'"):
        read_questions(frame(choices=[["x", "y"]] * 3))


def test_rows_are_right_once_a_question() -> None:
    questions = Questions("q", ("1", "2"), ("a?", "b?"), (("x", "y"), ("p", "q", "r")), np.array([1, 2]), {})
    made = questions.rows()
    assert made.labels().tolist() == [0, 1, 0, 0, 1]
    assert made.texts("premise") == ["a?", "a?", "b?", "b?", "b?"]


def test_without_a_test_set_no_question_is_in_both_parts(tmp_path: Path) -> None:
    report = study_leakage(write(tmp_path / "all.jsonl", rows(120, True, 0) * 2), seeds=1)
    assert "none in both parts" in report.to_dict()["inputs"][0]["decisions"][-1]


def test_networks_and_conditions_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "train.jsonl", rows(20, True, 0))
    with pytest.raises(InputError, match="leave out model and conditions"):
        study_leakage(path, path, model="bilstm")
