"""What readers learn from and what they read: a training part and a test part, or the folds of one dataset."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.stats.clusters import Folds

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from goldassay.data.dataset import Dataset


@dataclass(frozen=True)
class DataSplit:
    """Two parts, of which the first teaches and the second is read; or one, of which each fold is read by the others.

    Attributes:
        train: Rows that teach.
        test: Rows that are read, (N,).
        fold_codes: Fold of each row, (N,), where both are the same dataset; None for two parts.
        apart: Where the second part was set apart of a dataset without one: all rows, those that teach first.
    """

    train: Dataset
    test: Dataset
    fold_codes: NDArray[np.int64] | None = None
    apart: Dataset | None = None

    @property
    def whole(self) -> Dataset | None:
        """All rows of a dataset without a test part, in the order of `folds`; None where a test part was given."""
        return self.apart if self.fold_codes is None else self.train

    @cached_property
    def folds(self) -> Folds:
        """Which rows teach which: the training rows and after them the test rows, or the rows of all folds, (L,)."""
        if self.fold_codes is None:
            return Folds.of_parts(len(self.train), len(self.test))
        return Folds.of_all(self.fold_codes)

    def texts(self, role: str) -> pl.Series:
        """One text of each row, (L,); a missing one is empty."""
        parts = (self.train, self.test) if self.fold_codes is None else (self.test,)
        return pl.concat([part.examples[role].cast(pl.String).fill_null("") for part in parts])

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """Labels in the codes of the training part, (L,)."""
        return self.train.labels() if self.fold_codes is not None else np.concatenate([self.train.labels(), self.gold])

    @property
    def gold(self) -> NDArray[np.int64]:
        """Labels of the rows that are read in the codes of the training part, (N,)."""
        order = np.array([self.train.label_names.index(name) for name in self.test.label_names], np.int64)
        found: NDArray[np.int64] = order[self.test.labels()]
        return found

    @property
    def label_counts(self) -> NDArray[np.int64]:
        """Training rows of each label, (K,); of folds all rows."""
        return np.bincount(self.train.labels(), minlength=len(self.train.label_names)).astype(np.int64)

    def changed(self, change: Callable[[Dataset], Dataset]) -> DataSplit:
        """The same with each part changed, rows staying where they are."""
        train = change(self.train)
        return replace(self, train=train, test=train if self.fold_codes is not None else change(self.test))

    def parted(self, rows: NDArray[np.int64], folds: Folds) -> DataSplit:
        """Some rows, by their places in `texts`: all of them as folds, or those that teach and others that are read.

        Args:
            rows: In the order of the folds.
            folds: Which of these teach which.
        """
        if self.fold_codes is not None and folds.rows.size == rows.size:
            part = self.test.take(rows)
            return DataSplit(part, part, folds.codes)
        start = 0 if self.fold_codes is not None else len(self.train)
        return DataSplit(self.train.take(rows[folds.teaching]), self.test.take(rows[folds.rows] - start))

    def with_texts(self, role: str, texts: pl.Series) -> DataSplit:
        """The same with other texts of one role, in the order of `texts`."""
        starts = iter((0, len(self.train)))

        def change(part: Dataset) -> Dataset:
            own = texts.slice(next(starts), len(part)).alias(role)
            return replace(part, examples=part.examples.with_columns(own))

        return self.changed(change)
