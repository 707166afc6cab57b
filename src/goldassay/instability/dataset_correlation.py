"""Whether the scores on several datasets rise and fall together."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.intervals import few_runs_caveat, mean_reach
from goldassay.core.results import Result
from goldassay.instability.ranks import standardized_ranks
from goldassay.instability.scores import as_scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class DatasetCorrelation(Result):
    """Rank correlations between the scores on D datasets.

    Attributes:
        names: Of the datasets, in the order given.
        values: (D, D), symmetric; NaN where no run has a value.
        low: Lower bounds of the 95 % intervals over runs, (D, D); NaN where there is no value.
        high: Upper bounds; -1 to 1 where there are too few runs to say more.
        n_runs_used: (D, D), over how many runs each value is a mean.
        n_runs: R.
        n_points: Points of each series: checkpoints, or runs for `correlate_final_scores`.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of pairs of datasets without a value.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    n_runs_used: NDArray[np.int64]
    n_runs: int
    n_points: int
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a pair of different datasets: a, b, correlation, low, high, n_runs_used."""
        rows, columns = np.triu_indices(len(self.names), 1)
        return pl.DataFrame(
            {
                "a": [self.names[i] for i in rows],
                "b": [self.names[j] for j in columns],
                "correlation": self.values[rows, columns],
                "low": self.low[rows, columns],
                "high": self.high[rows, columns],
                "n_runs_used": self.n_runs_used[rows, columns],
            },
            schema_overrides={"a": pl.String, "b": pl.String},
        )


def correlate_datasets(scores: Mapping[str, ArrayLike]) -> DatasetCorrelation:
    """Spearman's correlation over the checkpoints of a run, averaged over runs.

    values[i,j] = mean_r Spearman_t(a[i,r,t], a[j,r,t]). It is taken within each run and never pooled over runs,
    whose differences in level would pass for correlation. Equal scores share the average of their ranks. A run in
    which either series is constant has no correlation and is left out, which `n_runs_used` counts. The interval is
    Student's t of the runs' correlations, cut at -1 and 1.

    Args:
        scores: {name: (R, T)}, score of each run at each checkpoint; the same runs and checkpoints for all.

    Raises:
        InputError: No dataset is there, shapes differ, or scores are not finite.

    Source: Zhou, Nie, Tan and Bansal 2020, Figure 3; the treatment of ties and of constant series is ours.
    """
    series = _stack(scores, ndim=2)
    ranks, varies = standardized_ranks(series)
    used = np.einsum("ir,jr->ij", varies.astype(np.int64), varies.astype(np.int64))
    by_run = np.einsum("irt,jrt->rij", ranks, ranks)
    total = by_run.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = np.clip(total / used, -1.0, 1.0)
    values[np.diag_indices_from(values)] = np.where(np.diagonal(used) > 0, 1.0, np.nan)
    return _result(scores, values, _mean_bounds(by_run, values, used), used, series.shape[1], series.shape[2])


def correlate_final_scores(scores: Mapping[str, ArrayLike]) -> DatasetCorrelation:
    """Spearman's correlation over runs between the final scores on several datasets.

    Answers whether the seed that is good on one dataset is good on another. The interval is
    tanh(arctanh(r) ± z sqrt((1 + r²/2)/(R-3))); 3 runs or fewer say nothing.

    Args:
        scores: {name: (R,)}, final score of each run; the same runs for all.

    Raises:
        InputError: No dataset is there, the numbers of runs differ, or scores are not finite.

    Source: Bonett and Wright 2000, "Sample size requirements for estimating Pearson, Kendall and Spearman
    correlations".
    """
    series = _stack(scores, ndim=1)
    ranks, varies = standardized_ranks(series)
    defined = varies[:, np.newaxis] & varies[np.newaxis]
    values = np.where(defined, np.clip(ranks @ ranks.T, -1.0, 1.0), np.nan)
    values[np.diag_indices_from(values)] = np.where(varies, 1.0, np.nan)
    used = np.where(defined, series.shape[1], 0)
    n_runs = series.shape[1]
    return _result(scores, values, _rank_bounds(values, n_runs), used, n_runs, n_runs)


def _mean_bounds(
    by_run: NDArray[np.float64], values: NDArray[np.float64], used: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of the means of the runs' correlations (R, D, D), which are 0 where a run has none."""
    reach = np.array([math.inf, math.inf, *(mean_reach(n) for n in range(2, len(by_run) + 1))])[used]
    with np.errstate(invalid="ignore", divide="ignore"):
        squares = np.maximum((by_run**2).sum(axis=0) - used * values**2, 0.0)
        half = np.where(used > 1, reach * np.sqrt(squares / (used - 1)), 2.0)
    return _around(values, values - half, values + half)


def _rank_bounds(values: NDArray[np.float64], n_runs: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    from scipy.special import ndtri

    if n_runs <= 3:
        return _around(values, np.full_like(values, -1.0), np.ones_like(values))
    # A correlation of exactly 1 would be its own interval: it is taken back by half its distance from the next lower.
    most = 1 - 6 / (n_runs**3 - n_runs)
    inner = np.clip(values, -most, most)
    half = float(ndtri(0.975)) * np.sqrt((1 + inner**2 / 2) / (n_runs - 3))
    return _around(values, np.tanh(np.arctanh(inner) - half), np.tanh(np.arctanh(inner) + half))


def _around(
    values: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds within [-1, 1] around the values; a dataset with itself correlates by 1, and without a value is none."""
    own = np.eye(len(values), dtype=bool)
    low, high = (np.where(own | np.isnan(values), values, np.clip(bound, -1.0, 1.0)) for bound in (low, high))
    return np.minimum(low, values), np.maximum(high, values)


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
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]],
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
    return DatasetCorrelation(names, values, *bounds, used, n_runs, n_points, few_runs_caveat(n_runs), skipped)
