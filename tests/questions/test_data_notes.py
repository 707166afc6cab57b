from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.data.dataset import Dataset
from goldassay.questions.evidence import Evidence
from goldassay.questions.inputs import Inputs, load_inputs
from goldassay.questions.provenance import NO_TEST_PART, data_notes
from goldassay.stats.clusters import cluster_rows
from tests.stated import in_order, says

ROWS = {"text": [f"a text of some words, number {i}" for i in range(60)], "label": ["a", "b"] * 30}


def dataset(**columns: list[Any]) -> Dataset:
    return Dataset.from_frame({**ROWS, **columns})


def test_notes_say_what_counts_as_one_row_and_what_was_not_read() -> None:
    made = dataset(title=ROWS["text"])
    decisions = ("Only the test part is used.", f"{NO_TEST_PART}: 12 rows were set apart.")
    notes = data_notes(made, made, cluster_rows({}, 60), decisions)
    assert notes == [
        decisions[1],
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
    assert data_notes(rare, rare, None) == [says("In the data", "1 label", "10 rows", "'c' (9)")]
    assert data_notes(dataset(label=["a"] * 30 + ["b"] * 20 + ["c"] * 10), None, None) == []


def load(source: Any, columns: str | None = None) -> Inputs:
    return load_inputs(source, None, columns=columns, label_names=None, file_format="auto", settings=Settings())


def test_unread_choices_are_refused_with_the_roles_to_give() -> None:
    columns = {**ROWS, "ans1": ROWS["text"], "ans2": ROWS["text"]}
    message = in_order("'ans1', 'ans2'", "no role", "columns={'ignore': 'ans1+ans2'}")
    with pytest.raises(InputError, match=message):
        load(columns)
    with pytest.raises(InputError, match=message):
        load(Dataset.from_frame(columns))
    with pytest.raises(InputError, match=in_order("no role", "lists of texts as choices")):
        load({**ROWS, "choices": [["one", "two", "three", "four"]] * 60})
    with pytest.raises(InputError, match=in_order("no role", "'choices' as a list of choices")):
        load({**ROWS, "choices": ["one; two; three; four"] * 60})
    lettered = {"question": ROWS["text"], "options": ["A. one\nB. two"] * 60, "answer": ["A", "B"] * 30}
    kept = "columns={'label': 'answer', 'ignore': 'options'}"
    with pytest.raises(InputError, match=in_order("'options', 'answer'", "no role", kept, "list of choices")):
        load(lettered)
    assert load(lettered, "label=answer,ignore=options").train.label_names == ("A", "B")
    with pytest.raises(InputError, match="'answer' looks like choices"):
        load({**ROWS, "answer": ROWS["text"]})
    assert len(load(columns, "ignore=ans1+ans2").train) == 60
    # Other unread columns are named and block nothing.
    assert load({**ROWS, "title": ROWS["text"]}).train.unread.columns == ("title",)


def test_folds_keep_groups_together() -> None:
    writers = {**ROWS, "writer": [f"w{i // 3}" for i in range(60)]}

    def folds_of(clusters: str = "auto", split_by: str | None = None) -> pl.DataFrame:
        data = {"clusters": clusters, **({} if split_by is None else {"split_by": split_by})}
        settings = Settings.model_validate({"data": data})
        evidence = Evidence(writers, columns="group=writer", settings=settings, steps=Steps(quiet=True))
        frame = evidence.test.examples.select("writer", pl.Series("fold", evidence.split.fold_codes))
        return frame.group_by("writer").agg(pl.col("fold").n_unique())

    for options in ({}, {"clusters": "none"}, {"clusters": "writer"}, {"split_by": "writer"}):
        assert folds_of(**options)["fold"].max() == 1
    assert folds_of(split_by="none")["fold"].max() > 1
    with pytest.raises(InputError, match=in_order("hang together", "split_by")):
        writers["same"] = ["one"] * 60
        folds_of(split_by="same")
    with pytest.raises(InputError, match="'nowhere'"):
        folds_of(split_by="nowhere")
