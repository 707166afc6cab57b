"""Which patterns are in the same sentences, found as the sentences pass by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.artifacts.pattern_table import PatternTable
    from goldassay.data.tokenization import TokenizedCorpus


class RowSignatures:
    """A number for each of V patterns that is the same for patterns of the same sentences.

    It is the sum of a 64-bit hash of the position of each sentence that holds the pattern, which takes one pass and
    eight bytes a pattern; different sets of sentences agree with a probability of 2^-64.

    Args:
        patterns: V rows.
    """

    def __init__(self, patterns: PatternTable) -> None:
        self._patterns = patterns
        self._n_seen = 0
        self.values = np.zeros(len(patterns), np.uint64)

    def add(self, corpus: TokenizedCorpus, codes: NDArray[np.integer[Any]]) -> None:
        """Let sentences pass by with the codes of their labels, (N,); those below 0 do not count."""
        from goldassay.kernels.hashing import finalized

        for begin, _, at, rows in self._patterns.match_blocks(corpus):
            counted = codes[begin + at] >= 0
            positions = (self._n_seen + begin + at[counted]).astype(np.uint64)
            np.add.at(self.values, rows[counted], finalized(positions + np.uint64(1)))
        self._n_seen += len(corpus)
