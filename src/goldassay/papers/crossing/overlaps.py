"""Which classes of examples fall together, and which do so beyond their difficulty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goldassay.instability import overlap_classes
from goldassay.papers.cells import show_cells
from goldassay.papers.crossing.examples import CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.papers.crossing.examples import ClassedExamples
    from goldassay.papers.recipe import Comparison

# What patterns say of an example is one of the two.
_EXCLUDED = (frozenset({"easy", "hard"}),)
_LEVEL = 0.95


def measure_overlaps(examples: Mapping[str, ClassedExamples], seed: int) -> pl.DataFrame:
    """Of each two classes of each network's examples the ratio to chance, and that at equal difficulty.

    One row a pair, with `runs`, what the key says of whose they are, before the columns of
    `goldassay.instability.ClassOverlaps`. Intervals of one network hold together by their largest deviation, and those
    of all by Bonferroni's correction, so that all intervals hold at 95 %.
    """
    level = 1 - (1 - _LEVEL) / len(examples)
    frames = []
    for name, each in examples.items():
        found = overlap_classes(
            each.scores, each.gold, each.classes, each.run_classes, without=_EXCLUDED, clusters=each.premises,
            level=level, seed=seed,
        )  # fmt: skip
        frames.append(found.table.select(pl.lit(name).alias("runs"), pl.all()))
    return pl.concat(frames)


def overlaps_tables(overlaps: pl.DataFrame, study: str) -> tuple[Comparison, ...]:
    """The study's ratios as two matrices, each pair in both its places, and those of released runs as a list."""
    explained = "; ".join(f"{name}: {meaning}" for name, meaning in CLASSES.items())
    own, released = overlaps.filter(pl.col("runs") == study), overlaps.filter(pl.col("runs") != study)
    tables = [
        _matrix(own, "overlap", "", "Examples in both classes, as a multiple of what chance within labels would give",
                f"{explained}."),
        _matrix(own, "overlap_at_equal_difficulty", "equal_",
                "Examples in both classes, as a multiple of what chance would give at equal difficulty",
                "difficulty is the share of runs that are right, told by runs that define neither class."),
    ]  # fmt: skip
    if released.height:
        cells = [
            {"runs": row["runs"], "class": row["first"], "with": row["second"], "measure": measure, **figure}
            for row in released.iter_rows(named=True)
            for measure, figure in (
                ("by chance", {"ours": row["ratio"], "low": row["low"], "high": row["high"]}),
                ("in strata", {"ours": row["stratified"]}),
                ("equal difficulty", {"ours": row["equal_ratio"], "low": row["equal_low"], "high": row["equal_high"]}),
            )
        ]
        note = "strata are of label and accuracy of the other runs; few runs leave differences of difficulty in them."
        tables.append(
            show_cells(
                "overlap_released", "The same of released runs of BERT", cells, rows=("runs", "class", "with"),
                columns=("measure",), digits=2, note=note, drawn="nothing",
            )
        )  # fmt: skip
    return tuple(tables)


def _matrix(overlaps: pl.DataFrame, name: str, kind: str, title: str, note: str) -> Comparison:
    pairs = [
        {"class": first, "with": second, "ours": row[f"{kind}ratio"], "low": row[f"{kind}low"],
         "high": row[f"{kind}high"]}
        for row in overlaps.iter_rows(named=True)
        for first, second in ((row["first"], row["second"]), (row["second"], row["first"]))
    ]  # fmt: skip
    order = list(CLASSES)
    return show_cells(
        name,
        title,
        sorted(pairs, key=lambda cell: (order.index(cell["class"]), order.index(cell["with"]))),
        rows=("class",),
        columns=("with",),
        digits=2,
        note=note,
        drawn="matrix",
    )
