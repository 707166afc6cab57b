"""Families of training rows: rows that are a stretch of another, or repeat it.

Sets of phrases (every constituent of a sentence with a label of its own) have rows whose words stand in other rows,
too. A probe that is judged on rows left out of a draw then knows their words from rows that were drawn, and looks
better and surer than it is on texts that are new. Mere copies make no families: what a probe knows of copies it is to
show, since test rows may be copies likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import compiled, compiled_within

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from goldassay.models.probe_features import TokenizedTexts

# Of so many random rows, at least this share must be a stretch of a longer row, or there are no families.
SAMPLED_ROWS, LEAST_SHARE = 2_000, 0.5
# Rows that a row is looked for in at most, the longest first.
MOST_COMPARED = 2_000


def find_families(texts: TokenizedTexts, n_train: int) -> NDArray[np.int64] | None:
    """The family of each training row, codes from 0 up, (n,); none where fewer than half of the rows are stretches.

    A row belongs to the longest row that contains it: each of its texts is a stretch of consecutive words of the same
    text there, or equal to it. Of the rows that have the rarest word of a row the 2,000 longest are looked at.

    Args:
        texts: The training rows first.
        n_train: n.
    """
    lengths = np.diff(texts.offsets[:, : n_train + 1], axis=1).sum(axis=0)
    # Longest first; of equals the first.
    order = np.argsort(-lengths, kind="stable")
    place = np.empty(n_train, dtype=np.int64)
    place[order] = np.arange(n_train)
    counts = _count_rows(texts.ids, texts.offsets, n_train, texts.hashes.size)
    rows = np.arange(n_train)
    if n_train > SAMPLED_ROWS:
        sampled = np.sort(np.random.default_rng(0).choice(n_train, SAMPLED_ROWS, replace=False))
        within = _find_longest(texts, order, place, counts, sampled)
        if np.mean(lengths[within] > lengths[sampled]) < LEAST_SHARE:
            return None
    within = _find_longest(texts, order, place, counts, rows)
    if np.mean(lengths[within] > lengths) < LEAST_SHARE:
        return None
    # The longest row that contains a row is in no longer one, but may equal an earlier one.
    while (within[within] != within).any():
        within = within[within]
    return np.unique(within, return_inverse=True)[1].astype(np.int64)


def _find_longest(
    texts: TokenizedTexts,
    order: NDArray[np.int64],
    place: NDArray[np.int64],
    counts: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> NDArray[np.int64]:
    rarest = _find_rarest(texts.ids, texts.offsets, counts, rows)
    wanted = np.zeros(counts.size, dtype=np.bool_)
    wanted[rarest[rarest >= 0]] = True
    sizes = np.where(wanted, np.minimum(counts, MOST_COMPARED), 0)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    postings = _list_rows(texts.ids, texts.offsets, order, wanted, starts)
    found: NDArray[np.int64] = _find_containing(texts.ids, texts.offsets, place, rows, rarest, starts, postings)
    return found


@compiled
def _count_rows(ids: NDArray[np.int32], offsets: NDArray[np.int64], n: int, n_words: int) -> NDArray[np.int64]:
    """In how many of the first n rows each word is, (V,)."""
    counts = np.zeros(n_words, np.int64)
    last = np.full(n_words, -1, np.int64)
    for row in range(n):
        for role in range(offsets.shape[0]):
            for at in range(offsets[role, row], offsets[role, row + 1]):
                word = ids[at]
                if last[word] != row:
                    last[word] = row
                    counts[word] += 1
    return counts


@compiled
def _find_rarest(
    ids: NDArray[np.int32], offsets: NDArray[np.int64], counts: NDArray[np.int64], rows: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The word of each row that fewest rows have, -1 for a row without words."""
    rarest = np.full(rows.size, -1, np.int64)
    for number in range(rows.size):
        row = rows[number]
        for role in range(offsets.shape[0]):
            for at in range(offsets[role, row], offsets[role, row + 1]):
                word = ids[at]
                if rarest[number] < 0 or counts[word] < counts[rarest[number]]:
                    rarest[number] = word
    return rarest


@compiled
def _list_rows(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    starts: NDArray[np.int64],
) -> NDArray[np.int32]:
    """The rows that have each wanted word, in the given order, as many as there is room for."""
    postings = np.empty(starts[-1], np.int32)
    filled = np.zeros(wanted.size, np.int64)
    last = np.full(wanted.size, -1, np.int64)
    for row in order:
        for role in range(offsets.shape[0]):
            for at in range(offsets[role, row], offsets[role, row + 1]):
                word = ids[at]
                if not wanted[word] or last[word] == row:
                    continue
                last[word] = row
                if starts[word] + filled[word] < starts[word + 1]:
                    postings[starts[word] + filled[word]] = row
                    filled[word] += 1
    return postings


@compiled
def _find_containing(
    ids: NDArray[np.int32],
    offsets: NDArray[np.int64],
    place: NDArray[np.int64],
    rows: NDArray[np.int64],
    rarest: NDArray[np.int64],
    starts: NDArray[np.int64],
    postings: NDArray[np.int32],
) -> NDArray[np.int64]:
    """The first row in order that contains each row, or the row itself."""
    found = rows.copy()
    for number in range(rows.size):
        word = rarest[number]
        if word < 0:
            continue
        row = rows[number]
        for at in range(starts[word], starts[word + 1]):
            other = postings[at]
            if place[other] >= place[row]:
                break
            if _contains(ids, offsets, other, row):
                found[number] = other
                break
    return found


@compiled_within
def _contains(ids: NDArray[np.int32], offsets: NDArray[np.int64], longer: int, row: int) -> bool:
    for role in range(offsets.shape[0]):
        begin, end = offsets[role, row], offsets[role, row + 1]
        size = end - begin
        first = offsets[role, longer]
        last = offsets[role, longer + 1] - size
        inside = False
        while first <= last and not inside:
            x = 0
            while x < size and ids[first + x] == ids[begin + x]:
                x += 1
            inside = x == size
            first += 1
        if not inside:
            return False
    return True
