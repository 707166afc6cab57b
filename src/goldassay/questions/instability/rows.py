"""The examples on which runs differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.questions.instability.measures.checkpoints import measure_stability

if TYPE_CHECKING:
    from goldassay.runs import Runs


def unsteady_rows(runs: Runs) -> pl.DataFrame:
    """The examples whose scores differ between runs, the least steady first.

    Args:
        runs: (R, N), two runs or more.

    Returns:
        dataset, example_id, model, condition, n_runs, `mean` (of the scores over runs), `disagreement`.
    """
    measured = measure_stability(runs.scores, runs.example_ids).to_frame()
    return measured.filter(pl.col("disagreement") > 0).select(
        pl.lit(runs.dataset).alias("dataset"),
        pl.col("example_id").cast(pl.String),
        pl.lit(runs.model).alias("model"),
        pl.lit(runs.condition).alias("condition"),
        pl.lit(runs.n_runs).alias("n_runs"),
        "mean",
        "disagreement",
    )


def say_unsteady(row: dict[str, Any]) -> str:
    """Why a row of `unsteady_rows` is worth reading."""
    right = row["mean"] * row["n_runs"]
    if abs(right - round(right)) > 1e-6:
        return f"Its scores differ most between the {row['n_runs']} runs of {row['model']}."
    return f"{right:.0f} of {row['n_runs']} runs of {row['model']} are right."
