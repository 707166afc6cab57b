"""The examples of one side in falling order of score, with how many of the other side lie above each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Ranking:
    """Positives in falling order, grouped where tied, against the negatives.

    Everything that depends on the order of the scores alone is read from here, so that both sides are sorted once.

    Attributes:
        values: Distinct scores of the positives, falling, (G,).
        starts: Where each group starts among the positives in order, and P at the end, (G+1,).
        above: Negatives that score higher than each group, (G,).
        reached: Negatives that score as high or higher, (G,).
        negatives: Scores of the negatives, falling, (M,).
        positive_order: Positions of the positives in falling order of score, (P,).
        negative_order: Positions of the negatives in falling order of score, (M,).
    """

    values: NDArray[np.float64]
    starts: NDArray[np.int64]
    above: NDArray[np.int64]
    reached: NDArray[np.int64]
    negatives: NDArray[np.float64]
    positive_order: NDArray[np.int64]
    negative_order: NDArray[np.int64]

    @property
    def n_positive(self) -> int:
        """How many positives there are."""
        return len(self.positive_order)

    @property
    def n_negative(self) -> int:
        """How many negatives there are."""
        return len(self.negative_order)

    @property
    def found(self) -> NDArray[np.int64]:
        """Positives that score as high as each group or higher, (G,)."""
        return self.starts[1:]


def rank(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> Ranking:
    """Sort the scores of positives (P,) and negatives (M,), of which a higher one speaks for a positive."""
    positive_order = np.argsort(-positive, kind="stable")
    negative_order = np.argsort(-negative, kind="stable")
    falling = positive[positive_order]
    first = np.flatnonzero(np.r_[True, falling[1:] != falling[:-1]])
    values = falling[first]
    negatives = negative[negative_order]
    other = -negatives
    return Ranking(
        values=values,
        starts=np.r_[first, len(falling)].astype(np.int64),
        above=np.searchsorted(other, -values, side="left").astype(np.int64),
        reached=np.searchsorted(other, -values, side="right").astype(np.int64),
        negatives=negatives,
        positive_order=positive_order.astype(np.int64),
        negative_order=negative_order.astype(np.int64),
    )
