"""Mined patterns in the order of the table, sorted on disk a bucket at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from goldassay.artifacts.pattern_rows import PART, MinedPatterns, Words
from goldassay.artifacts.streaming.rows import MinedRows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Rows of one bucket, unless there would be more buckets than that.
BUCKET = 2 * PART
_MOST_BUCKETS = 1000


def in_order(found: MinedRows, words: Words, folder: Path) -> Iterator[MinedPatterns]:
    """Give patterns by support, descending, then by tokens and gaps, at most `PART` at once; an empty part if none.

    Two passes over what was found: the first sees how supports (and, among equal ones, first tokens) are distributed,
    and so where to part the rows into buckets of about equal size; the second puts each row into its bucket on disk.

    Args:
        found: The patterns in any order.
        words: The tokens by number.
        folder: An empty folder of its own.
    """
    if not len(found):
        yield found.read()
        return
    buckets = _buckets(found, words, folder)
    for bucket in buckets:
        mined = bucket.read()
        order = words.order(mined)
        for begin in range(0, len(mined), PART):
            yield mined.take(order[begin : begin + PART])


def _buckets(found: MinedRows, words: Words, folder: Path) -> list[MinedRows]:
    keys = np.empty(len(found), np.int64)
    at = 0
    for rows in found.parts():
        keys[at : at + len(rows)] = words.coarse_order(found.unpacked(rows))
        at += len(rows)
    keys.sort()
    n_rows = max(BUCKET, -(-len(found) // _MOST_BUCKETS))
    edges = np.unique(keys[n_rows::n_rows])
    del keys
    buckets = [MinedRows(folder / f"{b}.rows", found.max_tokens, found.n_labels) for b in range(edges.size + 1)]
    for rows in found.parts():
        bucket_of = np.searchsorted(edges, words.coarse_order(found.unpacked(rows)), side="right")
        order = np.argsort(bucket_of, kind="stable")
        numbers, starts = np.unique(bucket_of[order], return_index=True)
        for number, part in zip(numbers.tolist(), np.split(rows[order], starts[1:]), strict=True):
            buckets[number].extend(part)
    return buckets
