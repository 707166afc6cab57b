from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from tests.stated import says

COLUMNS = {"premise": ["a", "b", "c"], "hypothesis": ["x", "y", "z"], "label": ["n", "e", "c"], "split": list("uvu")}


@pytest.mark.parametrize(
    "make",
    [
        pl.DataFrame,
        pl.LazyFrame,
        pd.DataFrame,
        pa.table,
        dict,
        lambda columns: [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
        lambda columns: {name: np.array(values) for name, values in columns.items()},
    ],
)
def test_every_kind_of_frame_gives_the_same(make):
    dataset = Dataset.from_frame(make(COLUMNS), name="d")
    assert dataset.texts("premise") == ["a", "b", "c"]
    assert dataset.is_pair
    assert dataset.label_names == ("entailment", "neutral", "contradiction")
    assert dataset.labels().tolist() == [1, 0, 2]
    assert dataset.labels().dtype == np.int64
    assert list(dataset.parts) == ["u", "v"]
    assert len(dataset.parts["u"]) == 2


def test_take_keeps_label_names():
    dataset = Dataset.from_frame(COLUMNS)
    assert dataset.take(np.array([2, 0])).texts("hypothesis") == ["z", "x"]
    part = dataset.take(np.array([False, True, False]))
    assert part.label_names == dataset.label_names
    assert part.labels().tolist() == [0]


def test_unlabelled():
    dataset = Dataset.from_frame({"text": ["a", "b"], "note": ["x", "y"]})
    assert dataset.label_names == ()
    with pytest.raises(InputError, match=r"no labels \(columns: 'text', 'note'\)"):
        dataset.labels()
    with pytest.raises(InputError, match="has no premise"):
        dataset.texts("premise")


def test_html_is_escaped():
    dataset = Dataset.from_frame({"text": ["<script>alert(1)</script>", "b" * 1000], "label": ["<b>", "c"]}, name="<i>")
    page = dataset._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<i>" not in page
    assert len(page) < 1000


def test_repr():
    assert repr(Dataset.from_frame(COLUMNS, name="d")) == says(
        "Dataset('d'", "3 examples", "premise + hypothesis", "entailment, neutral, contradiction"
    )


def test_columns_that_are_numbers_or_dates_become_text():
    dataset = Dataset.from_frame(pd.DataFrame({"text": [1, 2], "label": [True, False]}))
    assert dataset.texts("text") == ["1", "2"]
    assert dataset.label_names == ("false", "true")


def test_categories_of_pandas():
    frame = pd.DataFrame({"text": ["a", "b"], "label": pd.Categorical(["x", "y"])})
    assert Dataset.from_frame(frame).label_names == ("x", "y")


def test_empty_texts_are_dropped_and_counted():
    dataset = Dataset.from_frame({"text": ["a", " \t\u2003", "", None], "label": ["x", "y", "z", "x"]})
    assert dataset.provenance.dropped == {"text is empty": 3}
    assert dataset.label_names == ("x",)
    with pytest.raises(InputError, match="no row is left: text is empty in 2"):
        Dataset.from_frame({"text": ["", " "], "label": ["x", "y"]})


def test_duplicate_and_missing_ids():
    with pytest.raises(InputError, match="line 3, column 'id': the id '1' occurs twice"):
        Dataset.from_frame({"id": [1, 2, 1], "text": ["a", "b", "c"]})
    with pytest.raises(InputError, match="line 2, column 'id': the id is missing"):
        Dataset.from_frame({"id": [1, None], "text": ["a", "b"]})


def test_repeated_ids_are_mended_by_the_column_that_makes_them_whole():
    rows = {
        "row": [1, 2, 1, 2],
        "engine": ["a", "a", "b", "b"],
        "note": ["v", "w", "x", "y"],
        "text": ["p", "q", "r", "s"],
    }
    with pytest.raises(InputError, match=r"engine\+row"):
        Dataset.from_frame(rows, columns={"id": "row"})
    whole = Dataset.from_frame(rows, columns={"id": "engine+row"})
    assert whole.examples["example_id"].to_list() == ["a/1", "a/2", "b/1", "b/2"]


def test_ids_that_count_within_groups():
    dataset = Dataset.from_frame({"id": [1, 2, 1], "group": ["a", "a", "b"], "text": ["p", "q", "r"]})
    assert dataset.examples["example_id"].to_list() == ["a/1", "a/2", "b/1"]
    joined = Dataset.from_frame({"id": [1, 1], "kind": ["a", "b"], "text": ["p", "q"]}, columns="id=kind+id")
    assert joined.examples["example_id"].to_list() == ["a/1", "b/1"]
    assert "kind" in joined.examples.columns


def test_parts_are_named_alike():
    dataset = Dataset.from_frame({"text": list("abcde"), "split": ["TRIAL", "validation", "Train", "testing", "extra"]})
    assert list(dataset.parts) == ["train", "dev", "test", "extra"]
    assert len(dataset.parts["dev"]) == 2


def test_no_rows_and_no_table():
    with pytest.raises(InputError, match="not a single row"):
        Dataset.from_frame({"text": []})
    with pytest.raises(InputError, match="holds no rows and columns"):
        Dataset.from_frame(3)
    with pytest.raises(InputError, match="item 2 is a str"):
        Dataset.from_frame([{"text": "a"}, "b"])
    with pytest.raises(InputError, match="differ in length"):
        Dataset.from_frame({"text": ["a"], "label": ["x", "y"]})


def test_lists_of_texts_are_joined():
    found = Dataset.from_frame({"text": [["a", "b"], ["c"]], "label": ["x", "y"]})
    assert found.examples["text"].to_list() == ["a\nb", "c"]
    assert any("'text' are joined" in said for said in found.provenance.decisions)
    with pytest.raises(InputError, match="lists or objects, not text"):
        Dataset.from_frame(pl.DataFrame({"text": [[1], [2]]}))


class _Feature:
    def __init__(self, names):
        self.names = names


class _Hub:
    """What the package uses of a `datasets.Dataset`, whose table beneath knows nothing of a selection."""

    __module__ = "datasets.arrow_dataset"

    def __init__(self, table):
        self.table = table
        self.features = {"text": object(), "label": _Feature(["neg", "pos"])}

    def with_format(self, kind):
        assert kind == "arrow"
        return self

    def __getitem__(self, rows):
        return self.table


def test_hub_dataset_takes_class_names():
    dataset = Dataset.from_frame(_Hub(pa.table({"text": ["a", "b", "c"], "label": [1, 0, -1]})))
    assert dataset.label_names == ("neg", "pos")
    assert dataset.labels().tolist() == [1, 0]
    assert dataset.provenance.dropped == {"label is -1 (hidden)": 1}
