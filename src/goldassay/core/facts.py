"""The plain facts of a dataset, as records: what a gate compares without reading data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from goldassay.core.figures import Figure, Measure, declare, result
from goldassay.core.results import Result, frame_of_records

if TYPE_CHECKING:
    import polars as pl

_TRAIN = declare(Measure("facts.train_examples", "training examples", "examples", bounded=False, describes_data=True))
_TEST = declare(Measure("facts.test_examples", "test examples", "examples", bounded=False, describes_data=True))


@result
class TextLengths(Result):
    """Lengths of the texts of one role and label in a split; `label` is None of data without classes."""

    split: str
    role: str
    label: str | None
    n: int
    mean: float
    median: float
    p95: float


@result
class Duplicates(Result):
    """Rows that repeat an earlier row's texts and label, and rows whose texts also occur with another label."""

    exact: int
    conflicting: int


@result
class Shared(Result):
    """Test rows that stand in the training part, too, and their share of all test rows."""

    n: int
    share: float


@result
class PremiseReuse(Result):
    """Distinct premises, and the mean and the largest number of rows of one."""

    distinct: int
    mean: float
    max: int


@result
class DatasetFacts(Result):
    """Counts and shares of a training set and, where there is one, a test set.

    Texts are compared as they stand, letter by letter.

    Attributes:
        n_train: Rows of the training set.
        n_test: Rows of the test set, or None.
        label_counts: Split to label to rows; empty for data without classes.
        lengths: For each split, role and label.
        length_unit: "words" (between white space), or "characters" for scripts without spaces.
        duplicates: Of each split.
        overlap: `rows`, test rows whose texts all stand together in a training row; and for each role, test rows
            whose text occurs in that role in training. Empty without a test set.
        premise_reuse: Of each split of pairs.
        dropped: Split to reason to rows left out.
    """

    n_train: int
    n_test: int | None
    label_counts: Mapping[str, Mapping[str, int]]
    lengths: tuple[TextLengths, ...]
    length_unit: str
    duplicates: Mapping[str, Duplicates]
    overlap: Mapping[str, Shared]
    premise_reuse: Mapping[str, PremiseReuse]
    dropped: Mapping[str, Mapping[str, int]]

    def to_frame(self) -> pl.DataFrame:
        """The lengths, one row a split, role and label."""
        return frame_of_records(self.lengths, TextLengths)

    def more_figures(self) -> tuple[Figure, ...]:
        """How many training and test examples there are."""
        sizes = ((_TRAIN, self.n_train), (_TEST, self.n_test))
        return tuple(measure.figure(n, n=n) for measure, n in sizes if n is not None)
