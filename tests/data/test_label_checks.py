from __future__ import annotations

import pytest

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.data.facts import check_same_labels, require_classes


def labelled(*labels: str) -> Dataset:
    return Dataset.from_frame({"text": [f"t {i}" for i in range(len(labels))], "label": labels})


def test_test_labels_that_train_lacks():
    train = labelled("entailment", "neutral", "contradiction")
    check_same_labels(train, labelled("entailment", "neutral"))
    with pytest.raises(InputError, match="merge neutral and contradiction"):
        check_same_labels(train, labelled("entailment", "non-entailment"))
    with pytest.raises(InputError, match="lacks \\(a"):
        check_same_labels(train, labelled("a", "b"))


def test_one_class_is_too_few():
    with pytest.raises(InputError, match="only the label 'x'"):
        require_classes(labelled("x", "x"))
    require_classes(labelled("x", "y"))
    with pytest.raises(InputError, match="there are no labels"):
        require_classes(Dataset.from_frame({"text": ["a"]}))
