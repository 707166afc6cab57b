"""Accuracy on subsets of the examples, and the gap between two of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.stats.bootstrap import (
    percentile_interval,
    resample_examples,
    resample_runs,
    score_interval,
)
from goldassay.stats.clusters import cluster_codes
from goldassay.stats.intervals import Interval, few_runs_caveat, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class SubsetAccuracy:
    """Accuracy on one subset: a row of the table.

    Attributes:
        subset: Its name.
        n: How many examples it has.
        accuracy: Mean over runs and its examples; NaN where `reason` says why.
        low: Lower bound of its interval.
        high: Upper bound.
        sd: Standard deviation of the runs' accuracies (ddof 1); NaN for one run.
        reason: Why there is no accuracy, or "".
    """

    subset: str
    n: int
    accuracy: float
    low: float
    high: float
    sd: float
    reason: str


@dataclass(frozen=True)
class SubsetAccuracies(Result):
    """Accuracies on subsets and the gap between two of them; see `accuracy_by_subset`.

    Attributes:
        subsets: One row a subset, in the order given.
        gap: The two subsets that `delta` compares.
        delta: Accuracy on the first of the two minus that on the second, with `delta_low` and `delta_high`.
        reason: Why delta is NaN, or "".
        n_runs: R.
        n_examples: N.
        level: Of the intervals.
        interval_method: How the intervals were made.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        caveats: What to bear in mind, in sentences.
    """

    subsets: tuple[SubsetAccuracy, ...]
    gap: tuple[str, str]
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
    caveats: tuple[str, ...] = ()

    def __getitem__(self, subset: str) -> SubsetAccuracy:
        for row in self.subsets:
            if row.subset == subset:
                return row
        raise KeyError(subset)

    def to_frame(self) -> pl.DataFrame:
        """One row a subset, with the columns of `SubsetAccuracy`."""
        return pl.DataFrame([asdict(row) for row in self.subsets])


def accuracy_by_subset(
    correct: ArrayLike,
    subsets: Mapping[str, ArrayLike],
    *,
    clusters: ArrayLike | None = None,
    gap: tuple[str, str] = ("easy", "hard"),
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> SubsetAccuracies:
    """Accuracy on each subset, and delta = accuracy(easy) - accuracy(hard).

    Each subset's examples are drawn with replacement among themselves, so that its size stays; the runs are
    weighted by one draw for all subsets (`resample_runs`), since the same models answer both. The accuracy of a
    single run has a Wilson interval. The accuracy on the full set may lie outside the range of easy and hard, as
    most examples may be in neither.

    Args:
        correct: Correctness in [0, 1], (R, N) or (N,).
        subsets: Name to mask of the examples in it, (N,).
        clusters: (N,) names of what examples share, such as a premise. Whole clusters are then drawn, all subsets'
            examples by one draw; without them, intervals on examples that go together are too narrow.
        gap: The subsets that delta compares, which share no example.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        level: Of the intervals.

    Raises:
        InputError: Lengths differ, there are no examples, or the two subsets of the gap are missing or overlap.

    Source: Liu et al. 2020, "HypoNLI", for the gap between easy and hard examples.
    """
    scores = np.atleast_2d(np.asarray(correct, dtype=np.float64))
    masks = {name: np.asarray(mask, dtype=bool) for name, mask in subsets.items()}
    _check(scores, masks, gap)
    rng = np.random.default_rng(seed)
    weights = resample_runs(len(scores), rng, n_draws)
    parts = {name: scores[:, mask] for name, mask in masks.items()}
    codes = cluster_codes(clusters, scores.shape[1])
    # What has a Wilson interval and is in no difference needs no draws.
    drawn = [
        name for name, part in parts.items() if part.size and (len(scores) > 1 or name in gap or codes is not None)
    ]
    if codes is None:
        means = {name: resample_examples(parts[name], rng, n_draws) for name in drawn}
    else:
        means = _resample_clusters(scores, {name: masks[name] for name in drawn}, codes, rng, n_draws)
    draws = {name: (weights * means[name]).sum(axis=1) for name in drawn}
    wilson = len(scores) == 1 and codes is None
    rows = {name: _row(name, part, None if wilson else draws.get(name), level) for name, part in parts.items()}
    for name in (name for name, mask in masks.items() if mask.all()):
        # All examples: the score on the whole test set, which other questions show as well.
        bounds = score_interval(scores, codes, seed=seed, n_draws=n_draws, level=level)
        rows[name] = replace(rows[name], low=bounds.low, high=bounds.high)
    first, second = gap
    reason = "; ".join(rows[name].reason for name in gap if rows[name].reason)
    bounds = (
        Interval(float("nan"), float("nan"), level)
        if reason
        else percentile_interval(draws[first] - draws[second], level)
    )
    return SubsetAccuracies(
        subsets=tuple(rows.values()),
        gap=gap,
        delta=rows[first].accuracy - rows[second].accuracy,
        delta_low=bounds.low,
        delta_high=bounds.high,
        reason=reason,
        n_runs=len(scores),
        n_examples=scores.shape[1],
        level=level,
        interval_method="bootstrap over examples and runs; Wilson for the accuracy of a single run"
        if codes is None
        else "bootstrap over clusters of examples and runs",
        seed=seed,
        n_draws=n_draws,
        caveats=few_runs_caveat(len(scores)),
    )


def _resample_clusters(
    scores: NDArray[np.float64],
    masks: Mapping[str, NDArray[np.bool_]],
    codes: NDArray[np.int64],
    rng: np.random.Generator,
    n_draws: int,
) -> dict[str, NDArray[np.float64]]:
    """Accuracies (B, R) on each subset in the same drawn clusters; NaN where none of these has an example of it."""
    if not masks:
        return {}
    rows = np.concatenate([np.vstack([scores * mask, mask]) for mask in masks.values()])
    means = resample_examples(rows, rng, n_draws, codes).reshape(n_draws, len(masks), len(scores) + 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        accuracies = means[:, :, :-1] / means[:, :, -1:]
    return {name: accuracies[:, at] for at, name in enumerate(masks)}


def _check(scores: NDArray[np.float64], masks: Mapping[str, NDArray[np.bool_]], gap: tuple[str, str]) -> None:
    if scores.ndim != 2 or scores.size == 0:
        raise InputError(f"correctness has shape {scores.shape}, not (runs, examples) with one or more of each")
    for name, mask in masks.items():
        if mask.shape != (scores.shape[1],):
            raise InputError(
                f"subset {name!r} is a mask of shape {mask.shape}, correctness has {scores.shape[1]} examples",
                mend="give both for the same examples",
            )
    missing = [name for name in gap if name not in masks]
    if missing:
        raise InputError(f"the gap needs a subset called {missing[0]!r}", mend="give its mask, or name others as gap")
    if bool(np.any(masks[gap[0]] & masks[gap[1]])):
        raise InputError(f"subsets {gap[0]!r} and {gap[1]!r} overlap", mend="give two that share no example")


def _row(name: str, part: NDArray[np.float64], draws: NDArray[np.float64] | None, level: float) -> SubsetAccuracy:
    n_runs, n = part.shape
    if not n:
        nan = float("nan")
        return SubsetAccuracy(name, 0, nan, nan, nan, nan, f"no example is {name}")
    single = n_runs == 1
    bounds = wilson_interval(float(part.sum()), n, level) if draws is None else percentile_interval(draws, level)
    return SubsetAccuracy(
        subset=name,
        n=n,
        accuracy=float(part.mean()),
        low=max(0.0, bounds.low),
        high=min(1.0, bounds.high),
        sd=float("nan") if single else float(part.mean(axis=1).std(ddof=1)),
        reason="",
    )
