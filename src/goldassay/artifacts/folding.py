"""One finding, one row: patterns that add nothing to a part of themselves are listed under it."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import polars as pl

from goldassay.artifacts.pattern_table import PatternTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_Key = tuple[tuple[str, ...], tuple[int, ...]]
_TOKENS, _GAPS = "\x1f", "\x1e"


def fold_redundant(patterns: PatternTable, below: PatternTable | None = None) -> pl.DataFrame:
    """Say for each pattern which more frequent part of it already tells as much.

    A part of a pattern is what is left when some of its tokens are dropped (one dropped inside becomes a gap). A
    pattern adds nothing to a part of the same label where the lower end of its own Wilson interval does not exceed the
    part's probability: the tokens it adds are not shown to raise the probability of the label. It is then folded under
    that part. Where several parts qualify, the most frequent takes it. Parts that are themselves folded take none, so
    that every folded pattern stands under one that is shown.

    A part may fall just short of the threshold that the patterns exceed, and so not be shown: of "outside" (68 %) would
    stay a dozen variants like "man # outside" (74 %, at least 59 %). What adds nothing to such a part only is folded
    under the most frequent pattern that stands for itself and contains the same part; where there is none, it stands.

    Rows are judged from the most frequent down, the shorter first where equal.

    Args:
        patterns: Usually cut by `select` or `significant`.
        below: Parts that were cut away, as `parts_below` finds them; without them they play no part.

    Returns:
        The table's rows in polars with two more columns: `folded_under` (the part, for reading; null where the row
        stands for itself) and `n_folded` (how many rows are listed under this one).
    """
    frame = patterns.to_frame()
    keys = _keys(frame)
    labels = frame["label"].to_list()
    support = frame["support"].to_list()
    probability = frame["probability"].to_list()
    low = frame["wilson_low"].to_list()
    short = {} if below is None else _shares(below)
    standing: dict[tuple[_Key, str], int] = {}
    holders: dict[tuple[_Key, str], int] = {}
    head: list[int | None] = [None] * len(keys)
    n_folded = [0] * len(keys)
    for row in sorted(range(len(keys)), key=lambda row: (-support[row], len(keys[row][0]))):
        parts = [(part, labels[row]) for part in _parts(*keys[row])]
        takers = [standing[part] for part in parts if part in standing and low[row] <= probability[standing[part]]]
        if not takers:
            takers = [holders[part] for part in parts if part in holders and low[row] <= short[part]]
        if takers:
            taker = max(takers, key=lambda part: (support[part], -part))
            head[row] = taker
            n_folded[taker] += 1
        else:
            standing[keys[row], labels[row]] = row
            for part in parts:
                if part in short:
                    holders.setdefault(part, row)
    shown = frame["pattern"].to_list()
    under = [None if taker is None else shown[taker] for taker in head]
    return frame.with_columns(
        folded_under=pl.Series(under, dtype=pl.String), n_folded=pl.Series(n_folded, dtype=pl.Int64)
    )


def parts_below(patterns: PatternTable, among: Iterable[PatternTable]) -> PatternTable:
    """The parts of patterns that are not in their table but in a larger one.

    Args:
        patterns: Cut.
        among: What they were cut from, in one table or in several that make up one.
    """
    own = _keys(patterns.to_frame())
    wanted = {part for key in own for part in _parts(*key)} - set(own)
    spelled = pl.Series([_TOKENS.join(tokens) + _GAPS + ",".join(map(str, gaps)) for tokens, gaps in wanted])
    spelled = spelled.cast(pl.String)
    here = pl.col("tokens").list.join(_TOKENS) + _GAPS + pl.col("gaps").cast(pl.List(pl.String)).list.join(",")
    return PatternTable.joined(
        [
            part.take(part.to_frame().select(here.is_in(spelled.implode())).to_series().arg_true().to_list())
            for part in among
        ]
    )


def _keys(frame: pl.DataFrame) -> list[_Key]:
    return list(zip(map(tuple, frame["tokens"].to_list()), map(tuple, frame["gaps"].to_list()), strict=True))


def _shares(table: PatternTable) -> dict[tuple[_Key, str], float]:
    frame = table.to_frame()
    return dict(zip(zip(_keys(frame), frame["label"], strict=True), frame["probability"], strict=True))


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
