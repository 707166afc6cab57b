"""Intervals of every figure, over runs and over examples."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.questions.instability.measures.intervals import resample_groups, resample_scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.runs import Runs

# The bounds are the 2.5 % and 97.5 % quantiles: 25 draws lie beyond each.
N_DRAWS = 1000
FIGURES = ("mean", "sd", "total", "independent", "covariance", "design_effect", "effective_size")
_OVER: tuple[Literal["runs", "examples"], ...] = ("runs", "examples")


def measure_intervals(runs: Runs, result: Mapping[str, Any], seed: int) -> list[dict[str, Any]]:
    """A row a figure: its value, and its bounds over runs and over examples.

    Args:
        runs: (R, N), at least two runs.
        result: Their row of results, which has the values.
        seed: Of the draws.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        drawn = {over: resample_scores(runs.scores, over, n_draws=N_DRAWS, seed=seed) for over in _OVER}
    rows = []
    for figure in FIGURES:
        row: dict[str, Any] = {"figure": figure, "value": result[figure]}
        for over, found in drawn.items():
            interval = getattr(found, figure)
            # Student's interval of a few runs goes beyond what a score can be.
            low, high = interval.low, interval.high
            if figure == "mean":
                low, high = max(low, 0.0), min(high, 1.0)
            row |= {f"{over}_low": low, f"{over}_high": high, f"{over}_method": interval.method}
        rows.append(row)
    return rows


def add_group_bounds(groups: list[dict[str, Any]], runs: Runs, seed: int) -> None:
    """Put bounds over runs and over examples beside each group's figures and the parts within and between.

    Args:
        groups: The groupings of the runs, as `measure_groups` gives them.
        runs: (R, N), at least two runs.
        seed: Of the draws.
    """
    for grouping in groups:
        names = runs.groups[grouping["column"]].astype(np.str_)
        for over in _OVER:
            found = resample_groups(runs.scores, names, over, n_draws=N_DRAWS, seed=seed)
            for part in ("within", "between"):
                interval = getattr(found, part)
                grouping |= {f"{part}_{over}_low": interval.low, f"{part}_{over}_high": interval.high}
            bounds = {row.pop("group"): row for row in found.to_frame().to_dicts()}
            for row in grouping["rows"]:
                row |= {f"{key}_{over}": value for key, value in bounds[row["group"]].items()}
