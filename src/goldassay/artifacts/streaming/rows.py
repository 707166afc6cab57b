"""Mined patterns on disk, appended as they are found."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from goldassay.artifacts.pattern_rows import PART, MinedPatterns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray


class MinedRows:
    """A file of patterns as numbers: M tokens, M-1 gaps and K counts each.

    Args:
        path: Where to write it.
        max_tokens: M.
        n_labels: K.
    """

    def __init__(self, path: Path, max_tokens: int, n_labels: int) -> None:
        self.max_tokens, self.n_labels = max_tokens, n_labels
        self._path = path
        self._lock = threading.Lock()
        self._n = 0
        path.write_bytes(b"")

    def __len__(self) -> int:
        return self._n

    def append(self, tokens: NDArray[np.int32], gaps: NDArray[np.int8], counts: NDArray[np.int32]) -> None:
        """Add patterns of any one length up to M: tokens (V,L), gaps (V,L-1), counts (V,K)."""
        length = tokens.shape[1]
        rows = np.full((tokens.shape[0], self._width), -1, np.int32)
        rows[:, :length] = tokens
        rows[:, self.max_tokens : self.max_tokens + length - 1] = gaps
        rows[:, 2 * self.max_tokens - 1 :] = counts
        self.extend(rows)

    def extend(self, rows: NDArray[np.int32]) -> None:
        """Add rows as they stand in the file."""
        with self._lock, self._path.open("ab") as file:
            file.write(np.ascontiguousarray(rows).data)
            self._n += rows.shape[0]

    def parts(self) -> Iterator[NDArray[np.int32]]:
        """The rows as they stand, at most `PART` at once."""
        for begin in range(0, self._n, PART):
            n = min(PART, self._n - begin) * self._width
            yield np.fromfile(self._path, np.int32, n, offset=4 * begin * self._width).reshape(-1, self._width)

    def read(self) -> MinedPatterns:
        """All of them at once."""
        return self.unpacked(np.fromfile(self._path, np.int32).reshape(-1, self._width))

    def unpacked(self, rows: NDArray[np.int32]) -> MinedPatterns:
        """Rows as tokens, gaps and counts."""
        M = self.max_tokens
        return MinedPatterns(rows[:, :M], rows[:, M : 2 * M - 1].astype(np.int8), rows[:, 2 * M - 1 :])

    @property
    def _width(self) -> int:
        return 2 * self.max_tokens - 1 + self.n_labels
