"""Which classes of examples fall together."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import polars as pl

from goldassay.multiple_testing import benjamini_hochberg
from goldassay.studies.coincidence import coincidence
from goldassay.studies.experiments.recipe import Comparison
from goldassay.studies.experiments.recipes.crossing.examples import CLASSES, TOGETHER

if TYPE_CHECKING:
    from goldassay.studies.experiments.recipes.crossing.examples import Examples


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
    columns = ["first", "second", "ratio", "low", "high"]
    mirrored = overlaps.select(
        pl.col("second").alias("first"), pl.col("first").alias("second"), "ratio", "low", "high"
    ).select(columns)
    order = {name: i for i, name in enumerate(CLASSES)}
    cells = (
        pl.concat([overlaps.select(columns), mirrored])
        .rename({"first": "class", "second": "with", "ratio": "ours"})
        .sort(pl.col("class").replace_strict(order), pl.col("with").replace_strict(order))
        .with_columns(sd=None, n_runs=None, printed=None, printed_sd=None, doubted=False)
    )
    explained = "; ".join(f"{name}: {meaning}" for name, meaning in CLASSES.items())
    return Comparison(
        name="overlap",
        title="Examples in both classes, as a multiple of what chance within labels would give",
        rows=("class",),
        columns=("with",),
        cells=cells,
        digits=2,
        note=f"{explained}.",
        drawn="matrix",
    )
