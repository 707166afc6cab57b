"""Balanced accuracy: the mean of the recalls of all labels, which always naming one label cannot raise above 1/K."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from goldassay.core.arguments import as_codes, as_numbers, check_bootstrap
from goldassay.core.cores import one_blas_thread
from goldassay.core.errors import InputError
from goldassay.core.resampling import cluster_codes, drawn_counts, percentile_interval, resample_runs
from goldassay.core.results import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_DRAWS_AT_ONCE = 50


@dataclass(frozen=True)
class BalancedAccuracy(Result):
    """The mean over labels of the share right among the examples of each; see `balanced_accuracy`.

    Attributes:
        value: Mean over runs and labels.
        low: Lower end of its interval.
        high: Upper end.
        recalls: Share right among the examples of each label that occurs, mean over runs, (K,).
        n_labels: K.
        n_runs: R.
        n_examples: N.
    """

    value: float
    low: float
    high: float
    recalls: NDArray[np.float64]
    n_labels: int
    n_runs: int
    n_examples: int


def balanced_accuracy(
    correct: ArrayLike,
    gold: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    seed: int = 0,
    n_draws: int = 1000,
    level: float = 0.95,
) -> BalancedAccuracy:
    """Mean recall over the labels that occur: 1/K sum_k mean_{i: y_i = k} correct_i.

    The interval draws examples, or whole clusters, with replacement, and weights runs by `resample_runs`. A label that
    a draw leaves out is left out of that draw's mean.

    Args:
        correct: Correctness in [0, 1], (R, N) or (N,).
        gold: Labels as codes, (N,).
        clusters: (N,) names of what examples share, such as a premise; whole clusters are then drawn.
        seed: Of the bootstrap.
        n_draws: Of the bootstrap.
        level: Of the interval.

    Raises:
        InputError: There are no examples, lengths differ, a value is outside [0, 1], or a label is negative.

    Source: Brodersen, Ong, Stephan and Buhmann 2010, "The balanced accuracy and its posterior distribution".
    """
    check_bootstrap(seed, n_draws, level)
    labels = np.unique(as_codes(gold, "gold"), return_inverse=True)[1]
    scores = np.atleast_2d(as_numbers(correct, "correctness").astype(np.float64))
    if scores.ndim != 2 or scores.shape[1] != labels.size or scores.shape[0] == 0:
        raise InputError(
            f"correctness has shape {np.shape(correct)}, gold has {labels.size} examples",
            mend="give (runs, examples) or (examples,) of the same examples",
        )
    if not np.all((scores >= 0) & (scores <= 1)):
        raise InputError("correctness has values outside [0, 1]")
    rng = np.random.default_rng(seed)
    codes = cluster_codes(clusters, labels.size)
    if codes is None:
        codes = np.arange(labels.size)
    weights = resample_runs(len(scores), rng, n_draws)
    draws = _drawn(scores, labels, codes, weights, rng)
    recalls = _recalls(scores, labels)
    interval = percentile_interval(draws, level)
    return BalancedAccuracy(
        value=float(recalls.mean()),
        low=max(0.0, interval.low),
        high=min(1.0, interval.high),
        recalls=recalls.mean(axis=0),
        n_labels=recalls.shape[1],
        n_runs=len(scores),
        n_examples=labels.size,
    )


def _recalls(scores: NDArray[np.float64], labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Share right of each run among the examples of each label, (R, K)."""
    return np.stack([np.bincount(labels, weights=row) for row in scores]) / np.bincount(labels)


def _drawn(
    scores: NDArray[np.float64],
    labels: NDArray[np.intp],
    codes: NDArray[np.int64],
    weights: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Weighted mean over runs of the mean recall in each draw of clusters, (B,)."""
    n_clusters, n_labels = int(codes.max()) + 1, int(labels.max()) + 1
    cells = codes * n_labels + labels

    def summed(values: NDArray[np.float64] | None) -> NDArray[np.float64]:
        found = np.bincount(cells, weights=values, minlength=n_clusters * n_labels)
        return found.reshape(n_clusters, n_labels).astype(np.float64)

    sums = np.concatenate([summed(None), *(summed(row) for row in scores)], axis=1)
    draws = np.empty(len(weights))
    for start in range(0, draws.size, _DRAWS_AT_ONCE):
        own = weights[start : start + _DRAWS_AT_ONCE]
        counts = drawn_counts(n_clusters, len(own), rng)
        with one_blas_thread():
            drawn = (counts @ sums).reshape(len(own), -1, n_labels)
        with np.errstate(invalid="ignore"):
            recalls = drawn[:, 1:] / drawn[:, :1]
        draws[start : start + len(own)] = (own * np.nanmean(recalls, axis=2)).sum(axis=1)
    return draws
