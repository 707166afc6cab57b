"""How many sentences hold patterns above a threshold, and how often these are right: counted as sentences pass by."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.cores import cores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.artifacts.pattern_table import PatternTable
    from goldassay.data.tokenization import TokenizedCorpus


class CoverageCount:
    """Counts, at each of T thresholds, what `assign_difficulty` would find with the patterns whose share exceeds it.

    Args:
        patterns: Cut already at or below the lowest threshold.
        thresholds: T shares, ascending.

    At each threshold only the two labels matter whose patterns exceed the highest thresholds, so that a sentence's
    search ends where no pattern left could change these. Counts are whole numbers: they do not depend on the cores.

    Attributes:
        label_counts: Sentences of each label, (K,).
        covered: Sentences that hold a pattern, (T,).
        decided: Those whose patterns name a single label, (T,).
        easy: Those of them whose label it is, (T,).
        left_open: Sentences of each label whose patterns name none or several, (T,K).
    """

    def __init__(self, patterns: PatternTable, thresholds: Sequence[float]) -> None:
        from goldassay.kernels.pattern_trees import highest_below

        K, T = len(patterns.label_names), len(thresholds)
        self._patterns, self._tree = patterns, patterns.tree
        rows = self._tree.rows
        # How many thresholds each row's share exceeds.
        self._levels = np.searchsorted(thresholds, patterns.to_frame()["probability"].to_numpy())[rows].astype(np.int32)
        self._row_labels = patterns.label_codes()[rows].astype(np.int32)
        self._highest = highest_below(self._tree.child_starts, self._tree.row_starts, self._row_labels, self._levels)
        self.label_counts = np.zeros(K, np.int64)
        self.covered, self.decided, self.easy = (np.zeros(T, np.int64) for _ in range(3))
        self.left_open = np.zeros((T, K), np.int64)

    def add(self, corpus: TokenizedCorpus, codes: NDArray[np.integer]) -> None:
        """Count sentences with the codes of their labels, (N,); those below 0 are left out.

        Raises:
            InputError: The tokenizer is not the one that the patterns were mined with.
        """
        from goldassay.kernels.pattern_counts import beginnings
        from goldassay.kernels.pattern_trees import count_coverage

        self._patterns.tokenized(corpus)
        self.label_counts += np.bincount(codes[codes >= 0], minlength=self.label_counts.size)
        numbers = self._tree.numbers_of(corpus.vocabulary)
        # Sentences that begin alike walk the same branches: one after the other, they find them in the cache.
        order = np.argsort(beginnings(corpus.ids, corpus.offsets, numbers))
        n_threads = cores()
        edges = np.unique(np.linspace(0, len(corpus), 4 * n_threads + 1).astype(np.int64)).tolist()
        with ThreadPoolExecutor(n_threads) as pool:
            counted = pool.map(
                lambda edge: count_coverage(
                    *edge,
                    order,
                    corpus.ids,
                    corpus.offsets,
                    codes,
                    numbers,
                    *self.left_open.shape,
                    self._tree.n_distances,
                    self._tree.roots,
                    self._tree.keys,
                    self._tree.child_starts,
                    self._tree.row_starts,
                    self._row_labels,
                    self._levels,
                    *self._highest,
                ),
                pairwise(edges),
            )
            for covered, decided, easy, left_open in counted:
                self.covered += covered
                self.decided += decided
                self.easy += easy
                self.left_open += left_open
