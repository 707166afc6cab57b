"""Counts of the patterns that start with some tokens, whose occurrences are gathered from a corpus on disk."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from goldassay.artifacts.mining import TASKS_PER_THREAD, balanced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import ThreadPoolExecutor

    from numpy.typing import NDArray

    from goldassay.artifacts.streaming.spool import Shards


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
