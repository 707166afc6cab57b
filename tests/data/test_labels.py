from __future__ import annotations

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.data.labels import clean_labels, nli_names, ordered
from goldassay.data.roles import with_values
from tests.stated import in_order


def pairs(labels, **more):
    n = len(labels)
    return Dataset.from_frame(
        {"premise": [f"p {i}" for i in range(n)], "hypothesis": [f"h {i}" for i in range(n)], "label": labels, **more}
    )


def texts(labels):
    return Dataset.from_frame({"text": [f"t {i}" for i in range(len(labels))], "label": labels})


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["e", "n", "c"], ("entailment", "neutral", "contradiction")),
        (["NEUTRAL", "ENTAILMENT", "CONTRADICTION"], ("entailment", "neutral", "contradiction")),
        (["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"], ("entailment", "neutral", "contradiction")),
        (["Yes", "Maybe", "No"], ("entailment", "neutral", "contradiction")),
        (["not_entailment", "entailment"], ("entailment", "non-entailment")),
        (["non_entailment", "entailment"], ("entailment", "non-entailment")),
        (["yes", "no"], ("no", "yes")),
        (["0", "1", "2"], ("0", "1", "2")),
        ([0, 1, 2], ("0", "1", "2")),
        (["e", "n", "x"], ("e", "n", "x")),
        (["e", "e"], ("e",)),
    ],
)
def test_nli_names_only_where_all_labels_fit(labels, names):
    dataset = pairs(labels)
    assert dataset.label_names == names
    renamed = any("usual names" in decision for decision in dataset.provenance.decisions)
    assert renamed == (set(names) != {str(label) for label in labels})


def test_single_texts_keep_their_letters():
    assert texts(["e", "n", "c"]).label_names == ("c", "e", "n")


def test_rows_without_label_are_dropped_by_reason():
    dataset = pairs(["entailment", "-", "", None, "neutral", " - "])
    assert len(dataset) == 2
    assert dataset.provenance.dropped == {"gold label is '-'": 2, "label is empty": 1, "label is null": 1}
    assert dataset.provenance.n_read == 6
    assert dataset.examples["example_id"].to_list() == ["0", "4"]


def test_minus_one_is_hidden_only_beside_codes_from_zero():
    assert pairs([0, 1, -1]).provenance.dropped == {"label is -1 (hidden)": 1}
    assert texts(["1", "-1", "1"]).label_names == ("-1", "1")
    assert texts(["0", "2", "-1"]).label_names == ("-1", "0", "2")


def test_floats_of_whole_numbers_lose_the_point():
    assert texts([1.0, None, 0.0]).label_names == ("0", "1")


def test_infinite_labels_are_missing() -> None:
    """So are NaN; and a whole number that no integer column holds stays text."""
    clean = clean_labels(pl.Series([1.0, float("inf"), 0.0, float("nan"), -float("inf")]), is_pair=False)
    assert clean.values.to_list() == ["1", None, "0", None, None]
    assert clean_labels(pl.Series([1e300, 1.0]), is_pair=False).values.null_count() == 0


def test_fractions_are_scores():
    dataset = texts(["3.8", "1.0", "", "2.5"])
    assert dataset.label_names == ()
    assert dataset.examples["label"].to_list() == [3.8, 1.0, 2.5]
    assert dataset.examples["label"].dtype == pl.Float64
    assert dataset.provenance.dropped == {"score is empty": 1}


def test_all_dashes_are_refused():
    with pytest.raises(InputError, match=r"no row has a label \(2 times: gold label is '-'\)"):
        pairs(["-", "-"])


def test_class_names():
    clean = clean_labels(pl.Series([1, 0, -1, 7]), False, ("neg", "pos"))
    assert clean.values.to_list() == ["pos", "neg", None, "7"]


def test_a_label_outside_the_given_set_is_refused_by_row(tmp_path):
    from goldassay.data.reading import read_dataset

    path = tmp_path / "a.tsv"
    path.write_text("premise\thypothesis\tlabel\na\tb\tentailment\nc\td\tmaybe so\n")
    with pytest.raises(InputError, match=in_order("line 3, column 'label'", "'maybe so'", "none of")):
        read_dataset(path, label_names=["entailment", "neutral"])
    path.write_text("premise\thypothesis\tlabel\na\tb\tc\nc\td\te\n")
    assert read_dataset(path, label_names=["e", "n", "c"]).label_names == ("entailment", "neutral", "contradiction")
    assert read_dataset(path, label_names=["entailment", "contradiction"]).label_names == (
        "entailment",
        "contradiction",
    )


def test_order():
    assert ordered(["neutral", "contradiction", "entailment"]) == ("entailment", "neutral", "contradiction")
    assert ordered(["b", "a"]) == ("a", "b")
    assert nli_names([]) == {}


def test_annotators_share_the_names():
    dataset = pairs(["e", "n", "c"], annotator_labels=[["e", "e"], ["n"], ["c", "e", ""]])
    assert dataset.examples["annotator_labels"].to_list()[2] == ["contradiction", "entailment"]


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["1", "1.0", "0", "0.0"], ("0", "1")),
        (["1.0", "0.0"], ("0.0", "1.0")),
        ([1, "1", 1.0, True, 0, False], ("0", "1")),
        (["true", "false"], ("false", "true")),
        (["1.0", "1", "version 1.0"], ("1", "version 1.0")),
    ],
)
def test_spellings_of_one_number_are_one_label(labels, names):
    dataset = texts(labels)
    assert sorted(dataset.label_names) == sorted(names)
    said = any("are one number" in each for each in dataset.provenance.decisions)
    assert said is (len({str(each) for each in labels}) > len(names))


def test_labels_that_may_be_none_are_said_and_left_out():
    frame = {"text": [f"t {i}" for i in range(6)], "label": ["a", "b", "NA", "N/A", "a", "b"]}
    (said,) = (each for each in Dataset.from_frame(frame).provenance.decisions if "'NA'" in each)
    assert "NA:" in said
    left = Dataset.from_frame(frame, columns=with_values(None, {"label": {"NA": "", "N/A": ""}}))
    assert (left.label_names, left.examples.height) == (("a", "b"), 4)
    assert with_values(None, "label=NA:,N/A:") == with_values(None, {"label": {"NA": "", "N/A": ""}})
