"""Joined sets hold the rows of all, and only what all have."""

from __future__ import annotations

import pytest

from goldassay import Dataset
from goldassay.core.errors import InputError
from goldassay.lab.papers.sources import join_sets


def made(name: str, *labels: str, **more: str) -> Dataset:
    return Dataset.from_frame(
        [{"premise": f"p{i}", "hypothesis": f"{name} {i}", "label": label, **more} for i, label in enumerate(labels)],
        name=name,
    )


def test_rows_follow_each_other_under_ids_of_their_own():
    parts = {"a": made("a", "entailment", "neutral"), "b": made("b", "neutral", "entailment", genre="x")}
    joined = join_sets("both", parts)
    assert joined.name == "both"
    assert joined.examples["hypothesis"].to_list() == ["a 0", "a 1", "b 0", "b 1"]
    assert joined.examples["label"].to_list() == ["entailment", "neutral", "neutral", "entailment"]
    assert joined.examples["example_id"].n_unique() == 4
    assert joined.examples.columns == ["example_id", "premise", "hypothesis", "label"]
    assert joined.label_names == parts["a"].label_names


def test_a_part_may_lack_a_label():
    three = made("a", "entailment", "neutral", "contradiction")
    joined = join_sets("both", {"b": made("b", "entailment", "neutral"), "a": three})
    assert joined.label_names == three.label_names
    assert len(joined) == 5


def test_other_labels_are_refused():
    with pytest.raises(InputError, match="join sets of one kind"):
        join_sets("both", {"a": made("a", "entailment", "neutral"), "b": made("b", "yes", "no")})
