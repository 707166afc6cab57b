"""What each reader says of each part of each example: the table `readers`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.stats.effects import ReaderPredictions

RIGHT, WRONG, SHARED = "right", "wrong", "partly right"


def answers_of_readers(
    readings: Sequence[ReaderPredictions], label_names: Sequence[str], ids: Sequence[str]
) -> pl.DataFrame:
    """A row an example, a column a reader of a part, named "PART: READER".

    Its value is the label that most runs of the reader name (of equally many the first); of readers that pick choices
    whether the pick is right, and null where the reader picks none.
    """
    columns: dict[str, pl.Series] = {}
    for reading in readings:
        name = f"{reading.part}: {reading.reader}"
        if name not in columns:
            columns[name] = _named(reading, label_names)
    return pl.DataFrame({"example_id": pl.Series(list(ids), dtype=pl.String), **columns})


def _named(reading: ReaderPredictions, label_names: Sequence[str]) -> pl.Series:
    if reading.predictions is None:
        right = np.atleast_2d(np.asarray(reading.correct, dtype=np.float64)).mean(axis=0)
        codes = np.where(right == 1, 0, np.where(right == 0, 1, 2))
        if reading.applies is not None:
            codes = np.where(reading.applies, codes, -1)
        return _texts(codes, (RIGHT, WRONG, SHARED))
    named = np.atleast_2d(np.asarray(reading.predictions))
    votes = np.stack([(named == code).sum(axis=0) for code in range(len(label_names))])
    return _texts(np.where(votes.max(axis=0) > 0, votes.argmax(axis=0), -1), label_names)


def _texts(codes: NDArray[np.integer], names: Sequence[str]) -> pl.Series:
    known = pl.Series(list(names), dtype=pl.String)
    return known.gather(pl.Series(np.where(codes < 0, 0, codes))).zip_with(
        pl.Series(codes >= 0), pl.Series([None], dtype=pl.String).new_from_index(0, codes.size)
    )
