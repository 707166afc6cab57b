"""Patterns ranked by lift: what a rare label's patterns give away, which no share of the examples shows.

A word in 95 % of the examples of a label that makes up a tenth, and in 10 % of the others, names that label in half of
its examples: by share it falls below any threshold, by lift it tells all that a reader needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.artifacts.pattern_rows import PART
from goldassay.stats.intervals import wilson_bounds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from goldassay.artifacts.pattern_table import PatternTable
    from goldassay.data.tokenization import TokenizedCorpus

# Of more, those with the largest lift are kept: a reader of a sentence takes the strongest alone.
LIFTED_AT_MOST = 200_000


@dataclass(frozen=True)
class LiftedPatterns:
    """Patterns, each with the label for which it is the strongest evidence.

    Attributes:
        patterns: V rows.
        labels: Code of that label, (V,).
        lifts: Lower Wilson bound of p(l|b), over p(l), (V,); above 1.
    """

    patterns: PatternTable
    labels: NDArray[np.int64]
    lifts: NDArray[np.float64]

    def __len__(self) -> int:
        return self.labels.size

    def strongest_in(self, corpus: TokenizedCorpus) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The label and lift of the strongest pattern of each sentence, (N,) and (N,); -1 and 0 where it holds none."""
        found = np.full(len(corpus), -1, dtype=np.int64)
        lifts = np.zeros(len(corpus))
        if not len(self):
            return found, lifts
        # By lift, of equal ones the more frequent, which is the first row.
        order = np.lexsort((-np.arange(len(self)), self.lifts))
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        for begin, _, at, rows in self.patterns.match_blocks(corpus):
            if not at.size:
                continue
            starts = np.flatnonzero(np.diff(at, prepend=-1))
            best = order[np.maximum.reduceat(rank[rows], starts)]
            found[begin + at[starts]] = self.labels[best]
            lifts[begin + at[starts]] = self.lifts[best]
        return found, lifts


def lifted_patterns(parts: Iterable[PatternTable], q: float) -> LiftedPatterns:
    """Of each pattern the label with the largest lift among those that it goes with beyond chance.

    Lift here is the lower Wilson bound of p(l|b) over p(l), so that a rare pattern does not outrank a frequent one by
    luck. A label counts where K q_value <= q and the bound exceeds 1.

    Args:
        parts: Of one table of mined patterns, not cut.
        q: Largest q of a significant pattern.

    Source: lift as in Brin, Motwani, Ullman and Tsur 1997; the bound is Wilson's (1927).
    """
    kept: list[PatternTable] = []
    labels: list[NDArray[np.int64]] = []
    lifts: list[NDArray[np.float64]] = []
    for part in parts:
        rows, codes, lift = _telling(part, q)
        # No more than could be kept of all: a copy of most rows of a large table would be hundreds of megabytes.
        best = _largest(lift)
        kept.append(part.take(rows[best]))
        labels.append(codes[best])
        lifts.append(lift[best])
    table, code, lift = type(kept[0]).joined(kept), np.concatenate(labels), np.concatenate(lifts)
    if len(kept) > 1:
        best = _largest(lift)
        table, code, lift = table.take(best), code[best], lift[best]
    return LiftedPatterns(table, code, lift)


def _largest(lifts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Positions, ascending, of the lifts that are kept; of equal ones the first."""
    return np.sort(np.argsort(-lifts, kind="stable")[:LIFTED_AT_MOST])


def label_without_pattern(sampled: NDArray[np.integer], left: NDArray[np.integer], constant: int) -> int:
    """The label to name where a sentence holds no pattern.

    The label whose share among the training sentences without a pattern exceeds its share among all by the largest
    factor, if it does so beyond chance (Wilson's lower bound exceeds that share); else the constant one.

    Args:
        sampled: Training sentences of each label, all or a sample, (K,).
        left: Those of them without a pattern, (K,).
        constant: The most frequent label.
    """
    counts = np.asarray(sampled, dtype=np.float64)
    share = counts / max(counts.sum(), 1.0)
    low = wilson_bounds(left, np.sum(left))[0]
    lift = np.where(share > 0, low / np.where(share > 0, share, 1.0), 0.0)
    return int(lift.argmax()) if lift.max() > 1 else constant


def _telling(part: PatternTable, q: float) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Rows with a label that they tell beyond chance, that label, and its lift."""
    label_counts = np.asarray(part.settings["label_counts"], dtype=np.float64)
    prior = label_counts / max(label_counts.sum(), 1.0)
    codes, best = np.zeros(len(part), dtype=np.int64), np.zeros(len(part))
    # So many rows at a time: of millions each array of all labels takes tens of megabytes.
    for begin in range(0, len(part), PART):
        counts, q_values = part.slice(begin, PART).counts_and_q()
        lift = np.zeros(counts.shape)
        rows, labels = np.nonzero((q_values * part.n_labels_met <= q) & (prior > 0))
        low = wilson_bounds(counts[rows, labels], np.maximum(counts.sum(axis=1), 1)[rows])[0]
        lift[rows, labels] = low / prior[labels]
        codes[begin : begin + PART], best[begin : begin + PART] = lift.argmax(axis=1), lift.max(axis=1)
    found = np.flatnonzero(best > 1)
    return found, codes[found], best[found]
