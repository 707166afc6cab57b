"""Curves: what scores from step to step tell where predictions are not at hand, and what they add where they are."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.errors import InputError, UndefinedMeasureWarning
from goldassay.instability import correlate_datasets, correlate_final_scores, trajectories
from goldassay.intervals import few_runs_caveat, sd_interval
from goldassay.studies.audit.verdicts import Spread
from goldassay.studies.instability.training import FEWEST_RUNS, trajectory_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.runs.curves import Curves

NOTE = (
    "Scores by step were given, and no predictions: how far the score moves can be told, not which examples move it, "
    "nor how many they count for."
)


def describe_curve(curve: Curves) -> dict[str, Any]:
    """What a set of curves holds, and its last scores, as plain data."""
    row = measure_curve(curve)
    return {
        "model": curve.model,
        "dataset": curve.dataset,
        "metric": curve.metric,
        "n_runs": len(curve.seeds),
        "seeds": list(curve.seeds),
        "checkpoints": list(curve.checkpoints),
        "run_means": curve.final.tolist(),
        "mean": row["mean"],
        "sd": row.get("sd"),
        "sd_interval": None if "sd" not in row else {"low": row["sd_low"], "high": row["sd_high"]},
        "skipped": dict(curve.skipped),
    }


def measure_curve(curve: Curves) -> dict[str, Any]:
    """A row of results: mean and spread of the runs' last scores. What takes examples is missing."""
    final = curve.final
    row: dict[str, Any] = {
        "model": curve.model,
        "dataset": curve.dataset,
        "condition": "",
        "metric": curve.metric,
        "n_runs": len(final),
        "n_examples": None,
        "accuracies": final.tolist(),
        "mean": float(final.mean()),
        "min": float(final.min()),
        "max": float(final.max()),
        "n_checkpoints": len(curve.checkpoints),
        "seeds": [str(seed) for seed in curve.seeds],
        "format": "trainer state",
    }
    if len(final) < 2:
        return {**row, "reason": "one run has no spread; give at least two"}
    sd = float(final.std(ddof=1))
    interval = sd_interval(sd, len(final))
    return {
        **row,
        "sd": sd,
        "sd_low": interval.low,
        "sd_high": interval.high,
        "reason": "no predictions, so that the spread cannot be taken apart",
    }


def spread_of_curve(row: dict[str, Any]) -> Spread:
    """What the verdict needs of a row of results."""
    return Spread(
        name=f"{row['model']} on {row['dataset']}",
        n_runs=row["n_runs"],
        n_examples=0,
        sd=row["sd"],
        sd_low=row["sd_low"],
        sd_high=row["sd_high"],
        design_effect=math.nan,
        effective_size=math.nan,
    )


def measure_steps(curves: Sequence[Curves]) -> list[dict[str, Any]]:
    """Mean, band and first run over the steps that all runs of a set share, where there are at least two."""
    found = []
    for curve in curves:
        if len(curve.checkpoints) < 2:
            continue
        measured = trajectories(curve.scores, curve.checkpoints)
        widest = int(np.abs(measured.largest_changes).argmax())
        at = int(measured.largest_change_at[widest])
        found.append(
            {
                "model": curve.model,
                "dataset": curve.dataset,
                "condition": "",
                "name": f"{curve.model} · {curve.dataset}, {curve.metric} as logged",
                "seed": curve.seeds[measured.run_index],
                "points": measured.to_frame().to_dicts(),
                "largest_change": {
                    "seed": curve.seeds[widest],
                    "change": measured.largest_changes[widest],
                    "before": measured.checkpoints[at - 1],
                    "after": measured.checkpoints[at],
                },
            }
        )
    return found


def correlate_curves(curves: Sequence[Curves]) -> list[dict[str, Any]]:
    """Rank correlation of a model's scores on its datasets: over steps, and over last scores of at least five runs."""
    kin: dict[tuple[Any, ...], list[Curves]] = {}
    for curve in curves:
        kin.setdefault((curve.model, curve.metric, curve.seeds, curve.checkpoints), []).append(curve)
    found = []
    for (model, _, seeds, steps), together in kin.items():
        if len(together) > 1 and len(steps) > 1:
            found.append(_correlation(model, {curve.dataset: curve.scores for curve in together}, over="checkpoints"))
        if len(together) > 1 and len(seeds) >= FEWEST_RUNS:
            found.append(_correlation(model, {curve.dataset: curve.final for curve in together}, over="runs"))
    return found
