"""Mean and spread of a score over runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.intervals import Interval, few_runs_caveat, mean_interval, score_sd_interval
from goldassay.core.results import Result
from goldassay.instability.scores import as_scores, check_ddof

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class ScoreSummary(Result):
    """Mean score of several runs, and how far they lie apart. All in fractions.

    Attributes:
        mean: Over runs of the runs' mean scores.
        mean_interval: 95 % interval (Student t) of what all seeds would give on these examples.
        sd: Standard deviation over runs.
        sd_interval: 95 % interval of the true standard deviation, for normal scores.
        min: Lowest run.
        max: Highest run.
        run_means: Mean score of each run, in the order given.
        n_runs: R.
        n_examples: N.
        ddof: Of the standard deviation.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of what has no value.
    """

    mean: float
    mean_interval: Interval
    sd: float
    sd_interval: Interval
    min: float
    max: float
    run_means: tuple[float, ...]
    n_runs: int
    n_examples: int
    ddof: int = 1
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a run: run (its position), score."""
        return pl.DataFrame({"run": range(self.n_runs), "score": self.run_means})


def summarize_scores(scores: ArrayLike, ddof: int = 1) -> ScoreSummary:
    """Mean, standard deviation and its interval, lowest and highest of the runs' mean scores.

    acc_r = mean_i C[r,i]; sd = sqrt(sum_r (acc_r - mean)²/(R - ddof)). The deviation's interval is that of the
    chi-square distribution, for ddof 1 in either case: with 10 runs it reaches from 0.69 to 1.83 times the deviation.
    Both intervals are over runs, and hold the examples fixed.

    Args:
        scores: (R, N).
        ddof: 1, or 0 for the spread of just these runs.

    Raises:
        InputError: There are fewer than 2 runs, no examples, or scores that are not finite.
    """
    values = as_scores(scores, min_runs=2)
    n_runs, n_examples = values.shape
    check_ddof(ddof, n_runs)
    means = values.sum(axis=1) / n_examples

    def deviation(of: int) -> float:
        # The mean of equal numbers is not always that number.
        return float(means.std(ddof=of)) if np.ptp(means) > 0 else 0.0

    return ScoreSummary(
        mean=float(means.mean()),
        mean_interval=mean_interval(means),
        sd=deviation(ddof),
        sd_interval=score_sd_interval(deviation(1), n_runs, fractions=bool(values.min() >= 0 and values.max() <= 1)),
        min=float(means.min()),
        max=float(means.max()),
        run_means=tuple(means.tolist()),
        n_runs=n_runs,
        n_examples=n_examples,
        ddof=ddof,
        caveats=few_runs_caveat(n_runs) + _same(means),
    )


def _same(means: NDArray[np.float64]) -> tuple[str, ...]:
    """Equal scores of a few runs on finitely many examples are a coincidence more often than a law."""
    return ("All runs have the same score, which does not show that others would.",) if np.ptp(means) == 0 else ()
