"""In how many sentences each token of a corpus is, for vocabularies of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.files import write_parquet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

# Distinct tokens held in memory; more go to disk.
MOST_HELD = 1 << 20


class VocabularyCount:
    """Adds up the counts of tokens shard by shard.

    Counts are kept in memory until there are too many distinct tokens, then put aside on disk. What was put aside is
    added up by parts of the vocabulary, so that a part fits in memory.

    Args:
        folder: Where to put counts aside.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: list[pl.DataFrame] = []
        self._n_held = 0
        self._aside: list[Path] = []
        self._n_aside = 0

    def add(self, tokens: Sequence[str], support: NDArray[np.int64]) -> None:
        """Add one shard's distinct tokens with their counts."""
        frame = pl.DataFrame({"token": pl.Series(tokens, dtype=pl.String), "support": support})
        self._held.append(frame.filter(pl.col("support") > 0))
        self._n_held += self._held[-1].height
        if self._n_held <= MOST_HELD:
            return
        self._held = [_added(self._held)]
        self._n_held = self._held[0].height
        # Where most tokens are new, adding up anew for each shard would take quadratic time.
        if self._n_held > MOST_HELD // 2:
            path = self._folder / f"vocabulary-{len(self._aside)}"
            write_parquet(self._held[0], path)
            self._aside.append(path)
            self._n_aside += self._n_held
            self._held, self._n_held = [], 0

    def frequent(self, min_count: int) -> tuple[list[str], int]:
        """The tokens in at least `min_count` sentences, the most frequent first, and the largest count of any."""
        parts = []
        largest = 0
        for part in self._parts():
            largest = max(largest, int(part["support"].to_numpy().max(initial=0)))
            parts.append(part.filter(pl.col("support") >= min_count))
        found = pl.concat(parts).sort("support", "token", descending=[True, False])
        return found["token"].to_list(), largest

    def _parts(self) -> Iterator[pl.DataFrame]:
        if not self._aside:
            yield _added(self._held)
            return
        n_parts = 1 + 2 * self._n_aside // MOST_HELD
        for number in range(n_parts):
            mine = pl.col("token").hash() % n_parts == number
            yield _added(
                [frame.filter(mine) for frame in self._held]
                + [pl.scan_parquet(path).filter(mine).collect() for path in self._aside]
            )


def _added(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    if not frames:
        return pl.DataFrame(schema={"token": pl.String, "support": pl.Int64})
    return pl.concat(frames).group_by("token").agg(pl.col("support").sum())
