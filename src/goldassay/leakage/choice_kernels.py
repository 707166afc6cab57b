"""Compiled loops: how alike the choices of an item are, which is out of order, what they have of its question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BITS = np.uint64(21)


@compiled
def mean_likeness(
    characters: NDArray[np.uint32], lengths: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Mean Jaccard similarity of each choice's character 3-grams to those of the item's other choices, (M,).

    A text of fewer than three characters is one gram; two empty texts are alike.

    Args:
        characters: Code points of all choices, one after the other.
        lengths: Of each choice, in characters, (M,).
        offsets: Where the choices of each item begin, and where the last one's end, (N + 1,).
    """
    starts = np.zeros(lengths.size + 1, np.int64)
    starts[1:] = np.cumsum(lengths)
    found = np.zeros(lengths.size, np.float64)
    for item in range(offsets.size - 1):
        first, end = offsets[item], offsets[item + 1]
        room = np.empty(starts[end] - starts[first] + end - first, np.uint64)
        bounds = np.zeros(end - first + 1, np.int64)
        n = 0
        for choice in range(first, end):
            begin, size = starts[choice], lengths[choice]
            n_grams = max(size - 2, 1)
            for at in range(n_grams):
                gram = np.uint64(0)
                for x in range(begin + at, min(begin + at + 3, begin + size)):
                    gram = (gram << _BITS) | np.uint64(characters[x] + 1)
                room[n + at] = gram
            grams = np.sort(room[n : n + n_grams])
            kept = 0
            for at in range(n_grams):
                if at == 0 or grams[at] != grams[at - 1]:
                    room[n + kept] = grams[at]
                    kept += 1
            n += kept
            bounds[choice - first + 1] = n
        for one in range(end - first):
            for two in range(one + 1, end - first):
                x, y, shared = bounds[one], bounds[two], 0
                while x < bounds[one + 1] and y < bounds[two + 1]:
                    if room[x] == room[y]:
                        shared += 1
                        x += 1
                        y += 1
                    elif room[x] < room[y]:
                        x += 1
                    else:
                        y += 1
                union = bounds[one + 1] - bounds[one] + bounds[two + 1] - bounds[two] - shared
                alike = shared / union
                found[first + one] += alike
                found[first + two] += alike
        for choice in range(first, end):
            found[choice] /= max(end - first - 1, 1)
    return found


@compiled
def out_of_order(values: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """1 for each choice without which the values of the others rise, or fall, all along, and 0 for others, (M,).

    Equal neighbors are in order either way. Where the values of all are in order, that of each choice is 1.

    Args:
        values: Of all choices, one after the other, (M,).
        offsets: Where the choices of each item begin, and where the last one's end, (N + 1,).
    """
    found = np.zeros(values.size, np.float64)
    for item in range(offsets.size - 1):
        for left_out in range(offsets[item], offsets[item + 1]):
            rises, falls = True, True
            before = -1
            for choice in range(offsets[item], offsets[item + 1]):
                if choice == left_out:
                    continue
                if before >= 0:
                    rises &= values[before] <= values[choice]
                    falls &= values[before] >= values[choice]
                before = choice
            found[left_out] = rises or falls
    return found


@compiled
def shared_sequences(
    units: NDArray[np.uint64],
    lengths: NDArray[np.int64],
    offsets: NDArray[np.int64],
    context: NDArray[np.uint64],
    context_lengths: NDArray[np.int64],
    size: int,
) -> NDArray[np.float64]:
    """Share of each choice's sequences of so many units that stand in the context of its item, (M,).

    Units are characters or words, by number. A choice of fewer units shares nothing. Sequences are compared by a hash
    of 64 bits, of which two are alike by chance once in 10^19.

    Args:
        units: Of all choices, one after the other.
        lengths: Of each choice, in units, (M,).
        offsets: Where the choices of each item begin, and where the last one's end, (N + 1,).
        context: Units of all contexts.
        context_lengths: Of each context, (N,).
        size: Units of a sequence.
    """
    found = np.zeros(lengths.size, np.float64)
    begin, context_begin = 0, 0
    for item in range(offsets.size - 1):
        known = np.sort(_sequences(context, context_begin, context_lengths[item], size))
        context_begin += context_lengths[item]
        for choice in range(offsets[item], offsets[item + 1]):
            own = _sequences(units, begin, lengths[choice], size)
            begin += lengths[choice]
            shared = 0
            for gram in own:
                at = np.searchsorted(known, gram)
                shared += at < known.size and known[at] == gram
            if own.size:
                found[choice] = shared / own.size
    return found


@compiled_within
def _sequences(units: Any, begin: int, length: int, size: int) -> Any:
    """Hashes of all sequences of a text."""
    found = np.empty(max(length - size + 1, 0), np.uint64)
    for at in range(found.size):
        gram = np.uint64(0x9E3779B97F4A7C15)
        for x in range(begin + at, begin + at + size):
            gram = (gram ^ units[x]) * np.uint64(0xBF58476D1CE4E5B9)
            gram ^= gram >> np.uint64(29)
        found[at] = gram
    return found
