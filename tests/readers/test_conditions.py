from __future__ import annotations

import numpy as np
import pytest

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.readers.conditions import conditions_of, roles_of, shown_texts, transformations_of


@pytest.mark.parametrize(
    ("columns", "conditions"),
    [
        (("premise", "hypothesis"), ("paired", "premise_only", "hypothesis_only")),
        (("question", "context"), ("paired", "question_only", "context_only")),
        (("text",), ("text",)),
        (("sentence",), ("text",)),
    ],
)
def test_conditions_of_each_kind_of_dataset(columns, conditions):
    assert conditions_of(columns) == conditions
    assert roles_of(conditions[0], columns) == columns
    for condition, role in zip(conditions[1:], columns, strict=False):
        assert roles_of(condition, columns) == (role,)


@pytest.mark.parametrize(
    ("condition", "columns"),
    [("hypothesis_only", ("text",)), ("paired", ("text",)), ("text", ("premise", "hypothesis")), ("typo", ("text",))],
)
def test_refuses_what_does_not_apply(condition, columns):
    with pytest.raises(InputError, match="does not apply"):
        roles_of(condition, columns)


def pairs(premises, hypotheses, ids=None):
    ids = ids or [str(i) for i in range(len(premises))]
    rows = [
        {"id": i, "premise": p, "hypothesis": h, "label": "entailment"}
        for i, p, h in zip(ids, premises, hypotheses, strict=True)
    ]
    return Dataset.from_frame(rows)


def test_transformations_keep_one_property_and_destroy_the_rest():
    data = pairs(["A big dog sleeps in the sun."], ["The dog isn't a cat."])
    assert transformations_of(data.text_columns) == ("shuffled", "overlap", "length", "empty")
    assert shown_texts(data, "overlap") == {"premise": ["A dog the"], "hypothesis": ["The dog a"]}
    assert shown_texts(data, "length") == {"premise": ["# # # # # # # #"], "hypothesis": ["# # # # # # #"]}
    assert shown_texts(data, "empty") == {"premise": [""], "hypothesis": [""]}
    assert shown_texts(data, "hypothesis_only") == {"hypothesis": ["The dog isn't a cat."]}
    shuffled = shown_texts(data, "shuffled")["premise"][0].split()
    assert sorted(shuffled) == sorted(["A", "big", "dog", "sleeps", "in", "the", "sun", "."])


def test_an_example_is_shuffled_alike_wherever_it_stands():
    texts = [f"one two three four five six seven {i}" for i in range(9)]
    whole = pairs(texts, texts)
    part = whole.take(np.array([7, 2]))
    all_of_them = shown_texts(whole, "shuffled")
    assert shown_texts(part, "shuffled")["premise"] == [all_of_them["premise"][7], all_of_them["premise"][2]]
    assert all_of_them["premise"] != all_of_them["hypothesis"]
    assert shown_texts(whole, "shuffled", seed=1) != all_of_them
    assert len({tuple(text.split().index(word) for word in ("one", "two")) for text in all_of_them["premise"]}) > 3


def test_single_texts_have_no_overlap():
    assert transformations_of(("text",)) == ("shuffled", "length", "empty")
    with pytest.raises(InputError, match="does not apply"):
        roles_of("overlap", ("text",))
