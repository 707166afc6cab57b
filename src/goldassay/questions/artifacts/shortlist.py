"""Of all mined patterns those that a report needs, gathered from a table or from the parts of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.artifacts import PatternTable, fold_redundant
from goldassay.artifacts.folding import parts_below
from goldassay.artifacts.pattern_lift import LiftedPatterns, lifted_patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

POINTS_IN_SCATTER = 3000
CURVE = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
# Findings that are folded: of more, the strongest of each label. A reader looks at the first dozens.
FOLDED_AT_MOST = 100_000
# Of findings: those that were folded under no other. Those that were not judged have no `n_folded`.
STANDING = pl.col("n_folded").is_not_null() & pl.col("folded_under").is_null()
_POINT = ("pattern", "support", "probability", "label")


@dataclass(frozen=True)
class TellingPatterns:
    """The mined patterns that a label can be guessed by, and how many there are.

    Attributes:
        selected: The significant ones whose share exceeds the threshold.
        lifted: Those that tell some label beyond chance, by lift.
        n_significant: How many are significant.
        n_mined: How many were mined.
        q: Largest q of a significant one.
        threshold: The share that the selected exceed.
    """

    selected: PatternTable
    lifted: LiftedPatterns
    n_significant: int
    n_mined: int
    q: float
    threshold: float

    @property
    def settings(self) -> dict[str, Any]:
        """What was mined with."""
        return self.selected.settings

    @property
    def label_names(self) -> tuple[str, ...]:
        """K names."""
        return self.selected.label_names


@dataclass(frozen=True)
class Shortlist(TellingPatterns):
    """What a report says of mined patterns is made from these.

    Attributes:
        judged: Positions of those among the selected that are folded, ascending: all, or the strongest.
        below: The significant parts of the judged that are not among them.
        for_curve: The significant ones whose share exceeds the first of `thresholds`, to be counted alone.
        thresholds: Of the curve of coverage.
        scatter: Points for the picture: the most frequent patterns and, of the rest, those most telling.
    """

    judged: NDArray[np.int64]
    below: PatternTable
    for_curve: PatternTable
    thresholds: tuple[float, ...]
    scatter: list[dict[str, Any]]

    def findings(self) -> pl.DataFrame:
        """The selected, folded; `folded_under` and `n_folded` are both null where one was not judged."""
        folded = fold_redundant(self.selected.take(self.judged), self.below)
        place = np.full(len(self.selected), -1)
        place[self.judged] = np.arange(self.judged.size)
        at = pl.Series(place).set(pl.Series(place < 0), None)
        return self.selected.to_frame().with_columns(folded[name].gather(at) for name in ("folded_under", "n_folded"))


def _anything_fits(_: int) -> bool:
    return True


def shortlist(
    parts: Callable[[], Iterable[PatternTable]],
    q: float,
    threshold: float,
    *,
    hold: Callable[[int], None] | None = None,
    fits: Callable[[int], bool] = _anything_fits,
) -> Shortlist:
    """Go through patterns and keep what a report needs.

    Args:
        parts: Gives the parts of a table in order; called several times.
        q: Largest q of a significant pattern.
        threshold: The share that the selected exceed.
        hold: Told how many are selected so far; raises where they are too many.
        fits: Whether so many can be held for the curve; where they cannot, it begins at a higher threshold.
    """
    selected: list[PatternTable] = []
    curve: list[PatternTable] = []
    thresholds = list(CURVE)
    frequent: pl.DataFrame | None = None
    telling: pl.DataFrame | None = None
    n_mined = n_significant = n_selected = n_curve = 0
    for part in parts():
        significant = part.significant(q)
        n_mined += len(part)
        n_significant += len(significant)
        selected.append(significant.select(threshold))
        n_selected += len(selected[-1])
        if hold is not None:
            hold(n_selected)
        curve.append(significant.select(thresholds[0]).to_count())
        n_curve += len(curve[-1])
        while not fits(n_curve) and len(thresholds) > 1:
            del thresholds[0]
            curve = [each.select(thresholds[0]) for each in curve]
            n_curve = sum(map(len, curve))
        frequent, telling = _scattered(frequent, telling, significant.to_frame().select(_POINT))
    # Of millions of patterns each table takes hundreds of megabytes.
    del part, significant
    assert frequent is not None
    assert telling is not None
    chosen = PatternTable.joined(selected)
    judged = _strongest(chosen, FOLDED_AT_MOST)
    return Shortlist(
        selected=chosen,
        judged=judged,
        below=parts_below(chosen.take(judged), (part.significant(q) for part in parts())),
        lifted=lifted_patterns(parts(), q),
        for_curve=PatternTable.joined(curve),
        thresholds=tuple(thresholds),
        scatter=pl.concat([frequent, telling]).to_dicts(),
        n_significant=n_significant,
        n_mined=n_mined,
        q=q,
        threshold=threshold,
    )


def _strongest(patterns: PatternTable, n: int) -> NDArray[np.int64]:
    """Positions, ascending, of the n rows that come first where each label in turn gives its next.

    Within a label by support x (probability - share of the label), as a report lists them, so that a rare label's are
    there too. Of equal ones the first.
    """
    frame, codes = patterns.to_frame(), patterns.label_codes()
    counts = np.array(patterns.settings["label_counts"], np.float64)
    share = counts[codes] / max(counts.sum(), 1.0)
    gain = frame["support"].to_numpy() * (frame["probability"].to_numpy() - share)
    order = np.lexsort((-gain, codes))
    turn = np.empty(order.size, np.int64)
    turn[order] = np.arange(order.size) - np.searchsorted(codes[order], codes[order])
    return np.sort(np.lexsort((-gain, turn))[:n])


def _scattered(
    frequent: pl.DataFrame | None, telling: pl.DataFrame | None, rows: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The first half of the points by order, and the other half by how telling they are, of all rows so far."""
    half = POINTS_IN_SCATTER // 2
    first = rows.clear() if frequent is None else frequent
    n_more = half - first.height
    first, rest = pl.concat([first, rows.head(n_more)]), rows.slice(n_more)
    best = rest if telling is None else pl.concat([telling, rest])
    return first, best.sort("probability", "support", descending=True, maintain_order=True).head(half)


def of_table(mined: PatternTable, q: float, threshold: float) -> Shortlist:
    """The shortlist of a table in memory."""
    return shortlist(lambda: [mined], q, threshold)


def telling_of_table(mined: PatternTable, q: float, threshold: float) -> TellingPatterns:
    """Of the shortlist of a table in memory what guessing needs; a control takes no more."""
    n_significant, selected = mined.telling(q, threshold)
    return TellingPatterns(
        selected=selected,
        lifted=lifted_patterns([mined], q),
        n_significant=n_significant,
        n_mined=len(mined),
        q=q,
        threshold=threshold,
    )
