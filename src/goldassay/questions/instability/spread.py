"""Rows of a report on instability: the spread of each set of runs, and which groups of examples it comes from."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.core.intervals import few_runs_caveat
from goldassay.instability import decompose_by_group, decompose_variance, resample_scores, summarize_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.runs import Runs

# A group's share of the variance is read off a table; beyond this many rows nobody does.
MOST_GROUPS = 200


def caveats_of(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """What few runs do not tell, once for each number of runs."""
    return list(dict.fromkeys(said for row in results for said in few_runs_caveat(row["n_runs"])))


def measure_spread(runs: Runs) -> dict[str, Any]:
    """A row of the section's results: mean, spread and decomposition of runs (R, N), or why there is none."""
    scores = runs.scores
    row: dict[str, Any] = {
        "model": runs.model,
        "dataset": runs.dataset,
        "condition": runs.condition,
        "n_runs": scores.shape[0],
        "n_examples": scores.shape[1],
        "accuracies": scores.mean(axis=1).tolist(),
    }
    if scores.shape[0] < 2:
        mean = float(scores.mean())
        return {**row, "mean": mean, "min": mean, "max": mean, "reason": "one run has no spread; give at least two"}
    summary = summarize_scores(scores)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UndefinedMeasureWarning)
        parts = decompose_variance(scores)
        bounds = resample_scores(scores, "runs")
    reason = "; ".join(str(each.message) for each in caught if issubclass(each.category, UndefinedMeasureWarning))
    return {
        **row,
        "mean": summary.mean,
        "mean_low": bounds.mean.low,
        "mean_high": bounds.mean.high,
        "sd": summary.sd,
        "sd_low": summary.sd_interval.low,
        "sd_high": summary.sd_interval.high,
        "min": summary.min,
        "max": summary.max,
        "total": parts.total,
        "independent": parts.independent,
        "covariance": parts.covariance,
        "design_effect": parts.design_effect,
        "design_effect_low": bounds.design_effect.low,
        "design_effect_high": bounds.design_effect.high,
        "effective_size": parts.effective_size,
        "effective_size_low": bounds.effective_size.low,
        "effective_size_high": bounds.effective_size.high,
        "reason": reason or None,
    }


def measure_groups(runs: Runs) -> list[dict[str, Any]]:
    """An entry of the section's groups for each group column of runs (R, N)."""
    scores = runs.scores
    if scores.shape[0] < 2:
        return []
    found = []
    for column, names in runs.groups.items():
        if len(np.unique(names)) < 2:
            continue
        with warnings.catch_warnings():
            # The reason stands beside the same runs' result above; here the column is empty.
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            parts = decompose_by_group(scores, names)
        rows = parts.to_frame().sort("share_of_variance", descending=True, nulls_last=True).to_dicts()
        found.append(
            {
                "model": runs.model,
                "dataset": runs.dataset,
                "condition": runs.condition,
                "column": column,
                "within": parts.within,
                "between": parts.between,
                "rows": rows,
            }
        )
    return found
