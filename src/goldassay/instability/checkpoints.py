"""Mean, spread and decomposition at each checkpoint, from scores that come one checkpoint at a time."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.intervals import few_runs_caveat, score_sd_interval
from goldassay.core.results import Result
from goldassay.instability.decomposition import decompose_variance
from goldassay.instability.scores import as_scores
from goldassay.instability.trajectories import Trajectories, trajectories

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

_ONE_RUN = "one run has no spread"
_NOTHING_VARIES = "all runs score every example the same, so the design effect is undefined"


@dataclass(frozen=True)
class CheckpointSummaries(Result):
    """Scores of R runs at each of T checkpoints. All in fractions; variances in squared fractions, with ddof 1.

    Attributes:
        checkpoints: Steps or names, (T,).
        run_means: Mean score of each run at each checkpoint, (R, T).
        mean: Over runs, (T,).
        sd: Standard deviation over runs, (T,); NaN with a single run, and so are all that follow.
        sd_low: Lower bounds of the 95 % intervals of the true standard deviations, (T,).
        sd_high: Upper bounds.
        total: sd², (T,).
        independent: What it would be if examples moved independently, (T,).
        covariance: total - independent, (T,).
        design_effect: total/independent, (T,); NaN where no example changes.
        effective_size: N/design_effect, (T,).
        n_runs: R.
        n_examples: N.
        n_checkpoints: T.
        ddof: Of all variances.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of checkpoints where a figure has no value.
    """

    checkpoints: tuple[int | str, ...]
    run_means: NDArray[np.float64]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    sd_low: NDArray[np.float64]
    sd_high: NDArray[np.float64]
    total: NDArray[np.float64]
    independent: NDArray[np.float64]
    covariance: NDArray[np.float64]
    design_effect: NDArray[np.float64]
    effective_size: NDArray[np.float64]
    n_runs: int
    n_examples: int
    n_checkpoints: int
    ddof: int = 1
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a checkpoint: checkpoint, mean, sd, its bounds, and the decomposition; NaN is missing."""
        names = ("mean", "sd", "sd_low", "sd_high", *_PARTS)
        columns = {name: pl.Series(getattr(self, name)).fill_nan(None) for name in names}
        return pl.DataFrame({"checkpoint": pl.Series(self.checkpoints), **columns})

    def trajectories(self, run: int = 0) -> Trajectories:
        """Mean with its band of one deviation, one run beside it, and the largest change of each run."""
        return trajectories(self.run_means, self.checkpoints, run)


_PARTS = ("total", "independent", "covariance", "design_effect", "effective_size")


def summarize_checkpoints(scores: Iterable[tuple[int | str, ArrayLike]]) -> CheckpointSummaries:
    """Mean, spread with its interval, and variance decomposition of R runs at each checkpoint.

    The figures are those of `summarize_scores` and `decompose_variance` for each checkpoint. Scores are taken from
    the iterator one checkpoint at a time and not kept, so that memory holds R x N of them and never R x T x N.

    Args:
        scores: For each checkpoint in turn its step or name, and the scores (R, N) there; the same runs and
            examples at all, in any one order of examples.

    Raises:
        InputError: There is no checkpoint, checkpoints have scores of different shapes, or scores are not finite.
    """
    steps: list[int | str] = []
    means: list[NDArray[np.float64]] = []
    parts: list[tuple[float, ...]] = []
    fractions: list[bool] = []
    shape: tuple[int, ...] | None = None
    for step, found in scores:
        values = as_scores(found)
        if values.shape != (shape or values.shape):
            raise InputError(
                f"scores have shape {shape} at checkpoint {steps[0]}, and {values.shape} at {step}",
                mend="give the same runs and examples at each checkpoint",
            )
        shape = values.shape
        steps.append(step)
        means.append(values.sum(axis=1) / shape[1])
        parts.append(_parts(values))
        fractions.append(bool(values.min() >= 0 and values.max() <= 1))
    if shape is None:
        raise InputError("there is no checkpoint to summarize")
    run_means = np.stack(means, axis=1)
    n_runs, n_examples = shape
    decomposed = dict(zip(_PARTS, np.array(parts).T, strict=True))
    sd = np.sqrt(decomposed["total"])
    low, high = np.array([_bounds(each, n_runs, share) for each, share in zip(sd, fractions, strict=True)]).T
    return CheckpointSummaries(
        checkpoints=tuple(steps),
        run_means=run_means,
        mean=run_means.mean(axis=0),
        sd=sd,
        sd_low=low,
        sd_high=high,
        **decomposed,
        n_runs=n_runs,
        n_examples=n_examples,
        n_checkpoints=len(steps),
        caveats=few_runs_caveat(n_runs),
        skipped=_skipped(n_runs, decomposed["design_effect"]),
    )


def _parts(values: NDArray[np.float64]) -> tuple[float, ...]:
    if len(values) < 2:
        return (np.nan,) * len(_PARTS)
    with warnings.catch_warnings():
        # Counted for all checkpoints together.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        found = decompose_variance(values)
    return tuple(float(getattr(found, name)) for name in _PARTS)


def _bounds(sd: float, n_runs: int, fractions: bool) -> tuple[float, float]:
    if n_runs < 2:
        return np.nan, np.nan
    interval = score_sd_interval(float(sd), n_runs, fractions=fractions)
    return interval.low, interval.high


def _skipped(n_runs: int, design_effect: NDArray[np.float64]) -> dict[str, int]:
    if n_runs < 2:
        skipped = {_ONE_RUN: len(design_effect)}
    elif np.isnan(design_effect).any():
        skipped = {_NOTHING_VARIES: int(np.isnan(design_effect).sum())}
    else:
        return {}
    for reason, count in skipped.items():
        warnings.warn(f"{reason} (at {count} checkpoints)", UndefinedMeasureWarning, stacklevel=3)
    return skipped
