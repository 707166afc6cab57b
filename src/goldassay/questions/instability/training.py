"""What checkpoints tell: how the score moves while a model is trained, and which datasets move together."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.questions.instability.measures.checkpoints import trajectories
from goldassay.questions.instability.measures.correlation import correlate_datasets, correlate_final_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goldassay.questions.instability.means import RunMeans

# A rank correlation over fewer runs than this is hardly more than a coin toss.
FEWEST_RUNS = 5


def measure_trajectories(sets: Sequence[RunMeans]) -> list[dict[str, Any]]:
    """Mean, band and one run over the checkpoints of each set of runs that has any; the run shown is the first."""
    found = []
    for runs in sets:
        if runs.steps is None:
            continue
        measured = trajectories(runs.values, runs.steps)
        widest = int(np.abs(measured.largest_changes).argmax())
        at = int(measured.largest_change_at[widest])
        found.append(
            {
                "model": runs.model,
                "dataset": runs.dataset,
                "condition": runs.condition,
                "seed": runs.seeds[measured.run_index].item(),
                "points": measured.to_frame().to_dicts(),
                "largest_change": {
                    "seed": runs.seeds[widest].item(),
                    "change": measured.largest_changes[widest],
                    "before": measured.checkpoints[at - 1],
                    "after": measured.checkpoints[at],
                },
            }
        )
    return found


def trajectory_table(found: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """One row a model, dataset, condition and checkpoint."""
    keys = ("model", "dataset", "condition")
    rows = [
        {**{key: each[key] for key in keys}, **point, "t": str(point["t"])}
        for each in found
        for point in each["points"]
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def measure_correlations(sets: Sequence[RunMeans]) -> list[dict[str, Any]]:
    """Rank correlation of a model's scores on its datasets, as many of them as share runs and checkpoints.

    Over the checkpoints of each run, averaged over runs, where there are checkpoints; and over the final scores of
    the runs, if there are at least five.
    """
    kin: dict[tuple[Any, ...], list[RunMeans]] = {}
    for runs in sets:
        key = (runs.model, runs.condition, runs.train_set, tuple(runs.seeds.tolist()), runs.steps)
        kin.setdefault(key, []).append(runs)
    found = []
    for (*_, seeds, steps), together in kin.items():
        if len(together) > 1 and steps is not None:
            found.append(_correlate(together, over_checkpoints=True))
        if len(together) > 1 and len(seeds) >= FEWEST_RUNS:
            found.append(_correlate(together, over_checkpoints=False))
    return found


def _correlate(sets: Sequence[RunMeans], over_checkpoints: bool) -> dict[str, Any]:
    means = {runs.dataset: runs.values if over_checkpoints else runs.final for runs in sets}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMeasureWarning)
        measured = correlate_datasets(means) if over_checkpoints else correlate_final_scores(means)
    return {
        "model": sets[0].model,
        "condition": sets[0].condition,
        "over": "checkpoints" if over_checkpoints else "runs",
        "names": list(measured.names),
        "values": measured.values.tolist(),
        "low": measured.low.tolist(),
        "high": measured.high.tolist(),
        "n_runs_used": measured.n_runs_used.tolist(),
        "n_runs": measured.n_runs,
        "n_points": measured.n_points,
        "reason": "; ".join(str(each.message) for each in caught) or None,
    }
