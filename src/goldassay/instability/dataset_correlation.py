"""Whether the scores on several datasets rise and fall together."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.errors import InputError, UndefinedMeasureWarning
from goldassay.instability.ranks import standardized_ranks
from goldassay.instability.scores import as_scores
from goldassay.results import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class DatasetCorrelation(Result):
    """Rank correlations between the scores on D datasets.

    Attributes:
        names: Of the datasets, in the order given.
        values: (D, D), symmetric; NaN where no run has a value.
        n_runs_used: (D, D), over how many runs each value is a mean.
        n_runs: R.
        n_points: Points of each series: checkpoints, or runs for `correlate_final_scores`.
        skipped: Reason -> count of pairs of datasets without a value.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    n_runs_used: NDArray[np.int64]
    n_runs: int
    n_points: int
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a pair of different datasets: a, b, correlation, n_runs_used."""
        rows, columns = np.triu_indices(len(self.names), 1)
        return pl.DataFrame(
            {
                "a": [self.names[i] for i in rows],
                "b": [self.names[j] for j in columns],
                "correlation": self.values[rows, columns],
                "n_runs_used": self.n_runs_used[rows, columns],
            },
            schema_overrides={"a": pl.String, "b": pl.String},
        )


def correlate_datasets(scores: Mapping[str, ArrayLike]) -> DatasetCorrelation:
    """Spearman's correlation over the checkpoints of a run, averaged over runs.

    values[i,j] = mean_r Spearman_t(a[i,r,t], a[j,r,t]). It is taken within each run and never pooled over runs,
    whose differences in level would pass for correlation. Equal scores share the average of their ranks. A run in
    which either series is constant has no correlation and is left out, which `n_runs_used` counts.

    Args:
        scores: {name: (R, T)}, score of each run at each checkpoint; the same runs and checkpoints for all.

    Raises:
        InputError: No dataset is there, shapes differ, or scores are not finite.

    Source: Zhou, Nie, Tan and Bansal 2020, Figure 3; the treatment of ties and of constant series is ours.
    """
    series = _stack(scores, ndim=2)
    ranks, varies = standardized_ranks(series)
    used = np.einsum("ir,jr->ij", varies.astype(np.int64), varies.astype(np.int64))
    total = np.einsum("irt,jrt->ij", ranks, ranks)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.clip(total / used, -1.0, 1.0)
    values[np.diag_indices_from(values)] = np.where(np.diagonal(used) > 0, 1.0, np.nan)
    return _result(scores, values, used, series.shape[1], series.shape[2])


def correlate_final_scores(scores: Mapping[str, ArrayLike]) -> DatasetCorrelation:
    """Spearman's correlation over runs between the final scores on several datasets.

    Answers whether the seed that is good on one dataset is good on another.

    Args:
        scores: {name: (R,)}, final score of each run; the same runs for all.

    Raises:
        InputError: No dataset is there, the numbers of runs differ, or scores are not finite.
    """
    series = _stack(scores, ndim=1)
    ranks, varies = standardized_ranks(series)
    defined = varies[:, np.newaxis] & varies[np.newaxis]
    values = np.where(defined, np.clip(ranks @ ranks.T, -1.0, 1.0), np.nan)
    values[np.diag_indices_from(values)] = np.where(varies, 1.0, np.nan)
    used = np.where(defined, series.shape[1], 0)
    return _result(scores, values, used, series.shape[1], series.shape[1])


def _stack(scores: Mapping[str, ArrayLike], ndim: int) -> NDArray[np.float64]:
    if not scores:
        raise InputError("no dataset was given to correlate")
    arrays = {name: as_scores(values, ndim=ndim) for name, values in scores.items()}
    first, *others = arrays
    for name in others:
        if arrays[name].shape != arrays[first].shape:
            raise InputError(
                f"scores on {first} have shape {arrays[first].shape}, on {name} {arrays[name].shape}",
                mend="give the same runs and checkpoints for each dataset",
            )
    return np.stack(list(arrays.values()))


def _result(
    scores: Mapping[str, ArrayLike],
    values: NDArray[np.float64],
    used: NDArray[np.int64],
    n_runs: int,
    n_points: int,
) -> DatasetCorrelation:
    names = tuple(scores)
    undefined = np.argwhere(np.triu(np.isnan(values)))
    skipped = {}
    if len(undefined):
        reason = "one of the two scores never changes, so they have no correlation"
        skipped[reason] = len(undefined)
        i, j = undefined[0]
        warnings.warn(f"{names[i]} and {names[j]}: {reason}", UndefinedMeasureWarning, stacklevel=3)
    return DatasetCorrelation(names, values, used, n_runs, n_points, skipped)
