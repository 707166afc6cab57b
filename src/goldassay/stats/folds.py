"""Folds: each row is read by what rows of other folds teach, so that no reader has seen the label that it names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

N_FOLDS = 5


@dataclass(frozen=True)
class Round:
    """One fold that is read.

    Attributes:
        fold: Its code.
        teaching: Rows that teach, those of all other folds, ascending.
        reading: Rows that are read, ascending.
        places: Where these stand among all rows that are read.
    """

    fold: int
    teaching: NDArray[np.int64]
    reading: NDArray[np.int64]
    places: NDArray[np.int64]


@dataclass(frozen=True)
class Folds:
    """Which of L rows teach the readers of which.

    Attributes:
        codes: The fold of each row, (L,).
        read: Folds that are read, each by what all others teach; the rest teach alone.
    """

    codes: NDArray[np.int64]
    read: tuple[int, ...]

    @classmethod
    def of_parts(cls, n_train: int, n_test: int) -> Folds:
        """Training rows, which teach, and after them test rows, which are read."""
        return cls(np.repeat(np.arange(2), (n_train, n_test)), (1,))

    @classmethod
    def of_all(cls, codes: NDArray[np.int64]) -> Folds:
        """Every row is read once."""
        return cls(codes, tuple(np.unique(codes).tolist()))

    @property
    def rows(self) -> NDArray[np.int64]:
        """The N rows that are read, ascending."""
        return np.flatnonzero(np.isin(self.codes, self.read))

    @property
    def teaching(self) -> NDArray[np.int64]:
        """Rows that teach some fold, ascending: those that teach alone, or all where each is read once."""
        alone = ~np.isin(self.codes, self.read)
        return np.flatnonzero(alone) if alone.any() else np.arange(self.codes.size)

    def drawn(self, most: int, seed: int) -> NDArray[np.int64]:
        """All rows that are read and, at random, at most so many of those that teach alone, ascending."""
        alone = np.flatnonzero(~np.isin(self.codes, self.read))
        if alone.size > most:
            alone = np.random.default_rng(seed).choice(alone, most, replace=False)
        return np.sort(np.concatenate([self.rows, alone]))

    def rounds(self) -> Iterator[Round]:
        """One fold that is read after the other."""
        place = np.cumsum(np.isin(self.codes, self.read)) - 1
        for fold in self.read:
            own = self.codes == fold
            reading = np.flatnonzero(own)
            yield Round(fold, np.flatnonzero(~own), reading, place[reading])


def deal_evenly(units: NDArray[np.integer], labels: NDArray[np.integer], n_folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each row, (N,): whole units, dealt such that folds are alike in size and in labels.

    Units are sorted by size and by their most frequent label, in random order where equal, and dealt out to and fro.

    Args:
        units: Codes of rows that stay together, (N,).
        labels: Codes of the rows' labels, (N,).
        n_folds: How many; fewer are filled where there are fewer units.
        seed: Of the order.

    Source: Kohavi 1995, "A study of cross-validation and bootstrap" (stratified folds).
    """
    codes = np.unique(units, return_inverse=True)[1]
    sizes = np.bincount(codes)
    n_labels = int(labels.max(initial=0)) + 1
    of_label = np.bincount(codes * n_labels + labels, minlength=sizes.size * n_labels).reshape(sizes.size, n_labels)
    order = np.lexsort((np.random.default_rng(seed).random(sizes.size), of_label.argmax(axis=1), -sizes))
    turn = np.arange(sizes.size) % (2 * n_folds)
    fold = np.empty(sizes.size, np.int64)
    fold[order] = np.minimum(turn, 2 * n_folds - 1 - turn)
    return fold[codes]
