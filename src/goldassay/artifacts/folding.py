"""One finding, one row: patterns that add nothing to a part of themselves are listed under it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.artifacts.matching import PatternTokens, PatternTree
from goldassay.artifacts.pattern_table import PatternTable

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    from goldassay.kernels.pattern_parts import fold_rows

    frame = patterns.to_frame()
    tables = [frame] if below is None else [frame, below.to_frame()]
    cut_labels = np.empty(0, np.int64) if below is None else below.label_codes()
    columns = (pl.concat(table[name] for table in tables) for name in ("tokens", "gaps"))
    numbers = PatternTokens.of(*columns)
    tree = PatternTree.of(numbers)
    # Copies, since the kernel is compiled anew for an array that may not be written to.
    support, low = (frame[name].to_numpy(writable=True) for name in ("support", "wilson_low"))
    lengths = np.diff(numbers.starts[: len(patterns) + 1])
    head = fold_rows(
        np.lexsort((lengths, -support)),
        np.concatenate((patterns.label_codes(), cut_labels)),
        support,
        np.concatenate([table["probability"].to_numpy() for table in tables]),
        low,
        tree.row_starts,
        tree.rows,
        *_walked(numbers, tree),
    )
    folded = head >= 0
    under = pl.Series(head, dtype=pl.Int64).set(pl.Series(~folded), None)
    return frame.with_columns(
        folded_under=frame["pattern"].gather(under),
        n_folded=pl.Series(np.bincount(head[folded], minlength=len(patterns)), dtype=pl.Int64),
    )


def parts_below(patterns: PatternTable, among: Iterable[PatternTable]) -> PatternTable:
    """The parts of patterns that are not in their table but in a larger one.

    Args:
        patterns: Cut.
        among: What they were cut from, in one table or in several that make up one.
    """
    from goldassay.kernels.pattern_parts import mark_parts

    numbers = patterns.as_numbers()
    found = []
    for part in among:
        tree = part.tree
        marked = mark_parts(*_walked(numbers, tree))
        found.append(part.take(np.sort(tree.rows[np.repeat(marked, np.diff(tree.row_starts))])))
    return PatternTable.joined(found)


def _walked(numbers: PatternTokens, tree: PatternTree) -> tuple[Any, ...]:
    """Patterns, with the tree's numbers of their tokens, and the tree, as the kernels take them."""
    return (
        tree.numbers_of(numbers.words)[numbers.tokens],
        numbers.gaps,
        numbers.starts,
        tree.n_distances,
        len(tree.vocabulary),
        tree.roots,
        tree.keys,
        tree.child_starts,
    )
