"""What a study demands of the labels of its datasets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.entry_point import option
from goldassay.core.errors import InputError
from goldassay.data.labels import NON_ENTAILMENT

if TYPE_CHECKING:
    from goldassay.data.dataset import Dataset


def check_same_labels(train: Dataset, test: Dataset) -> None:
    """Refuse a test set with labels that the training set lacks.

    Raises:
        InputError: Names the test set, the labels, and the mend.
    """
    missing = [name for name in test.label_names if name not in train.label_names]
    if not missing:
        return
    merged = set(missing) == {NON_ENTAILMENT} and "contradiction" in train.label_names
    mend = (
        "merge neutral and contradiction of the training set into non-entailment, or test on a file with three classes"
        if merged
        else f"give a test file of the same task, or choose its label column with {option('columns', 'label=NAME')}"
    )
    raise InputError(
        f"the test set has labels that the training set lacks ({', '.join(missing)}; "
        f"the training set has {', '.join(train.label_names) or 'none'})",
        file=test.source,
        mend=mend,
    )


def require_classes(dataset: Dataset, at_least: int = 2) -> None:
    """Refuse a dataset whose rows have fewer than `at_least` different labels.

    Raises:
        InputError: Also where the dataset has no labels at all.
    """
    dataset.labels()
    present = dataset.examples["label"].unique().to_list()
    if len(present) < at_least:
        only = f"only the label {present[0]!r}" if present else "no label"
        raise InputError(
            f"there is {only}",
            file=dataset.source,
            mend=f"give a file with at least {at_least} classes, or choose the label with "
            f"{option('columns', 'label=NAME')}",
        )
