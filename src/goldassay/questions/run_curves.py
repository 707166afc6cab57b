"""Scores by step where predictions are not at hand: which are there, and what they say by themselves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.questions.instability.result import RunScores
from goldassay.runs.curves import Curves, read_curves
from goldassay.stats.intervals import mean_interval, score_sd_interval

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
        "mean": row.mean,
        "sd": row.sd,
        "sd_interval": None if row.sd is None else {"low": row.sd_low, "high": row.sd_high},
        "skipped": dict(curve.skipped),
    }


def measure_curve(curve: Curves, name: str = "") -> RunScores:
    """Mean and spread of the runs' last scores, under a name. What takes examples is left out."""
    final = curve.final
    row = RunScores(
        model=curve.model,
        dataset=curve.dataset,
        condition="",
        name=name,
        n_runs=len(final),
        n_examples=None,
        n_distinct=None,
        contradicted=0,
        accuracies=tuple(final.tolist()),
        constant=None,
        constant_score=None,
        above_constant_low=math.nan,
        examples_to_exceed=None,
        by_position=False,
        mean=float(final.mean()),
        min=float(final.min()),
        max=float(final.max()),
        reason="one run has no spread; give at least two",
        metric=curve.metric,
        n_checkpoints=len(curve.checkpoints),
        seeds=tuple(str(seed) for seed in curve.seeds),
    )
    if len(final) < 2:
        return row
    fractions = bool(final.min() >= 0 and final.max() <= 1)
    sd, of_mean = float(final.std(ddof=1)), mean_interval(row.accuracies)
    of_sd = score_sd_interval(sd, len(final), fractions=fractions)
    return replace(
        row,
        # Without examples there is no constant answer to hold the score against, but 0.
        above_constant_low=of_mean.low,
        mean_low=max(of_mean.low, 0.0) if fractions else of_mean.low,
        mean_high=min(of_mean.high, 1.0) if fractions else of_mean.high,
        sd=sd,
        sd_low=of_sd.low,
        sd_high=of_sd.high,
        reason="no predictions, so that the spread cannot be taken apart",
    )
