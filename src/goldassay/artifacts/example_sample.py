"""A few sentences behind each pattern, drawn evenly among different ones as they pass by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.artifacts.pattern_table import PatternTable
    from goldassay.data.tokenization import TokenizedCorpus


class ExampleSample:
    """The `size` sentences with the smallest keys of those that hold each of V patterns.

    A key is a hash of the sentence's tokens and the seed, so that this is a random draw without replacement among
    different sentences, which needs one pass, little memory, and no count of them beforehand; and the same draw however
    the sentences are parted. Of equal sentences the first stands for all.

    Args:
        patterns: V rows.
        size: Most sentences a pattern.
        seed: Of the draw.
    """

    def __init__(self, patterns: PatternTable, size: int, seed: int) -> None:
        self._patterns, self._size, self._seed = patterns, size, seed
        self._n_seen = 0
        self._row = np.empty(0, np.int64)
        self._key = np.empty(0, np.uint64)
        self._position = np.empty(0, np.int64)

    def add(self, corpus: TokenizedCorpus, codes: NDArray[np.integer]) -> None:
        """Let sentences pass by with the codes of their labels, (N,); those below 0 are not drawn."""
        tokens = _token_keys(corpus.vocabulary)
        for begin, end, at, rows in self._patterns.match_blocks(corpus):
            labelled = codes[begin + at] >= 0
            at, rows = at[labelled], rows[labelled]
            low, high = corpus.offsets[begin], corpus.offsets[end]
            keys = _keys(tokens[corpus.ids[low:high]], corpus.offsets[begin : end + 1] - low, self._seed)
            self._keep(rows, keys[at], self._n_seen + begin + at)
        self._n_seen += len(corpus)

    def positions(self) -> list[list[int]]:
        """For each pattern the positions of its sentences among all that passed by, ascending."""
        parts: list[list[int]] = [[] for _ in range(len(self._patterns))]
        for row, position in zip(self._row.tolist(), self._position.tolist(), strict=True):
            parts[row].append(position)
        return [sorted(part) for part in parts]

    def _keep(self, rows: NDArray[np.int64], keys: NDArray[np.uint64], positions: NDArray[np.int64]) -> None:
        row = np.concatenate((self._row, rows))
        key = np.concatenate((self._key, keys))
        position = np.concatenate((self._position, positions))
        order = np.lexsort((position, key, row))
        row, key, position = row[order], key[order], position[order]
        fresh = np.ones(row.size, np.bool_)
        fresh[1:] = (row[1:] != row[:-1]) | (key[1:] != key[:-1])
        row, key, position = row[fresh], key[fresh], position[fresh]
        place = np.arange(row.size) - np.searchsorted(row, row)
        kept = place < self._size
        self._row, self._key, self._position = row[kept], key[kept], position[kept]


def _token_keys(vocabulary: Sequence[str]) -> NDArray[np.uint64]:
    """A hash of each token, the same in every corpus."""
    lengths = pl.Series(vocabulary, dtype=pl.String).str.len_bytes().to_numpy().astype(np.int64)
    letters = np.frombuffer("".join(vocabulary).encode("utf-8", "surrogatepass"), np.uint8)
    return _keys(letters.astype(np.uint64) + np.uint64(1), np.concatenate(([0], np.cumsum(lengths))), 0)


def _keys(values: NDArray[np.uint64], offsets: NDArray[np.int64], seed: int) -> NDArray[np.uint64]:
    """A hash of each stretch of values: the sum of value x odd constant to the power of its place, then mixed."""
    from goldassay.kernels.hashing import STEP, finalized

    lengths = np.diff(offsets)
    powers = np.multiply.accumulate(np.full(max(int(lengths.max(initial=0)), 1), STEP))
    place = np.arange(values.size) - np.repeat(offsets[:-1], lengths)
    keys = np.zeros(lengths.size, np.uint64)
    filled = lengths > 0
    if values.size:
        keys[filled] = np.add.reduceat(values * powers[place], offsets[:-1][filled])
    return finalized(keys + np.uint64((seed + 1) * int(STEP) & 0xFFFFFFFFFFFFFFFF))
