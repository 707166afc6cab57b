"""How the score moves from checkpoint to checkpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.intervals import few_runs_caveat, mean_reach
from goldassay.core.results import Result
from goldassay.instability.scores import as_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Trajectories(Result):
    """Score over the checkpoints of R runs: mean, band of one standard deviation, one run.

    Attributes:
        checkpoints: Steps or names, (T,).
        mean: Over runs, (T,).
        sd: Over runs with ddof 1, (T,); None with a single run.
        mean_low: Lower bounds of the mean's 95 % intervals over runs (Student t, each checkpoint by itself), (T,); None
            with a single run. The band of one deviation is no interval: it says where runs lie, not where their mean.
        mean_high: Upper bounds.
        run: Score of the run that was asked for, (T,).
        run_index: Its position.
        largest_changes: For each run the change between adjacent checkpoints that is largest in size, signed, (R,).
        largest_change_at: For each run the position of the checkpoint after that change, (R,).
        n_runs: R.
        n_checkpoints: T.
        ddof: Of the standard deviation.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of what has no value.
    """

    checkpoints: tuple[int | str, ...]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64] | None
    mean_low: NDArray[np.float64] | None
    mean_high: NDArray[np.float64] | None
    run: NDArray[np.float64]
    run_index: int
    largest_changes: NDArray[np.float64]
    largest_change_at: NDArray[np.int64]
    n_runs: int
    n_checkpoints: int
    ddof: int = 1
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a checkpoint: t, mean, low, high, run; low and high are missing with a single run."""
        empty = pl.Series([None] * self.n_checkpoints, dtype=pl.Float64)
        return pl.DataFrame(
            {
                "t": self.checkpoints,
                "mean": self.mean,
                "low": empty if self.sd is None else self.mean - self.sd,
                "high": empty if self.sd is None else self.mean + self.sd,
                "run": self.run,
            }
        )


def trajectories(scores: ArrayLike, checkpoints: Sequence[int | str] | None = None, run: int = 0) -> Trajectories:
    """Mean score at each checkpoint with a band of one standard deviation, and one run beside it.

    Args:
        scores: Score of each run at each checkpoint (R, T), or of each example (R, T, N).
        checkpoints: (T,) steps or names; without them 0 to T-1.
        run: Position of the run to show.

    Raises:
        InputError: Scores are not finite or of the wrong shape, checkpoints do not fit, or there is no such run.

    Source: Zhou, Nie, Tan and Bansal 2020, Figure 1.
    """
    array = np.asarray(scores)
    values = as_scores(array, ndim=3).mean(axis=2) if array.ndim == 3 else as_scores(array)
    n_runs, n_checkpoints = values.shape
    if not 0 <= run < n_runs:
        raise InputError(f"there is no run {run}", mend=f"runs are 0 to {n_runs - 1}")
    steps = tuple(range(n_checkpoints)) if checkpoints is None else tuple(checkpoints)
    if len(steps) != n_checkpoints:
        raise InputError(f"{len(steps)} checkpoints are named, but scores have {n_checkpoints}")
    changes = np.diff(values, axis=1)
    skipped: dict[str, int] = {}
    if n_checkpoints > 1:
        at = np.abs(changes).argmax(axis=1)
        largest = changes[np.arange(n_runs), at]
    else:
        skipped["one checkpoint, so no change between two"] = n_runs
        at, largest = np.full(n_runs, -1), np.full(n_runs, np.nan)
    mean, sd = values.mean(axis=0), values.std(axis=0, ddof=1) if n_runs > 1 else None
    half = None if sd is None else sd * mean_reach(n_runs)
    return Trajectories(
        checkpoints=steps,
        mean=mean,
        sd=sd,
        mean_low=None if half is None else mean - half,
        mean_high=None if half is None else mean + half,
        run=values[run].copy(),
        run_index=run,
        largest_changes=largest,
        largest_change_at=at + 1,
        n_runs=n_runs,
        n_checkpoints=n_checkpoints,
        caveats=few_runs_caveat(n_runs),
        skipped=skipped,
    )
