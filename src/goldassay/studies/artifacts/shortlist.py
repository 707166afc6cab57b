"""Of all mined patterns those that a report needs, gathered from a table or from the parts of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.artifacts import PatternTable, fold_redundant
from goldassay.artifacts.folding import parts_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

POINTS_IN_SCATTER = 3000
CURVE = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
_POINT = ("pattern", "support", "probability", "label")


@dataclass(frozen=True)
class Shortlist:
    """What a report says of mined patterns is made from these.

    Attributes:
        selected: The significant ones whose share exceeds the threshold.
        below: The significant parts of these whose share does not.
        for_curve: The significant ones whose share exceeds the first of `thresholds`.
        thresholds: Of the curve of coverage.
        scatter: Points for the picture: the most frequent patterns and, of the rest, those most telling.
        n_significant: How many are significant.
        n_mined: How many were mined.
        q: Largest q of a significant one.
        threshold: The share that the selected exceed.
    """

    selected: PatternTable
    below: PatternTable
    for_curve: PatternTable
    thresholds: tuple[float, ...]
    scatter: list[dict[str, Any]]
    n_significant: int
    n_mined: int
    q: float
    threshold: float

    def findings(self) -> pl.DataFrame:
        """The selected, folded."""
        return fold_redundant(self.selected, self.below)

    @property
    def settings(self) -> dict[str, Any]:
        """What was mined with."""
        return self.selected.settings

    @property
    def label_names(self) -> tuple[str, ...]:
        """K names."""
        return self.selected.label_names


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
        parts: Gives the parts of a table in order; called twice.
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
        curve.append(significant.select(thresholds[0]))
        n_curve += len(curve[-1])
        while not fits(n_curve) and len(thresholds) > 1:
            del thresholds[0]
            curve = [each.select(thresholds[0]) for each in curve]
            n_curve = sum(map(len, curve))
        frequent, telling = _scattered(frequent, telling, significant.to_frame().select(_POINT))
    assert frequent is not None
    assert telling is not None
    chosen = PatternTable.joined(selected)
    return Shortlist(
        selected=chosen,
        below=parts_below(chosen, (part.significant(q) for part in parts())),
        for_curve=PatternTable.joined(curve),
        thresholds=tuple(thresholds),
        scatter=pl.concat([frequent, telling]).to_dicts(),
        n_significant=n_significant,
        n_mined=n_mined,
        q=q,
        threshold=threshold,
    )


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
