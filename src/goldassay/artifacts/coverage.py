"""How many sentences hold patterns above a threshold, and how often these are right: counted as sentences pass by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.artifacts.pattern_table import PatternTable
    from goldassay.data.tokenization import TokenizedCorpus


class CoverageCount:
    """Counts, at each of T thresholds, what `assign_difficulty` would find with the patterns whose share exceeds it.

    Args:
        patterns: Cut already at or below the lowest threshold.
        thresholds: T shares.

    Attributes:
        label_counts: Sentences of each label, (K,).
        covered: Sentences that hold a pattern, (T,).
        decided: Those whose patterns name a single label, (T,).
        easy: Those of them whose label it is, (T,).
        left_open: Sentences of each label whose patterns name none or several, (T,K).
    """

    def __init__(self, patterns: PatternTable, thresholds: Sequence[float]) -> None:
        K, T = len(patterns.label_names), len(thresholds)
        self._patterns = patterns
        self._thresholds = thresholds
        self._probability = patterns.to_frame()["probability"].to_numpy()
        self._label = patterns.label_codes()
        self.label_counts = np.zeros(K, np.int64)
        self.covered, self.decided, self.easy = (np.zeros(T, np.int64) for _ in range(3))
        self.left_open = np.zeros((T, K), np.int64)

    def add(self, corpus: TokenizedCorpus, codes: NDArray[np.integer]) -> None:
        """Count sentences with the codes of their labels, (N,); those below 0 are left out."""
        for begin, end, at, rows in self._patterns.match_blocks(corpus):
            self._add(codes[begin:end], at, rows)

    def _add(self, codes: NDArray[np.integer], at: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        K = self.label_counts.size
        labelled = codes >= 0
        self.label_counts += np.bincount(codes[labelled], minlength=K)
        probability, label = self._probability[rows], self._label[rows]
        for t, threshold in enumerate(self._thresholds):
            kept = probability > threshold
            sets = np.zeros((codes.size, K), np.bool_)
            sets[at[kept], label[kept]] = True
            n_labels = sets.sum(axis=1)
            single = (n_labels == 1) & labelled
            self.covered[t] += int(((n_labels > 0) & labelled).sum())
            self.decided[t] += int(single.sum())
            self.easy[t] += int(sets[np.flatnonzero(single), codes[single]].sum())
            self.left_open[t] += np.bincount(codes[labelled & ~single], minlength=K)
