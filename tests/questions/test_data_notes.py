from __future__ import annotations

from typing import Any

import pytest

from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.data import Dataset
from goldassay.questions.data_notes import data_notes
from goldassay.questions.evidence import Evidence
from goldassay.questions.inputs import load_inputs
from goldassay.stats.clusters import cluster_rows
from tests.stated import in_order, says, states

ROWS = {"text": [f"a text of some words, number {i}" for i in range(60)], "label": ["a", "b"] * 30}


def dataset(**columns: list[Any]) -> Dataset:
    return Dataset.from_frame({**ROWS, **columns})


def test_notes_say_what_counts_as_one_row_and_what_was_not_read() -> None:
    made = dataset(title=ROWS["text"])
    notes = data_notes(made, made, cluster_rows({}, 60), ("Only the test part is used.", "12 rows were set apart."))
    assert notes == [
        "12 rows were set apart.",
        "Each row counts by itself.",
        says("Not read:", "'title'", "--columns", "ignore=title"),
    ]


def test_rare_labels_and_a_single_one_are_named() -> None:
    rare = dataset(label=["a"] * 30 + ["b"] * 21 + ["c"] * 9)
    same = dataset(label=["a"] * 60)
    assert data_notes(rare, same, None) == [
        says("training part", "1 label", "10 rows", "'c' (9)"),
        says("evaluation part", "label 'a'", "nothing"),
    ]
    assert data_notes(dataset(label=["a"] * 30 + ["b"] * 20 + ["c"] * 10), None, None) == []


def load(source: Any, columns: str | None = None) -> tuple[Dataset, Dataset | None, tuple[str, ...]]:
    return load_inputs(source, None, columns=columns, label_names=None, file_format="auto", settings=Settings())


def test_unread_choices_are_refused_with_the_roles_to_give() -> None:
    columns = {**ROWS, "ans1": ROWS["text"], "ans2": ROWS["text"]}
    message = in_order("'ans1', 'ans2'", "no role", "columns={'ignore': 'ans1+ans2'}")
    with pytest.raises(InputError, match=message):
        load(columns)
    with pytest.raises(InputError, match=message):
        load(Dataset.from_frame(columns))
    with pytest.raises(InputError, match=in_order("list of texts", "column for each choice")):
        load({**ROWS, "choices": ["one; two; three; four"] * 60})
    with pytest.raises(InputError, match="'answer' looks like choices"):
        load({**ROWS, "answer": ROWS["text"]})
    train, test, _ = load(columns, "ignore=ans1+ans2")
    assert test is not None
    assert len(train) + len(test) == 60
    # Other unread columns are named and block nothing.
    assert load({**ROWS, "title": ROWS["text"]})[0].unread.columns == ("title",)


def test_the_audits_own_split_keeps_groups_together() -> None:
    writers = {**ROWS, "writer": [f"w{i // 3}" for i in range(60)]}
    train, test, decisions = load(writers, "group=writer")
    assert test is not None
    assert not set(train.examples["writer"]) & set(test.examples["writer"])
    assert states(decisions[-1], "no sentence", "both parts", "same writer")
    settings = Settings.model_validate({"data": {"split_by": "none", "clusters": "writer"}})
    evidence = Evidence(writers, columns="group=writer", settings=settings, steps=Steps(quiet=True))
    assert set(evidence.train.examples["writer"]) & set(evidence.test.examples["writer"])
    assert evidence.clusters.columns == ("writer",)
    assert evidence.clusters.n_clusters < len(evidence.test)
