"""The features of rows as a table of weights wants them: row after row, which of its lines, and what to multiply it by.

`ProbeFeatures` has columns block by block, without values, for the probes of some texts and of all. To take a row's
apart costs as much as a visit of a regression to it does, so that of rows that are visited again and again it is
done once.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.compiled import compiled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from goldassay.models.probe_features import ProbeFeatures

    Entries = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.float32], NDArray[np.float32]]

# Entries that are kept for all passes of a fit (64 MiB) and for all folds (512 MiB), and that are gathered at once
# where there are more (4 MiB).
KEPT_ENTRIES, SHARED_ENTRIES, ENTRIES_AT_ONCE = 1 << 23, 1 << 26, 1 << 19
# Entries behind the last one, for loops that look ahead.
AHEAD = 16

_ZERO, _ONE = np.float32(0), np.float32(1)
# Square roots and quotients of small whole numbers took a third of the time of short rows.
_INVERSE_ROOTS = np.ones(1024, dtype=np.float32)
_INVERSE_ROOTS[1:] = 1 / np.sqrt(np.arange(1, 1024, dtype=np.float64))


def gather(features: ProbeFeatures, widths: NDArray[np.int64], rows: NDArray[np.int64]) -> Entries:
    """Entries of some rows, 8 bytes each; the constant is one more feature, each row's last and the table's last line.

    Args:
        features: Of all rows.
        widths: How many columns of each block are used, (B,).
        rows: Which, (n,).

    Returns:
        Where each row's entries begin, and where the last one's end, (n + 1,); the line of the table of each, and what
        to multiply it by, (entries,) and `AHEAD` more; the sum of each row's squared values, (n,).
    """
    firsts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
    found: Entries = _gather(features.columns, features.starts, features.sizes, widths, firsts, rows)
    return found


def in_parts(
    features: ProbeFeatures, widths: NDArray[np.int64], rows: NDArray[np.int64]
) -> Iterator[tuple[slice, Entries]]:
    """Entries of some rows, stretch after stretch, of so many rows that memory is bounded."""
    ends = np.cumsum(count_entries(features.sizes, widths, rows))
    bounds = np.searchsorted(ends, np.arange(0, ends[-1:].sum(), ENTRIES_AT_ONCE))
    for begin, end in pairwise([*bounds.tolist(), rows.size]):
        if begin < end:
            yield slice(begin, end), gather(features, widths, rows[begin:end])


@compiled
def count_entries(sizes: NDArray[np.int32], widths: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many entries each row has at most, the constant among them, (n,)."""
    counts = np.ones(rows.size, np.int64)
    for b in range(widths.size):
        if widths[b] > 0:
            for r in range(rows.size):
                counts[r] += sizes[rows[r], b]
    return counts


@compiled
def _gather(
    columns: NDArray[np.int32],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int32],
    widths: NDArray[np.int64],
    firsts: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> Entries:
    most = count_entries(sizes, widths, rows).sum()
    begins = np.empty(rows.size + 1, np.int64)
    lines = np.empty(most + AHEAD, np.uint32)
    values = np.empty(most + AHEAD, np.float32)
    squares = np.empty(rows.size, np.float32)
    n = 0
    for r in range(rows.size):
        i = rows[r]
        begins[r] = n
        begin = starts[i]
        total = _ZERO
        for b in range(widths.size):
            size = sizes[i, b]
            if widths[b] > 0 and size > 0:
                value = (
                    _INVERSE_ROOTS[size] if size < _INVERSE_ROOTS.size else _ONE / np.float32(np.sqrt(np.float32(size)))
                )
                for at in range(begin, begin + size):
                    if columns[at] < widths[b]:
                        lines[n] = np.uint32(columns[at] + firsts[b])
                        values[n] = value
                        n += 1
                        total += value * value
            begin += size
        lines[n] = np.uint32(firsts[widths.size])
        values[n] = _ONE
        squares[r] = total + _ONE
        n += 1
    begins[rows.size] = n
    lines[n : n + AHEAD] = 0
    return begins, lines, values, squares
