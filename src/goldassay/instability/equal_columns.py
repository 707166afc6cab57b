"""Examples that score alike in every run, put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


class Members(NamedTuple):
    """Which columns lie in which of P groups of equal columns.

    Attributes:
        order: (N,) positions of the columns, group by group, ascending within each.
        starts: (P + 1,) where each group begins in `order`, and the end.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]

    @property
    def counts(self) -> NDArray[np.int64]:
        """(P,) how many columns each group has."""
        return np.diff(self.starts)

    def of(self, group: int) -> NDArray[np.int64]:
        """Positions of the columns of a group, ascending."""
        return self.order[self.starts[group] : self.starts[group + 1]]


def group_equal_columns(words: NDArray[Any], key: NDArray[Any]) -> Members:
    """Put equal columns together, the groups in ascending order of a key.

    Columns are sorted by the key and a digest, and neighbors that are equal word for word make a group. Were two
    different columns to share a digest, equal columns might end up in two groups; they are never mixed with others.

    Args:
        words: (W, N) unsigned integers.
        key: (N,) equal where columns are equal.
    """
    digest = np.zeros(words.shape[1], dtype=np.uint64)
    for row in words:
        digest ^= row
        digest *= _MIX
        digest ^= digest >> _SHIFT
    order = np.lexsort((digest, key))
    differs = np.zeros(len(order) - 1, dtype=np.bool_)
    for row in words:
        placed = row[order]
        differs |= placed[1:] != placed[:-1]
    starts = np.concatenate([[0], np.flatnonzero(differs) + 1, [len(order)]])
    return Members(order.astype(np.int64), starts.astype(np.int64))
