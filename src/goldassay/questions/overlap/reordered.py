"""Items whose words stand in a row of the training part in another order."""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.results import Result
from goldassay.kernels.splitting import LETTER, OUTSIDE, SINGLE, code_points, number_words, write_words
from goldassay.kernels.word_counts import count_words, like_counts
from goldassay.kernels.words import N_POINTS, alone_points, ascii_letters, point_table, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from goldassay.questions.overlap.items import Item

# Of the counts of words, and of what is asked.
SIMILARITY = 0.95
# Fewer words have hardly another order; a row may be longer or shorter by this share.
_LEAST_WORDS, _MOST_LONGER = 3, 0.1
# A row is looked at where it has the same words, or half of an item's rarest words, up to four that are in ten items at
# most. What consists of frequent words alone is found where the counts are equal.
_RARE, _MOST_RARE = 10, 4
_SAME, _REORDERED, _SWAPPED = range(3)
# Rows that are numbered at a time, and what a cosine of the same counts may differ by.
_BLOCK, _ROUNDING = 1 << 14, 1e-9


@dataclass(frozen=True)
class Reordered(Result):
    """Which items have their words in a row in another order.

    Attributes:
        is_found: In a row of the training part, (N,).
        is_swapped: In one that has the two texts of a pair the other way around, (N,).
        is_within: In another item of the test set, (N,): what happens without any copy.
    """

    is_found: NDArray[np.bool_]
    is_swapped: NDArray[np.bool_]
    is_within: NDArray[np.bool_]


def find_reordered(items: Sequence[Item], training: pl.Series) -> Reordered:
    """Compare the counts of words of items and rows: cosine .95, in the question alone, too.

    Args:
        items: Of the test set.
        training: The text of each row.
    """
    texts = _Texts([_Text.of(item) for item in items])
    found, within = texts.compare(training), texts.compare_each_other()
    return Reordered(found == _REORDERED, found == _SWAPPED, within != _SAME)


@dataclass(frozen=True)
class _Text:
    """An item: its words, those that are asked, and those of a pair the other way around."""

    words: list[str]
    asked: list[str]
    swapped: list[str]

    @classmethod
    def of(cls, item: Item) -> _Text:
        parts = [words_of(text) for _, text in item.parts]
        asked = next((own for own, (name, _) in zip(parts, item.parts, strict=True) if name == item.asked), [])
        words = [word for part in (*parts, words_of(item.answer)) for word in part]
        is_pair = len(parts) == 2 and not item.answer
        return cls(words, asked, [*parts[1], *parts[0]] if is_pair else [])

    def compare(self, other: list[str]) -> int:
        """What a row is to the item; what has the same words in the same order is no case of this."""
        n = len(self.words)
        if other == self.words or n < _LEAST_WORDS or abs(n - len(other)) > _MOST_LONGER * n:
            return _SAME
        if self.swapped and other == self.swapped:
            return _SWAPPED
        one, two = Counter(self.words), Counter(other)
        in_order = [word for word in self.words if word in two] == [word for word in other if word in one]
        if in_order or _cosine(one, two) < SIMILARITY:
            return _SAME
        asked = Counter(self.asked)
        # What the row has beside the rest of the item: a long premise alone makes no copy.
        left = two - (one - asked)
        return _REORDERED if (left & asked).total() >= SIMILARITY * len(self.asked) else _SAME


def _cosine(one: Counter[str], other: Counter[str]) -> float:
    dot = sum(n * other[word] for word, n in one.items())
    return dot / math.sqrt(sum(n * n for n in one.values()) * sum(n * n for n in other.values()) or 1)


class _Texts:
    """The items, numbered by their words, and where each of their rare words is."""

    def __init__(self, texts: Sequence[_Text]) -> None:
        self.texts = texts
        vocabulary = sorted({word for text in texts for word in text.words})
        points, starts = code_points(vocabulary)
        slots, hashes = np.full(1 << 12, -1, np.int32), np.empty(1 << 10, np.uint64)
        # As one text a word: the numbers are places in the vocabulary, so that rare words are taken by their spelling.
        *_, self._slots, self._hashes, self._n_words = number_words(points, starts, _kinds(), slots, hashes, 0)
        number = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
        self.sizes = np.array([len(text.words) for text in texts], np.int64)
        self.offsets = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)
        every = (number[word] for text in texts for word in text.words)
        self.ids = np.fromiter(every, np.int32, int(self.offsets[-1]))
        words, counts = np.empty(self.ids.size, np.int32), np.empty(self.ids.size, np.int64)
        starts, self.keys = np.empty(len(texts) + 1, np.int64), np.empty(len(texts), np.uint64)
        count_words(self.ids, self.offsets, words, counts, starts, self.keys)
        self._counted = words[: starts[-1]], counts[: starts[-1]], starts
        of = np.repeat(np.arange(len(texts)), np.diff(starts))
        norms = np.bincount(of, counts[: starts[-1]] ** 2, len(texts)).astype(np.int64)
        n_texts = np.bincount(words[: starts[-1]], minlength=len(vocabulary))
        # Of each text the rarest words, of equally rare ones the first by spelling.
        rare = np.flatnonzero(n_texts[words[: starts[-1]]] <= _RARE)
        rare = rare[np.lexsort((words[rare], n_texts[words[rare]], of[rare]))]
        begins = np.searchsorted(of[rare], of[rare])
        rare = rare[np.arange(rare.size) - begins < _MOST_RARE]
        rare = rare[np.argsort(words[rare], kind="stable")]
        rare_offsets = np.searchsorted(words[rare], np.arange(len(vocabulary) + 1))
        n_rare = np.bincount(of[rare], minlength=len(texts))
        self._rare = self.sizes, norms, rare_offsets, of[rare], n_rare, _MOST_LONGER, SIMILARITY - _ROUNDING

    def compare(self, texts: pl.Series) -> NDArray[np.int64]:
        """Of each item whether some row has its words in another order, or the other way around."""
        found = np.full(len(self.texts), _SAME)
        for begin in range(0, texts.len(), _BLOCK):
            block = texts.slice(begin, _BLOCK)
            data = np.frombuffer(block.str.join("").item().encode() + b"\0", np.uint8)
            ends = np.cumsum(block.str.len_bytes().to_numpy().astype(np.int64))
            points = np.empty(data.size + 2 * ends.size, np.uint32)
            starts = np.empty(ends.size + 1, np.int64)
            begins = np.concatenate([[0], ends[:-1]])
            left = write_words(data, begins, ends, ascii_letters(), point_table(), points, starts)
            # Python reads what compiled loops leave to it.
            spelled = [" ".join(words_of(block[at])) for at in np.flatnonzero(left).tolist()]
            by_hand, more = code_points(spelled)
            starts = np.concatenate([starts, starts[-1] + more[1:]])
            rows = [*range(ends.size), *np.flatnonzero(left).tolist()]
            ids, offsets = self._numbered(np.concatenate([points[: starts[ends.size]], by_hand]), starts)
            self._compare(ids, offsets, rows, partial(_words_in, block), found)
        return found

    def compare_each_other(self) -> NDArray[np.int64]:
        """The same of each item with all items."""
        found = np.full(len(self.texts), _SAME)
        numbers = range(len(self.texts))
        self._compare(self.ids, self.offsets, numbers, lambda at: self.texts[at].words, found)
        return found

    def _numbered(
        self, points: NDArray[np.uint32], starts: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        # Else the loop would be compiled once more, for what may be written to.
        points.flags.writeable = False
        found = number_words(points, starts, _kinds(), self._slots, self._hashes, self._n_words)
        ids, ends, _, self._slots, self._hashes, self._n_words = found
        return ids, np.concatenate([[0], ends])

    def _compare(
        self,
        ids: NDArray[np.int32],
        offsets: NDArray[np.int64],
        rows: Sequence[int],
        words_at: Callable[[int], list[str]],
        found: NDArray[np.int64],
    ) -> None:
        keys = np.empty(offsets.size - 1, np.uint64)
        near = like_counts(ids, offsets, *self._counted, *self._rare, keys)
        order = np.argsort(self.keys, kind="stable")
        first, last = (np.searchsorted(self.keys[order], keys, side) for side in ("left", "right"))
        equal = np.flatnonzero((last > first) & (np.diff(offsets) > 0))
        pairs = {(rows[row], text) for row, text in near.tolist()}
        pairs |= {(rows[row], text) for row in equal.tolist() for text in order[first[row] : last[row]].tolist()}
        for row, text in sorted(pairs):
            if found[text] == _SAME:
                found[text] = self.texts[text].compare(words_at(row))


def _words_in(texts: pl.Series, at: int) -> list[str]:
    return words_of(texts[at])


@cache
def _kinds() -> NDArray[np.uint8]:
    """Kinds of the characters of words that are written out: a space parts them, and some are words by themselves."""
    found = np.full(sys.maxunicode + 1, LETTER, np.uint8)
    found[:N_POINTS][alone_points()] = SINGLE
    found[ord(" ")] = OUTSIDE
    return found
