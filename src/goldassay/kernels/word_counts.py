"""Texts compared by how often each word is in them, whatever their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.compiled import compiled, compiled_within
from goldassay.kernels.hashing import finalized

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled_within
def _counted(ids: Any, begin: Any, end: Any, words: Any, counts: Any) -> Any:
    """The distinct words of a text, sorted, and how often each is there: how many, and a hash of them all."""
    n, key = 0, np.uint64(0)
    ordered = np.sort(ids[begin:end])
    for at in range(ordered.size):
        # A sum: the order of the words is forgotten.
        key += finalized(np.uint64(ordered[at] + 1))
        if n and words[n - 1] == ordered[at]:
            counts[n - 1] += 1
        else:
            words[n], counts[n] = ordered[at], 1
            n += 1
    return n, key


@compiled
def count_words(ids: Any, offsets: Any, words: Any, counts: Any, starts: Any, keys: Any) -> None:
    """Count the words of texts.

    Args:
        ids: Numbers of the words of all texts, (T,).
        offsets: Where each text begins, one more at the end, (N + 1,).
        words: Filled with the distinct words of each text, sorted, at most (T,).
        counts: Filled with how often each is there.
        starts: Filled with where each text begins in these, (N + 1,).
        keys: Filled with a hash of the words of each text in any order, (N,).
    """
    starts[0] = 0
    for text in range(keys.size):
        n, keys[text] = _counted(ids, offsets[text], offsets[text + 1], words[starts[text] :], counts[starts[text] :])
        starts[text + 1] = starts[text] + n


@compiled
def like_counts(
    ids: Any, offsets: Any, words: Any, counts: Any, starts: Any, sizes: Any, norms: Any, rare_offsets: Any,
    rare_texts: Any, n_rare: Any, longer: float, least: float, keys: Any,
) -> NDArray[np.int64]:  # fmt: skip
    """Find pairs of a row and a text with similar word counts.

    The row has at least half of the text's rare words, and the cosine of their counts is at least `least`.

    Args:
        ids: Numbers of the words of M rows, those of the texts first.
        offsets: Where each row begins, one more at the end, (M + 1,).
        words: Of N texts, as `count_words` fills them; likewise counts and starts.
        counts: Likewise.
        starts: Likewise.
        sizes: Words of each text, (N,).
        norms: Sum of the squares of its counts, (N,).
        rare_offsets: Where the texts of each rare word begin, (V + 1,).
        rare_texts: Texts by rare word.
        n_rare: Rare words of each text, (N,).
        longer: The share by which a row may be longer or shorter.
        least: The least cosine of counts.
        keys: Filled with a hash of the words of each row in any order, (M,).

    Returns:
        Pairs (P, 2) of a row and a text, by row.
    """
    found = np.empty((1024, 2), np.int64)
    n_found = 0
    hits, touched = np.zeros(sizes.size, np.int64), np.empty(sizes.size, np.int64)
    most = 1
    for row in range(keys.size):
        most = max(most, offsets[row + 1] - offsets[row])
    own, own_counts = np.empty(most, ids.dtype), np.empty(most, np.int64)
    for row in range(keys.size):
        size = offsets[row + 1] - offsets[row]
        n, keys[row] = _counted(ids, offsets[row], offsets[row + 1], own, own_counts)
        n_touched = norm = 0
        for at in range(n):
            norm += own_counts[at] ** 2
            if own[at] < rare_offsets.size - 1:
                for place in range(rare_offsets[own[at]], rare_offsets[own[at] + 1]):
                    text = rare_texts[place]
                    if hits[text] == 0:
                        touched[n_touched] = text
                        n_touched += 1
                    hits[text] += 1
        for text in touched[:n_touched]:
            is_near = 2 * hits[text] >= n_rare[text] and abs(sizes[text] - size) <= longer * sizes[text]
            hits[text] = 0
            if not is_near:
                continue
            dot, at = 0, 0
            for place in range(starts[text], starts[text + 1]):
                while at < n and own[at] < words[place]:
                    at += 1
                if at < n and own[at] == words[place]:
                    dot += own_counts[at] * counts[place]
            if dot * dot < least * least * norm * norms[text]:
                continue
            if n_found == found.shape[0]:
                found = np.concatenate((found, np.empty_like(found)))
            found[n_found, 0], found[n_found, 1] = row, text
            n_found += 1
    return found[:n_found]
