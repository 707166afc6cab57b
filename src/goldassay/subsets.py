"""Accuracy on subsets of the examples, and the gap between two of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.errors import InputError
from goldassay.intervals import Interval, wilson_interval
from goldassay.resampling import percentile_interval, resample_examples, resample_runs
from goldassay.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

FULL = "full"


@dataclass(frozen=True)
class SubsetAccuracy:
    """Accuracy on one subset: a row of the table.

    Attributes:
        subset: Its name; "full" is all examples.
        n_examples: How many it has.
        accuracy: Mean over runs and its examples, with bounds; NaN where `reason` says why.
        sd: Standard deviation of the runs' accuracies (ddof 1); NaN for one run.
        reason: Why there is no accuracy, or "".
    """

    subset: str
    n_examples: int
    accuracy: float
    accuracy_low: float
    accuracy_high: float
    sd: float
    reason: str


@dataclass(frozen=True)
class SubsetGap(Result):
    """Accuracies on subsets and the gap between the first two; see `measure_gap`.

    Attributes:
        subsets: The full set first, then the subsets asked for.
        delta: Accuracy on the first subset minus that on the second, with its bounds `delta_low`, `delta_high`.
        reason: Why delta is NaN, or "".
        n_runs: R.
        n_examples: N.
        level: Of the intervals.
        interval_method: How the intervals were made.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
    """

    subsets: tuple[SubsetAccuracy, ...]
    delta: float
    delta_low: float
    delta_high: float
    reason: str
    n_runs: int
    n_examples: int
    level: float
    interval_method: str
    seed: int
    n_draws: int

    def __getitem__(self, subset: str) -> SubsetAccuracy:
        for row in self.subsets:
            if row.subset == subset:
                return row
        raise KeyError(subset)

    def to_frame(self) -> pl.DataFrame:
        """One row a subset, with the columns of `SubsetAccuracy`."""
        return pl.DataFrame([asdict(row) for row in self.subsets])


def measure_gap(
    correct: ArrayLike,
    classes: ArrayLike,
    *,
    subsets: Sequence[str] = ("easy", "hard"),
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> SubsetGap:
    """Accuracy on the full set and on subsets, and delta = accuracy(first) - accuracy(second).

    Each subset's examples are drawn with replacement among themselves, so that its size stays; the runs are
    drawn with replacement by one draw for all subsets, since the same models answer both. The accuracy of a
    single run has a Wilson interval. The accuracy on the full set may lie outside the range of the two, as most
    examples may be in neither.

    Args:
        correct: Correctness in [0, 1], (R, N) or (N,).
        classes: Name of the subset that each example is in, (N,).
        subsets: Names to look at; the gap is between the first two.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        level: Of the intervals.

    Raises:
        InputError: Lengths differ, there are no examples, or fewer than two subsets are named.

    Source: Liu et al. 2020, "HypoNLI", for the gap between easy and hard examples.
    """
    scores = np.atleast_2d(np.asarray(correct, dtype=np.float64))
    names = np.asarray(classes)
    if len(subsets) < 2 or FULL in subsets:
        raise InputError(f"a gap needs two subsets or more, none of them called {FULL!r}")
    if scores.ndim != 2 or names.shape != (scores.shape[1],) or scores.size == 0:
        raise InputError(
            f"correctness has shape {np.shape(correct)}, the subsets of {names.size} examples are given",
            mend="give both for the same examples",
        )
    rng = np.random.default_rng(seed)
    weights = resample_runs(len(scores), rng, n_draws)
    parts = {FULL: scores, **{name: scores[:, names == name] for name in subsets}}
    draws = {
        name: (weights * resample_examples(part, rng, n_draws)).sum(axis=1) for name, part in parts.items() if part.size
    }
    rows = tuple(_row(name, part, draws.get(name), level) for name, part in parts.items())
    first, second = rows[1], rows[2]
    reason = "; ".join(row.reason for row in (first, second) if row.reason)
    bounds = (
        Interval(float("nan"), float("nan"), level)
        if reason
        else percentile_interval(draws[first.subset] - draws[second.subset], level)
    )
    return SubsetGap(
        subsets=rows,
        delta=first.accuracy - second.accuracy,
        delta_low=bounds.low,
        delta_high=bounds.high,
        reason=reason,
        n_runs=len(scores),
        n_examples=scores.shape[1],
        level=level,
        interval_method="bootstrap over examples and runs; Wilson for the accuracy of a single run",
        seed=seed,
        n_draws=n_draws,
    )


def _row(name: str, part: NDArray[np.float64], draws: NDArray[np.float64] | None, level: float) -> SubsetAccuracy:
    n_runs, n = part.shape
    if draws is None:
        nan = float("nan")
        return SubsetAccuracy(name, 0, nan, nan, nan, nan, f"no example is {name}")
    single = n_runs == 1
    bounds = wilson_interval(float(part.sum()), n, level) if single else percentile_interval(draws, level)
    return SubsetAccuracy(
        subset=name,
        n_examples=n,
        accuracy=float(part.mean()),
        accuracy_low=max(0.0, bounds.low),
        accuracy_high=min(1.0, bounds.high),
        sd=float("nan") if single else float(part.mean(axis=1).std(ddof=1)),
        reason="",
    )
