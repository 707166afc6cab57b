"""Exact matches of n-grams in one document, by the numbers of its words."""

from __future__ import annotations

from typing import Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.scanning.word_kernels import BASE

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_U29 = np.uint64(29)
_ALL = np.uint64(2**64 - 1)


@compiled_within
def _hash(words: Any, begin: int, length: int, keep: Any) -> Any:
    h = np.uint64(length)
    for j in range(begin, begin + length):
        h = h * BASE + np.uint64(words[j] + 1)
        h = (h ^ (h >> _U29)) * _SPREAD
    return (h ^ (h >> _U29)) & keep


@compiled
def number_ngrams(words: Any, starts: Any, lengths: Any, slots: Any, grams: Any) -> int:
    """Number the n-grams that begin at starts[i], equal ones alike, in the order in which they come.

    Args:
        words: Numbers of words.
        starts: Where each n-gram begins, (W,).
        lengths: Its words, (W,).
        slots: An open table of zeros, of at least 2 W places.
        grams: Filled: the number of each, (W,).

    Returns:
        How many distinct ones there are.
    """
    last = np.uint64(slots.size - 1)
    n = 0
    for i in range(starts.size):
        at = _hash(words, starts[i], lengths[i], _ALL) & last
        number = -1
        while slots[at] != 0:
            other = slots[at] - 1
            same = lengths[other] == lengths[i]
            j = 0
            while same and j < lengths[i]:
                same = words[starts[other] + j] == words[starts[i] + j]
                j += 1
            if same:
                number = grams[other]
                break
            at = (at + np.uint64(1)) & last
        if number < 0:
            slots[at] = i + 1
            number = n
            n += 1
        grams[i] = number
    return n


@compiled
def fill_exact(words: Any, starts: Any, lengths: Any, keep: Any, slots: Any) -> None:
    """Put distinct n-grams into an open table: slots hold their number plus 1."""
    last = np.uint64(slots.size - 1)
    for i in range(starts.size):
        at = _hash(words, starts[i], lengths[i], keep) & last
        while slots[at] != 0:
            at = (at + np.uint64(1)) & last
        slots[at] = i + 1


@compiled
def match_words(
    document: Any, words: Any, starts: Any, lengths: Any, keep: Any, slots: Any, sizes: Any, places: Any, grams: Any
) -> int:
    """Every n-gram of a document that is sought: where it begins, and its number; returns how many there are.

    Words are compared one by one: a hash only says where to look.
    """
    last = np.uint64(slots.size - 1)
    found = 0
    for k in range(sizes.size):
        size = sizes[k]
        known = 0
        for i in range(document.size):
            known = known + 1 if document[i] >= 0 else 0
            if known < size:
                continue
            begin = i - size + 1
            at = _hash(document, begin, size, keep) & last
            while slots[at] != 0:
                gram = slots[at] - 1
                same = lengths[gram] == size
                j = 0
                while same and j < size:
                    same = words[starts[gram] + j] == document[begin + j]
                    j += 1
                if same:
                    places[found] = begin
                    grams[found] = gram
                    found += 1
                    break
                at = (at + np.uint64(1)) & last
    return found


@compiled
def cover(is_start: Any, size: int, covered: Any) -> int:
    """Mark the words that lie in n-grams beginning where `is_start`; returns how many."""
    n = 0
    left = 0
    for i in range(covered.size):
        if i < is_start.size and is_start[i]:
            left = size
        covered[i] = left > 0
        if left > 0:
            n += 1
            left -= 1
    return n


@compiled
def longest_run(begins: Any, places: Any, size: int) -> int:
    """Most words that follow each other in both: n-grams at (begins[i], places[i]), sorted by their difference."""
    best = run = 0
    for i in range(begins.size):
        if i > 0 and begins[i] == begins[i - 1] + 1 and places[i] == places[i - 1] + 1:
            run += 1
        else:
            run = 0
        best = max(best, size + run)
    return best
