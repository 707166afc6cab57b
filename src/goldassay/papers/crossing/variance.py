"""How much of the score's variance over seeds sits in each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goldassay.instability.by_group import decompose_by_group
from goldassay.instability.group_resampling import resample_groups
from goldassay.papers.cells import show_cells

if TYPE_CHECKING:
    from goldassay.papers.crossing.examples import Examples
    from goldassay.papers.recipe import Comparison


def measure_variance(examples: Examples, seed: int) -> pl.DataFrame:
    """Of each class that the seeds did not make: its share of the examples, and of the variance over seeds.

    A share has no interval where the runs do not differ on the class, or on all the rest: that of its slope would have
    no width, as if a handful of examples could rule out that others differ.
    """
    rows = []
    for name, inside in examples.classes.items():
        if not 0 < inside.sum() < inside.size:
            continue
        groups = inside.astype(int).astype(str)
        found = decompose_by_group(examples.scores, groups).to_frame()
        ends = resample_groups(examples.scores, groups, over="runs", seed=seed).to_frame()
        row = found.join(ends, on="group").filter(pl.col("group") == "1").row(0, named=True)
        known = row["share_high"] - row["share_low"] > 1e-9
        rows.append(
            {
                "class": name,
                "share_of_examples": row["n_examples"] / inside.size,
                "share_of_variance": row["share_of_variance"],
                "low": row["share_low"] if known else None,
                "high": row["share_high"] if known else None,
                "accuracy": row["mean"],
                "sd": row["sd"],
            }
        )
    schema = ("class", "share_of_examples", "share_of_variance", "low", "high", "accuracy", "sd")
    return pl.DataFrame(rows, schema={"class": pl.String, **dict.fromkeys(schema[1:], pl.Float64)})


def variance_table(variance: pl.DataFrame) -> Comparison:
    """Share of the examples beside share of the variance, in per cent; accuracy with its SD over seeds."""
    cells = []
    for row in variance.iter_rows(named=True):
        points = {key: None if value is None else 100 * value for key, value in row.items() if key != "class"}
        cells += [
            {"class": row["class"], "measure": "% of examples", "ours": points["share_of_examples"]},
            {
                "class": row["class"], "measure": "% of the variance", "ours": points["share_of_variance"],
                "low": points["low"], "high": points["high"],
            },
            {"class": row["class"], "measure": "accuracy", "ours": points["accuracy"], "sd": points["sd"]},
        ]  # fmt: skip
    return show_cells(
        "variance_by_class",
        "Where the variance over seeds sits",
        cells,
        rows=("class",),
        columns=("measure",),
        note="a class whose share of the variance is above its share of the examples is where the score swings; "
        "intervals are over runs.",
        drawn="nothing",
    )
