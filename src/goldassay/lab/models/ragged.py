"""Rows of different lengths in one flat array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True)
class Ragged:
    """N rows of whole numbers.

    Attributes:
        flat: All rows one after the other, (total,).
        offsets: Where each row starts, and the end of the last, (N+1,).
    """

    flat: NDArray[np.int64]
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Ragged:
        """Join rows."""
        lengths = np.fromiter((len(row) for row in rows), np.int64, len(rows))
        flat = np.fromiter((value for row in rows for value in row), np.int64, int(lengths.sum()))
        return cls(flat, np.concatenate(([0], np.cumsum(lengths))))

    @classmethod
    def empty(cls, n_rows: int) -> Ragged:
        """Rows without anything in them."""
        return cls(np.zeros(0, np.int64), np.zeros(n_rows + 1, np.int64))

    def __len__(self) -> int:
        return self.offsets.size - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Of each row, (N,)."""
        return np.diff(self.offsets)

    def row(self, index: int) -> NDArray[np.int64]:
        """One row."""
        return self.flat[self.offsets[index] : self.offsets[index + 1]]

    def take(self, rows: NDArray[np.int64]) -> Ragged:
        """Some rows, in the order given."""
        lengths = self.lengths[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        # Position in the result, shifted by how far its row lies from where it lay.
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return Ragged(self.flat[places], offsets)

    def beside(self, other: Ragged) -> Ragged:
        """Each row followed by the other's."""
        if not other.flat.size:
            return self
        offsets = self.offsets + other.offsets
        flat = np.empty(offsets[-1], np.int64)
        flat[np.arange(self.flat.size) + np.repeat(other.offsets[:-1], self.lengths)] = self.flat
        flat[np.arange(other.flat.size) + np.repeat(self.offsets[1:], other.lengths)] = other.flat
        return Ragged(flat, offsets)

    def padded(self, fill: int = 0, width: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """As a rectangle (N, L) filled up behind each row, with what is not filling, (N, L); L is at least 1."""
        lengths = self.lengths
        longest = max(1, int(lengths.max(initial=0)) if width is None else width)
        real = np.arange(longest) < lengths[:, None]
        table = np.full(real.shape, fill, np.int64)
        table[real] = self.flat
        return table, real

    def cut(self, width: int) -> tuple[Ragged, NDArray[np.bool_]]:
        """Rows of at most `width`, and which were longer, (N,)."""
        lengths = self.lengths
        longer = lengths > width
        if not longer.any():
            return self, longer
        kept = np.minimum(lengths, width)
        places = np.arange(self.flat.size) - np.repeat(self.offsets[:-1], lengths) < np.repeat(kept, lengths)
        return Ragged(self.flat[places], np.concatenate(([0], np.cumsum(kept)))), longer
