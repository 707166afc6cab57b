"""One finding, one row: patterns that add nothing to a part of themselves are listed under it."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.artifacts.pattern_table import PatternTable

_Key = tuple[tuple[str, ...], tuple[int, ...]]


def fold_redundant(patterns: PatternTable) -> pl.DataFrame:
    """Say for each pattern which more frequent part of it already tells as much.

    A part of a pattern is what is left when some of its tokens are dropped (one dropped inside becomes a gap). A
    pattern is folded under a part of the same label in the table where the lower end of its own Wilson interval does
    not exceed the part's probability: the tokens it adds are not shown to raise the probability of the label. Where
    several parts qualify, the most frequent takes it. Parts that are themselves folded take none, so that every
    folded pattern stands under one that is shown.

    Rows are judged from the most frequent down, the shorter first where equal.

    Args:
        patterns: Usually cut by `select` or `significant`: parts that were cut away cannot take any.

    Returns:
        The table's rows in polars with two more columns: `folded_under` (the part, for reading; null where the row
        stands for itself) and `n_folded` (how many rows are listed under this one).
    """
    frame = patterns.to_frame()
    tokens = [tuple(row) for row in frame["tokens"].to_list()]
    gaps = [tuple(row) for row in frame["gaps"].to_list()]
    labels = frame["label"].to_list()
    support = frame["support"].to_list()
    probability = frame["probability"].to_list()
    low = frame["wilson_low"].to_list()
    standing: dict[tuple[_Key, str], int] = {}
    head: list[int | None] = [None] * len(tokens)
    n_folded = [0] * len(tokens)
    for row in sorted(range(len(tokens)), key=lambda row: (-support[row], len(tokens[row]))):
        parts = (standing.get((part, labels[row])) for part in _parts(tokens[row], gaps[row]))
        fitting = [part for part in parts if part is not None and low[row] <= probability[part]]
        if fitting:
            taker = max(fitting, key=lambda part: (support[part], -part))
            head[row] = taker
            n_folded[taker] += 1
        else:
            standing[(tokens[row], gaps[row]), labels[row]] = row
    shown = frame["pattern"].to_list()
    under = [None if taker is None else shown[taker] for taker in head]
    return frame.with_columns(
        folded_under=pl.Series(under, dtype=pl.String), n_folded=pl.Series(n_folded, dtype=pl.Int64)
    )


def _parts(tokens: tuple[str, ...], gaps: tuple[int, ...]) -> Iterator[_Key]:
    places = [0]
    for gap in gaps:
        places.append(places[-1] + gap + 1)
    for length in range(1, len(tokens)):
        for chosen in combinations(range(len(tokens)), length):
            yield (
                tuple(tokens[i] for i in chosen),
                tuple(places[b] - places[a] - 1 for a, b in pairwise(chosen)),
            )
