"""Items whose words stand in a row of the training part in another order."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.results import Result
from goldassay.kernels.words import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


def find_reordered(items: Sequence[Item], training: Iterable[str]) -> Reordered:
    """Compare the counts of words of items and rows: cosine .95, in the question alone, too.

    Args:
        items: Of the test set.
        training: The text of each row.
    """
    texts = [_Text.of(item) for item in items]
    found = _compare(texts, training)
    within = _compare(texts, (" ".join(text.words) for text in texts))
    return Reordered(found == _REORDERED, found == _SWAPPED, within != _SAME)


@dataclass(frozen=True)
class _Text:
    """An item: its words, how often each is there, those that are asked, and those of a pair the other way around."""

    words: list[str]
    key: tuple[str, ...]
    bag: set[str]
    asked: list[str]
    swapped: list[str]

    @classmethod
    def of(cls, item: Item) -> _Text:
        parts = [words_of(text) for _, text in item.parts]
        asked = next((own for own, (name, _) in zip(parts, item.parts, strict=True) if name == item.asked), [])
        words = [word for part in (*parts, words_of(item.answer)) for word in part]
        is_pair = len(parts) == 2 and not item.answer
        return cls(words, tuple(sorted(words)), set(words), asked, [*parts[1], *parts[0]] if is_pair else [])

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


def _compare(texts: Sequence[_Text], rows: Iterable[str]) -> NDArray[np.int64]:
    """Of each item whether some row has its words in another order, or the other way around."""
    found = np.full(len(texts), _SAME)
    of_key: dict[tuple[str, ...], list[int]] = {}
    n_items: Counter[str] = Counter()
    for number, text in enumerate(texts):
        of_key.setdefault(text.key, []).append(number)
        n_items.update(text.bag)
    # Items of each rare word, and how many such words an item has.
    of_rare: dict[str, list[int]] = {}
    n_rare = np.zeros(len(texts), np.int64)
    for number, text in enumerate(texts):
        rare = sorted((n_items[word], word) for word in text.bag if n_items[word] <= _RARE)[:_MOST_RARE]
        n_rare[number] = len(rare)
        for _, word in rare:
            of_rare.setdefault(word, []).append(number)
    for row in rows:
        words = words_of(row)
        hits = Counter(number for word in of_rare.keys() & set(words) for number in of_rare[word])
        near = (number for number, n in hits.items() if 2 * n >= n_rare[number])
        for number in {*of_key.get(tuple(sorted(words)), ()), *near}:
            if found[number] == _SAME:
                found[number] = texts[number].compare(words)
    return found
