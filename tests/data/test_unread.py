from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.data.reading import read_dataset
from goldassay.data.unread import Unread, find_unread

if TYPE_CHECKING:
    from pathlib import Path

LONG = [f"a text of more than three words, number {i}" for i in range(30)]
BASE = {"text": LONG, "label": ["a", "b", "c"] * 10}


def unread(**columns: list[Any]) -> Unread:
    return Dataset.from_frame({**BASE, **columns}).unread


@pytest.mark.parametrize(
    ("columns", "choices"),
    [
        ({"possibilities": [["one", "two"]] * 30}, ["possibilities"]),
        ({"choices": ['{"text": ["one", "two"], "label": ["A", "B"]}'] * 30}, ["choices"]),
        ({"listed": ['[{"text": "one"}, {"text": "two"}]'] * 30}, ["listed"]),
        ({f"ans{k}": [f"w{i * k}" for i in range(30)] for k in (1, 2)}, ["ans1", "ans2"]),
        ({f"response_{k}": LONG for k in "AB"}, ["response_A", "response_B"]),
        ({f"solution{k}": LONG for k in "ABC"}, ["solutionA", "solutionB", "solutionC"]),
        ({f"reply{k}": [f"w{i}" for i in range(30)] for k in "ab"}, ["replya", "replyb"]),
        ({"Best Answer": LONG}, ["Best Answer"]),
        ({"options": [["x", "y"]] * 30, "answerKey": ["A", "B", "A"] * 10}, ["options", "answerKey"]),
    ],
)
def test_what_looks_like_choices_is_found(columns: dict[str, list[Any]], choices: list[str]) -> None:
    found = unread(**columns)
    assert list(found.choices) == choices
    assert set(choices) <= set(found.columns)


@pytest.mark.parametrize(
    "columns",
    [
        {"length": list(range(30)), "rating": ["1", "2", "3"] * 10},
        {"kind": ["short name"] * 30},
        {"sentence1_parse": ["(ROOT (S (NP a) (VP b)))"] * 30},
        {"explanation_1": LONG, "explanation_2": LONG},
        {"labels_given": [["a", "b"]] * 30},
        {"score_1": ["1.0", "2.5", "3"] * 10, "score_2": ["1.0", "2.5", "3"] * 10},
        {"generator_1": ["gemma"] * 30, "generator_2": ["gpt"] * 30},
        {"tags": [["Numerical", "Plausible"]] * 30},
        {"title": LONG},
        {"brand": LONG, "branc": LONG, "media": LONG},
    ],
)
def test_what_does_not_look_like_choices(columns: dict[str, list[Any]]) -> None:
    assert unread(**columns).choices == ()


def test_free_text_is_unread_and_auxiliary_columns_are_ignored_with_a_line() -> None:
    dataset = Dataset.from_frame({**BASE, "title": LONG, "rationale": LONG, "url": ["x"] * 30})
    assert dataset.unread == Unread(columns=("title",), auxiliary=("rationale",))
    assert "Ignored as auxiliary, by name: 'rationale'." in dataset.provenance.decisions
    assert "Not read, since they have no role: 'title'." in dataset.provenance.decisions


def test_a_column_can_be_ignored() -> None:
    columns = {**BASE, "title": LONG, "ans1": LONG, "ans2": LONG}
    dataset = Dataset.from_frame(columns, columns="ignore=ans1+ans2+title")
    assert dataset.unread == Unread()
    assert dataset.provenance.roles["ignore"] == "ans1+ans2+title"
    assert dataset.examples.columns == ["example_id", "text", "label"]
    assert Dataset.from_frame({**BASE, "split": ["train"] * 30}, columns={"ignore": "split"}).parts == {}
    with pytest.raises(InputError, match="no such column"):
        Dataset.from_frame(columns, columns="ignore=titel")


def test_a_column_with_a_role_is_read() -> None:
    frame = pl.DataFrame({**BASE, "answer": LONG})
    assert find_unread(frame, {"text", "label"}).choices == ("answer",)
    assert Dataset.from_frame(frame, columns={"premise": "text", "hypothesis": "answer"}).unread == Unread()


@pytest.mark.parametrize(
    ("file", "choices"),
    [
        ("choices/socialiqa-dev.jsonl.gz", ("options",)),
        ("choices/TruthfulQA.csv.gz", ("Best Answer", "Correct Answers", "Incorrect Answers")),
        ("preferences/judgebench-gpt4o.jsonl.gz", ("response_A", "response_B")),
        ("prompts/bbq-data-Religion.jsonl.gz", ("answer_info", "ans0", "ans1", "ans2")),
        ("anli/ANLI_analysis_r1_dev.csv.gz", ()),
        ("sick/SICK.txt.gz", ()),
        ("breaking_nli/dataset.jsonl.gz", ()),
        ("known_errors/varierr.json.gz", ()),
        ("newsgroups20/20_newsgroup.jsonl.gz", ()),
        ("squad/dev-v1.1-rebuilt.json.gz", ()),
        ("stsb/sts-dev.tsv.gz", ()),
    ],
)
def test_choices_of_real_files(data_dir: Path, file: str, choices: tuple[str, ...]) -> None:
    assert read_dataset(data_dir / file).unread.choices == choices
