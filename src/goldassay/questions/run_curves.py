"""Scores by step where predictions are not at hand: which are there, and what they say by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.runs.curves import Curves, read_curves
from goldassay.stats.intervals import score_sd_interval

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from goldassay.questions.run_choice import RunChoice


def find_curves(paths: Sequence[str | os.PathLike[str]], choice: RunChoice, *, required: bool = True) -> list[Curves]:
    """The curves at the paths that were asked for.

    Args:
        paths: Files or folders.
        choice: Which model, dataset and metric.
        required: Refuse files that log no score, instead of finding no curve in them.

    Raises:
        InputError: As for `read_curves`.
    """
    if choice.format not in ("auto", "trainer"):
        return []
    metric = choice.columns.get("score")
    return read_curves(paths, metric, model=choice.model, dataset=choice.dataset, required=required)


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
    """A row of results: mean and spread of the runs' last scores. What takes examples is left out."""
    final = curve.final
    row: dict[str, Any] = {
        "model": curve.model,
        "dataset": curve.dataset,
        "condition": "",
        "metric": curve.metric,
        "n_runs": len(final),
        "accuracies": final.tolist(),
        "seeds": [str(seed) for seed in curve.seeds],
        "n_checkpoints": len(curve.checkpoints),
        "mean": float(final.mean()),
        "min": float(final.min()),
        "max": float(final.max()),
    }
    if len(final) < 2:
        return {**row, "reason": "one run has no spread; give at least two"}
    fractions = bool(final.min() >= 0 and final.max() <= 1)
    interval = score_sd_interval(float(final.std(ddof=1)), len(final), fractions=fractions)
    return {
        **row,
        "sd": float(final.std(ddof=1)),
        "sd_low": interval.low,
        "sd_high": interval.high,
        "reason": "no predictions, so that the spread cannot be taken apart",
    }
