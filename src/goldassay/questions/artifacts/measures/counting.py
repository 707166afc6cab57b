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
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from goldassay.core.compiled import workers
from goldassay.questions.artifacts.measures.mining import TASKS_PER_THREAD, balanced
from goldassay.questions.artifacts.measures.spool import MemoryBound, MinedRows, Shards

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from goldassay.core.progress import Progress


class Windows(NamedTuple):
    """Where tokens occur, and what stands within reach behind: see `pattern_counts`.

    Attributes:
        words: Of each occurrence its window, windows that overlap written once.
        places: As there, for the gathered tokens only.
        starts: Where each token's places start (F+1,); right for the gathered tokens only.
    """

    words: NDArray[np.int32]
    places: NDArray[Any]
    starts: NDArray[np.int64]


class Gatherer:
    """Gathers the occurrences of a range of tokens, each with as many words behind it as a pattern may reach.

    Args:
        shards: The corpus.
        reach: Most words from the first token of a pattern to its last.
        pool: Threads, each of which reads some shards.
        n_threads: How many.
    """

    def __init__(self, shards: Shards, reach: int, pool: ThreadPoolExecutor, n_threads: int) -> None:
        self._shards, self._reach, self._pool = shards, reach, pool
        edges = np.linspace(0, len(shards.sizes), n_threads + 1).astype(int).tolist()
        self._groups = list(pairwise(edges))
        surveys = list(pool.map(self._survey, self._groups))
        self._occurrences = np.array([occurrences for occurrences, _ in surveys])
        self._spans = np.array([spans for _, spans in surveys])
        n_sentences = sum(shards.sizes)
        wide = max(n_sentences << shards.label_bits, int(self._spans.sum())) >= 2**31
        self._kind = np.int64 if wide else np.int32
        self._before = np.concatenate(([0], np.cumsum(shards.sizes)))

    def sizes(self) -> NDArray[np.int64]:
        """Most bytes that each token takes (F,)."""
        place = 2 * np.dtype(self._kind).itemsize
        sizes: NDArray[np.int64] = place * self._occurrences.sum(axis=0) + 4 * self._spans.sum(axis=0)
        return sizes

    def gather(self, first: int, past: int) -> Windows:
        """Gather the tokens `first` to `past`."""
        occurrences = self._occurrences[:, first:past]
        starts = np.zeros(len(self._shards.frequent) + 1, np.int64)
        starts[first + 1 :] = occurrences.sum(axis=0).sum()
        starts[first + 1 : past + 1] = np.cumsum(occurrences.sum(axis=0))
        spans = self._spans[:, first:past].sum(axis=1)
        words = np.empty(int(spans.sum()), np.int32)
        places = np.empty((int(starts[-1]), 2), self._kind)
        goals = starts[first:past] + np.cumsum(occurrences, axis=0) - occurrences
        begins = np.cumsum(spans) - spans

        def fill(group: tuple[int, int], at: int, goal: NDArray[np.int64]) -> None:
            from goldassay.kernels.pattern_counts_on_disk import gather_windows

            for shard in range(*group):
                at = gather_windows(
                    self._shards.words(shard), self._shards.labels(shard), self._shards.label_bits,
                    int(self._before[shard]), self._reach, first, past, at, goal, words, places,
                )  # fmt: skip

        list(self._pool.map(fill, self._groups, begins.tolist(), goals))
        return Windows(words, places, starts)

    def _survey(self, group: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        from goldassay.kernels.pattern_counts_on_disk import survey_windows

        occurrences = np.zeros(len(self._shards.frequent), np.int64)
        spans = np.zeros(len(self._shards.frequent), np.int64)
        for shard in range(*group):
            survey_windows(self._shards.words(shard), self._reach, occurrences, spans)
        return occurrences, spans


def each_count(
    windows: Windows, first: int, past: int, count: Callable[..., Any], pool: ThreadPoolExecutor, n_threads: int
) -> Iterator[Any]:
    """Run a counting kernel over a range of tokens in tasks of about equal size."""
    starts = windows.starts[first : past + 1]
    tasks = balanced(starts, n_threads * TASKS_PER_THREAD)
    yield from pool.map(lambda task: count(first + task[0], first + task[1], *windows), tasks)


def ranges_within(sizes: NDArray[np.int64], room: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Ranges of tokens that together take at most `room`; and ranges of tokens each of which takes more by itself."""
    fitting: list[tuple[int, int]] = []
    too_large: list[tuple[int, int]] = []
    begin, taken = 0, 0
    for token, size in enumerate(sizes.tolist()):
        if size > room or taken + size > room:
            if token > begin:
                fitting.append((begin, token))
            begin, taken = token, 0
        if size > room:
            if too_large and too_large[-1][1] == token:
                too_large[-1] = (too_large[-1][0], token + 1)
            else:
                too_large.append((token, token + 1))
            begin = token + 1
        else:
            taken += size
    if sizes.size > begin:
        fitting.append((begin, sizes.size))
    return fitting, too_large


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
        self._min_count, self._known, self._report = min_count, known, tell
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
        self._report(float(self._weight[part.past] - self._weight[part.first]) / part.modulus)
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
                self._report(self._share(first, past))
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
                self._report(self._share(first, past))
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
            lambda n: self._report(n / total / n_lengths / (1 + (self._max_tokens > 2))),
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

    def _report(self, further: float) -> None:
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
