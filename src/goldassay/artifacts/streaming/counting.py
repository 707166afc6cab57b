"""Exact counts of the patterns of a corpus on disk, in as much memory as there is.

Why this way: in memory, all occurrences of all tokens are gathered, and what follows each token is counted in dense
records that stay in the cache; nothing else comes near that speed. The tokens can be taken in ranges, though, as many
passes over the corpus as there are ranges: so the occurrences of one range at a time are gathered, with the words
within reach. What is left are tokens so frequent that their occurrences alone do not fit; their patterns are counted
in hash tables, whose counts add up over any number of sentences, at a tenth of the speed. Mining parts of the corpus
and adding up (SON) was the other choice: it counts again everything that is frequent in any part, which, as thresholds
shrink with the parts, is many times what is frequent in all.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.artifacts.streaming.gathering import Gatherer, each_count, ranges_within
from goldassay.artifacts.streaming.hashing import HashCounter, Known
from goldassay.artifacts.streaming.rows import MinedRows
from goldassay.core.compiled import workers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.artifacts.streaming.memory import MemoryBound
    from goldassay.artifacts.streaming.spool import Shards
    from goldassay.core.progress import Progress

# Bytes of occurrences gathered at once, at most; tests lower it.
MOST_GATHERED = 1 << 60
_TICKS = 1000


class Counter:
    """Counts all patterns of a corpus on disk.

    Args:
        shards: The corpus; it is written anew with what follows what.
        max_tokens: 1 to 5.
        max_gap: 0 to 5.
        min_count: Fewest sentences.
        memory: What may be taken.
        n_threads: How many threads count.
        progress: Told how much is done.
    """

    def __init__(
        self,
        shards: Shards,
        max_tokens: int,
        max_gap: int,
        min_count: int,
        memory: MemoryBound,
        n_threads: int,
        progress: Progress,
    ) -> None:
        self._shards, self._max_tokens, self._n_distances = shards, max_tokens, max_gap + 1
        self._min_count, self._memory, self._n_threads, self._progress = min_count, memory, n_threads, progress
        self._found = MinedRows(shards.folder / "found", max_tokens, shards.n_labels)
        self._lock = threading.Lock()
        self._done = 0.0

    def count(self) -> MinedRows:
        """Count them, and give those that are frequent enough, in no particular order.

        Raises:
            InputError: Memory is too small for what has to be at hand; the message says what would do.
        """
        self._count_singles()
        if self._max_tokens > 1 and self._shards.frequent:
            # A record for each cell, and what was touched, in each thread.
            F, D, K = len(self._shards.frequent), self._n_distances, self._shards.n_labels
            self._memory.need(self._n_threads * F * D * (8 * (K + 1) + 16), f"for {F:,} frequent tokens")
            known = Known(F, self._memory)
            pairs = self._count_pairs(known)
            if self._max_tokens > 2:
                self._count_longer(known, pairs)
        self._progress(_TICKS, _TICKS)
        return self._found

    def _count_singles(self) -> None:
        from goldassay.kernels.pattern_counts_on_disk import count_singles

        shards = self._shards
        n = len(shards.frequent)
        counts, last = np.zeros((n, shards.n_labels), np.int32), np.full(n, -1, np.int32)
        before = 0
        for shard, size in enumerate(shards.sizes):
            count_singles(shards.words(shard), shards.labels(shard), before, last, counts)
            before += size
        self._found.append(np.arange(n, dtype=np.int32)[:, None], np.empty((n, 0), np.int8), counts)

    def _count_pairs(self, known: Known) -> _Pairs:
        from goldassay.kernels.pattern_counts import count_pairs
        from goldassay.kernels.pattern_counts_on_disk import CELL_BITS, GAP_BITS

        shards, D = self._shards, self._n_distances
        bounds = (shards.label_bits, shards.n_labels, D, self._min_count)
        again = np.zeros((len(shards.frequent), shards.n_labels), np.int32)
        parts = []
        with workers(self._n_threads) as pool:
            gatherer = Gatherer(shards, D, pool, self._n_threads)
            sizes = gatherer.sizes()
            fitting, too_large = ranges_within(sizes, self._room())
            for first, past in fitting:
                windows = gatherer.gather(first, past)
                for tokens, gaps, counts, n in each_count(
                    windows, first, past, lambda *task: count_pairs(*task, *bounds, again), pool, self._n_threads
                ):
                    self._found.append(tokens, gaps, counts)
                    cells = tokens[:, 1].astype(np.int64) << GAP_BITS | gaps[:, 0]
                    parts.append((tokens[:, 0].astype(np.int64) << CELL_BITS | cells, n))
                self._tell(self._share(first, past))
                del windows
        if too_large:
            keys = self._hashed(2, known, too_large)
            parts.append((keys, np.zeros(keys.size, np.int64)))
        return _Pairs(parts, too_large)

    def _count_longer(self, known: Known, pairs: _Pairs) -> None:
        from goldassay.kernels.pattern_counts import count_longer

        shards, D, F = self._shards, self._n_distances, len(self._shards.frequent)
        known.add(pairs.keys)
        self._write_follows(known)
        tokens, gaps = known.decoded(pairs.keys, 2)
        pair_starts = np.searchsorted(tokens[:, 0], np.arange(F + 1))
        bounds = (shards.label_bits, shards.n_labels, D, self._min_count, self._max_tokens)
        follow = (pair_starts, tokens, gaps, pairs.n_occurrences)
        with workers(self._n_threads) as pool:
            gatherer = Gatherer(shards, D * (self._max_tokens - 1), pool, self._n_threads)
            sizes = gatherer.sizes() + pairs.arenas(pair_starts, self._max_tokens, D)
            for first, past in pairs.not_gathered:
                sizes[first:past] = 1 << 62
            fitting, too_large = ranges_within(sizes, self._room())
            for first, past in fitting:
                windows = gatherer.gather(first, past)
                for found in each_count(
                    windows, first, past, lambda *task: count_longer(*task, *bounds, *follow), pool, self._n_threads
                ):
                    self._found.append(*found)
                self._tell(self._share(first, past))
                del windows
        for length in range(3, self._max_tokens + 1) if too_large else ():
            keys = self._hashed(length, known, too_large)
            if length < self._max_tokens:
                known.add(keys)

    def _hashed(self, length: int, known: Known, ranges: list[tuple[int, int]]) -> NDArray[np.int64]:
        n_lengths = max(self._max_tokens - 2, 1) if length > 2 else 1
        total = max(int(self._shards.occurrences.sum()), 1)
        counter = HashCounter(
            self._shards, length, self._n_distances, self._min_count, known, self._memory, self._n_threads,
            lambda n: self._tell(n / total / n_lengths / (1 + (self._max_tokens > 2))),
        )  # fmt: skip
        return counter.count(ranges, self._found)

    def _write_follows(self, known: Known) -> None:
        from goldassay.kernels.pattern_counts_on_disk import follow

        def written(shard: int) -> None:
            words = self._shards.words(shard)
            follow(words, self._n_distances, known.keys)
            self._shards.rewrite(shard, words)

        with workers(self._n_threads) as pool:
            list(pool.map(written, range(len(self._shards.sizes))))

    def _room(self) -> int:
        return min(max(self._memory.room(), 0), MOST_GATHERED)

    def _share(self, first: int, past: int) -> float:
        occurrences = self._shards.occurrences
        return float(occurrences[first:past].sum() / max(occurrences.sum(), 1)) / (1 + (self._max_tokens > 2))

    def _tell(self, further: float) -> None:
        with self._lock:
            self._done = min(self._done + further, 1.0)
            self._progress(int(_TICKS * self._done), _TICKS)


class _Pairs:
    """The frequent pairs in order of their keys, and how often those that were gathered occur."""

    def __init__(self, parts: list[tuple[Any, Any]], not_gathered: list[tuple[int, int]]) -> None:
        keys = np.concatenate([keys for keys, _ in parts]) if parts else np.empty(0, np.int64)
        order = np.argsort(keys, kind="stable")
        self.keys: NDArray[np.int64] = keys[order]
        self.n_occurrences = np.concatenate([n for _, n in parts])[order] if parts else np.empty(0, np.int64)
        self.not_gathered = not_gathered

    def arenas(self, pair_starts: NDArray[np.int64], max_tokens: int, n_distances: int) -> NDArray[np.int64]:
        """Most bytes that the counting of what starts with each token sets aside (F,).

        Of each pair its occurrences; and further down, of one pattern a length at most D times those of its prefix.
        """
        before = np.concatenate(([0], np.cumsum(self.n_occurrences)))
        occurrences = before[pair_starts[1:]] - before[pair_starts[:-1]]
        deeper = sum(n_distances ** (length - 2) for length in range(3, max_tokens))
        return 16 * occurrences * (1 + deeper)
