"""The compiled loop of `choice_rules`: how alike the choices of an item are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import compiled

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
