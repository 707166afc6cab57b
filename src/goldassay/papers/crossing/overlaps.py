"""Which classes of examples fall together."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.multiple_testing import benjamini_hochberg
from goldassay.papers.cells import show_cells
from goldassay.papers.coincidence import coincidence
from goldassay.papers.crossing.examples import CLASSES, TOGETHER

if TYPE_CHECKING:
    from goldassay.papers.crossing.examples import Examples
    from goldassay.papers.recipe import Comparison


def measure_overlaps(examples: Examples, seed: int) -> pl.DataFrame:
    """Of each two classes: observed and expected overlap within labels, ratio with interval, p, q.

    Pairs that exclude each other by definition, or that are measured of the same runs, are left out.
    """
    rows = []
    for first, second in combinations(CLASSES, 2):
        if {first, second} <= TOGETHER or {first, second} == {"easy", "hard"}:
            continue
        found = coincidence(examples.classes[first], examples.classes[second], examples.gold, seed=seed)
        rows.append({"first": first, "second": second, **found.to_dict()})
    frame = pl.DataFrame(rows, infer_schema_length=None)
    return frame.with_columns(pl.Series("q_value", benjamini_hochberg(frame["p_value"].to_numpy())))


def overlaps_table(overlaps: pl.DataFrame) -> Comparison:
    """The ratios as a matrix, each pair in both its places."""
    pairs = [
        {"class": first, "with": second, "ours": row["ratio"], "low": row["low"], "high": row["high"]}
        for row in overlaps.iter_rows(named=True)
        for first, second in ((row["first"], row["second"]), (row["second"], row["first"]))
    ]
    order = list(CLASSES)
    explained = "; ".join(f"{name}: {meaning}" for name, meaning in CLASSES.items())
    return show_cells(
        "overlap",
        "Examples in both classes, as a multiple of what chance within labels would give",
        sorted(pairs, key=lambda cell: (order.index(cell["class"]), order.index(cell["with"]))),
        rows=("class",),
        columns=("with",),
        digits=2,
        note=f"{explained}.",
        drawn="matrix",
    )
