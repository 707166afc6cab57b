"""Counts of the patterns that start with tokens too frequent to be gathered, added up over passes with hash tables."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from goldassay.artifacts.streaming.memory import MemoryBound
    from goldassay.artifacts.streaming.rows import MinedRows
    from goldassay.artifacts.streaming.spool import Shards

# Slots of a table, at most; tests lower it.
MOST_SLOTS = 1 << 40
FEWEST_SLOTS = 1 << 10
# Slots looked at in one go for frequent patterns.
PIECE = 1 << 16
# Share of the slots that may be taken: beyond it, finding a slot takes many steps.
_FILLED = 0.75


class Part(NamedTuple):
    """What one pass counts: patterns that start with the tokens `first` to `past` and have a key of some remainder."""

    first: int
    past: int
    modulus: int
    residue: int


@dataclass(frozen=True)
class _Table:
    """A hash table of patterns; see `pattern_counts_on_disk`."""

    keys: NDArray[np.int64]
    last: NDArray[np.int32]
    counts: NDArray[np.int32]

    @classmethod
    def of(cls, size: int, n_labels: int) -> _Table:
        return cls(np.empty(size, np.int64), np.empty(size, np.int32), np.empty((size, n_labels), np.int32))

    @property
    def room(self) -> int:
        return min(int(self.keys.size * _FILLED), self.keys.size - 1)


class Known:
    """The frequent patterns that longer ones may start with: their numbers, and what they consist of.

    Args:
        n_frequent: F, how many single tokens there are.
        memory: What may be taken.
    """

    def __init__(self, n_frequent: int, memory: MemoryBound) -> None:
        self._memory = memory
        self._levels = [np.empty(0, np.int64)]
        self._first_numbers = [0, n_frequent]
        self.first_of = np.arange(n_frequent, dtype=np.int32)
        self.keys, self.numbers = np.full(1, -1, np.int64), np.zeros(1, np.int32)

    def add(self, keys: NDArray[np.int64]) -> None:
        """Number the frequent patterns of one more token.

        Raises:
            InputError: Memory is too small for so many; the message says what would do.
        """
        from goldassay.kernels.pattern_counts_on_disk import CELL_BITS, enter

        n = sum(level.size for level in self._levels) + keys.size
        self._memory.need(
            24 * n + 4 * (n + self.first_of.size) + 8 * keys.size,
            f"to hold the {n:,} frequent patterns that longer ones start with",
            ", or raise min_count",
        )
        self._levels.append(keys)
        self.keys, self.numbers = np.full(2 * n + 1, -1, np.int64), np.empty(2 * n + 1, np.int32)
        for level, first_number in zip(self._levels, self._first_numbers, strict=True):
            enter(self.keys, self.numbers, level, first_number)
        self._first_numbers.append(self._first_numbers[-1] + keys.size)
        self.first_of = np.concatenate((self.first_of, self.first_of[keys >> CELL_BITS]))

    def decoded(self, keys: NDArray[np.int64], length: int) -> tuple[NDArray[np.int32], NDArray[np.int8]]:
        """Tokens (V,length) and gaps (V,length-1) of patterns of one length."""
        from goldassay.kernels.pattern_counts_on_disk import CELL_BITS, GAP_BITS

        tokens = np.empty((keys.size, length), np.int32)
        gaps = np.empty((keys.size, length - 1), np.int8)
        for place in range(length - 1, 0, -1):
            cells, prefixes = keys & ((1 << CELL_BITS) - 1), keys >> CELL_BITS
            tokens[:, place] = cells >> GAP_BITS
            gaps[:, place - 1] = cells & ((1 << GAP_BITS) - 1)
            if place > 1:
                keys = self._levels[place - 1][prefixes - self._first_numbers[place - 1]]
        tokens[:, 0] = prefixes
        return tokens, gaps

    @property
    def n_of_last_length(self) -> int:
        """How many patterns the longest ones could start with."""
        return self._first_numbers[-1] - self._first_numbers[-2]


class HashCounter:
    """Counts the patterns of one length that start with some tokens, in parts, as many at once as there are threads.

    Args:
        shards: The corpus.
        length: Tokens of a pattern.
        n_distances: D.
        min_count: Fewest sentences.
        known: The frequent patterns of lengths already counted.
        memory: What may be taken.
        n_threads: How many tables are filled at once.
        tell: Told of each further share of the tokens' occurrences that is done.

    Raises:
        InputError: Memory is too small; the message says what would do.
    """

    def __init__(
        self,
        shards: Shards,
        length: int,
        n_distances: int,
        min_count: int,
        known: Known,
        memory: MemoryBound,
        n_threads: int,
        tell: Callable[[float], None],
    ) -> None:
        self._shards, self._length, self._n_distances = shards, length, n_distances
        self._min_count, self._known, self._tell = min_count, known, tell
        self._waiting: deque[Part] = deque()
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._weight = np.concatenate(([0.0], np.cumsum(shards.occurrences)))
        self._tables = [_Table.of(self._n_slots(memory, n_threads), shards.n_labels) for _ in range(n_threads)]

    def count(self, ranges: Sequence[tuple[int, int]], found: MinedRows) -> NDArray[np.int64]:
        """Count what starts with the tokens of some ranges, and add it to what was found; gives the frequent keys."""
        self._waiting.extend(Part(first, past, 1, 0) for first, past in ranges)
        idle = list(self._tables)
        running: dict[Future[list[NDArray[np.int64]]], _Table] = {}
        keys: list[NDArray[np.int64]] = []
        with ThreadPoolExecutor(len(self._tables)) as pool:
            try:
                while self._waiting or running:
                    while self._waiting and idle:
                        table = idle.pop()
                        running[pool.submit(self._pass, self._waiting.popleft(), table, found)] = table
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        idle.append(running.pop(future))
                        keys += future.result()
            except BaseException:
                self._stop.set()
                raise
        return np.concatenate(keys) if keys else np.empty(0, np.int64)

    def _n_slots(self, memory: MemoryBound, n_threads: int) -> int:
        slot = 12 + 4 * self._shards.n_labels
        # Beside its table each thread copies what is frequent in a piece of it.
        copied = 4 * PIECE * slot
        memory.need(n_threads * (FEWEST_SLOTS * slot + copied), f"to count patterns of {self._length} tokens")
        size = min((memory.room() - n_threads * copied) // (n_threads * slot), MOST_SLOTS)
        # There cannot be more patterns than prefixes times cells, nor than occurrences.
        cells = len(self._shards.frequent) * self._n_distances
        occurrences = int(self._shards.occurrences.sum()) * self._n_distances ** (self._length - 1)
        most = min(self._known.n_of_last_length * cells, occurrences)
        return max(min(size, int(most / _FILLED) + 2), 4)

    def _pass(self, part: Part, table: _Table, found: MinedRows) -> list[NDArray[np.int64]]:
        """Pass over the corpus once, counting a part of the patterns, of which some may be left for later."""
        from goldassay.kernels.pattern_counts_on_disk import count_shard

        table.keys.fill(-1)
        n_used = before = 0
        known = self._known
        for shard, size in enumerate(self._shards.sizes):
            words, labels = self._shards.words(shard), self._shards.labels(shard)
            sentence = at = 0
            while sentence < size:
                if self._stop.is_set():
                    return []
                sentence, at, n_used = count_shard(
                    words, labels, sentence, at, before, self._length, self._n_distances, *part,
                    known.keys, known.numbers, table.keys, table.last, table.counts, n_used, table.room,
                )  # fmt: skip
                if sentence < size:
                    part, n_used = self._cut(part, table)
            before += size
        self._tell(float(self._weight[part.past] - self._weight[part.first]) / part.modulus)
        return self._kept(table, found)

    def _cut(self, part: Part, table: _Table) -> tuple[Part, int]:
        """Leave about half of what is in a full table, and in its part, to a later pass."""
        from goldassay.kernels.pattern_counts_on_disk import first_tokens_in, keep_only

        first_of = self._known.first_of
        if part.past - part.first > 1:
            n = np.cumsum(first_tokens_in(table.keys, first_of, part.past)[part.first :])
            middle = part.first + 1 + int(np.searchsorted(n, n[-1] / 2))
            middle = min(middle, part.past - 1)
            kept, rest = part._replace(past=middle), part._replace(first=middle)
        else:
            kept = part._replace(modulus=2 * part.modulus)
            rest = kept._replace(residue=part.residue + part.modulus)
        self._waiting.append(rest)
        return kept, keep_only(table.keys, table.last, table.counts, first_of, kept.past, kept.modulus, kept.residue)

    def _kept(self, table: _Table, found: MinedRows) -> list[NDArray[np.int64]]:
        from goldassay.kernels.pattern_counts_on_disk import take_frequent

        frequent = []
        for begin in range(0, table.keys.size, PIECE):
            piece = slice(begin, begin + PIECE)
            keys, counts = take_frequent(table.keys[piece], table.counts[piece], self._min_count)
            found.append(*self._known.decoded(keys, self._length), counts)
            frequent.append(keys)
        return frequent
