"""A metric on one evaluation set, and its values on examples drawn with replacement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.resampling import cluster_codes, resample_examples
from goldassay.shift.inputs import as_finite

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Metric = Literal["accuracy", "exact_match", "f1", "mean", "pearson", "spearman"]
CORRELATIONS: tuple[Metric, ...] = ("pearson", "spearman")
METRICS: tuple[Metric, ...] = ("accuracy", "exact_match", "f1", "mean", *CORRELATIONS)
_DRAWS_AT_ONCE = 50


class EvaluationSet:
    """Scores, or predictions with their gold, of R runs on N examples, checked.

    Attributes:
        name: Of the set.
        metric: What is measured.
        values: Per-example scores, or predictions for a correlation, (R, N).
        gold: Targets of a correlation, (N,), or None.
        codes: Cluster of each example, (N,), or None where each stands for itself.
        constants: What answers that are the same for every example would score on each, (C, N): the floor is the best
            of them. Zeros for correlations, and for "mean" where none are given. None where it is not known.
    """

    def __init__(
        self,
        name: str,
        values: ArrayLike,
        gold: ArrayLike | None,
        metric: Metric,
        clusters: ArrayLike | None = None,
        constants: ArrayLike | None = None,
    ) -> None:
        what = f"{'predictions' if gold is not None else 'scores'} on {name!r}"
        self.name, self.metric = name, metric
        self.values = np.atleast_2d(as_finite(values, what, ("(N,)", "(R, N)")))
        self.gold = None if gold is None else as_finite(gold, f"targets of {name!r}", ("(N,)",))
        if self.gold is not None and self.gold.shape != self.values.shape[1:]:
            raise InputError(f"{name!r} has {self.values.shape[1]} predictions and {self.gold.size} targets")
        if metric in CORRELATIONS:
            if self.gold is None:
                raise InputError(f"{metric} on {name!r} needs targets", mend=f"give gold={{{name!r}: ...}}")
        elif self.gold is not None:
            if metric != "accuracy":
                raise InputError(f"{metric} is the mean of per-example scores", mend="give these, without gold")
            constants = label_constants(self.gold) if constants is None else constants
            self.values, self.gold = (self.values == self.gold).astype(np.float64), None
        elif metric != "mean" and not (self.values.min() >= 0 and self.values.max() <= 1):
            raise InputError(f"{what} reach from {self.values.min():g} to {self.values.max():g}", mend="give fractions")

        self.codes = cluster_codes(clusters, self.values.shape[1])
        self.constants = self._checked(constants)

    def _checked(self, constants: ArrayLike | None) -> NDArray[np.float64] | None:
        if self.metric in CORRELATIONS and constants is not None:
            raise InputError(f"the floor of {self.metric} is 0 by definition", mend="leave out constants")
        if constants is None:
            return np.zeros((1, self.n_examples)) if self.metric in (*CORRELATIONS, "mean") else None
        found = np.atleast_2d(as_finite(constants, f"constant answers' scores on {self.name!r}", ("(N,)", "(C, N)")))
        if found.shape[1] != self.n_examples:
            raise InputError(f"{self.name!r} has {self.n_examples} scores and {found.shape[1]} of constant answers")
        if self.metric != "mean" and not (found.min() >= 0 and found.max() <= 1):
            raise InputError(f"constant answers' scores on {self.name!r} are no fractions", mend="give fractions")
        return found

    @property
    def n_runs(self) -> int:
        """R."""
        return len(self.values)

    @property
    def n_examples(self) -> int:
        """N."""
        return self.values.shape[1]

    def by_run(self) -> NDArray[np.float64]:
        """The metric of each run, (R,); NaN where a correlation is undefined."""
        if self.gold is None:
            return self.values.mean(axis=1)
        return correlations(self.values, self.gold, np.ones((1, self.n_examples)), ranked=self.metric == "spearman")[0]

    def draws(self, rng: np.random.Generator, n_draws: int) -> NDArray[np.float64]:
        """The metric of each run on examples or clusters drawn with replacement, all runs by the same draw, (B, R)."""
        if self.gold is None:
            return resample_examples(self.values, rng, n_draws, self.codes)
        n = self.n_examples if self.codes is None else int(self.codes.max()) + 1
        found = np.empty((n_draws, self.n_runs))
        for start in range(0, n_draws, _DRAWS_AT_ONCE):
            rows = rng.integers(0, n, (min(_DRAWS_AT_ONCE, n_draws - start), n))
            counts = np.stack([np.bincount(row, minlength=n) for row in rows]).astype(np.float64)
            counts = counts if self.codes is None else counts[:, self.codes]
            ranked = self.metric == "spearman"
            found[start : start + len(rows)] = correlations(self.values, self.gold, counts, ranked=ranked)
        return found

    def draws_beside_constants(
        self, rng: np.random.Generator, n_draws: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """`draws`, and the scores of the constant answers by the same draws of examples, (B, C)."""
        if self.constants is None or self.metric in CORRELATIONS:
            found = self.draws(rng, n_draws)
            return found, None if self.constants is None else np.zeros((n_draws, 1))
        both = resample_examples(np.concatenate([self.values, self.constants]), rng, n_draws, self.codes)
        return both[:, : self.n_runs], both[:, self.n_runs :]

    def undefined(self) -> str:
        """Why the metric has no value, or ""."""
        if self.gold is None:
            return ""
        if np.ptp(self.gold) == 0:
            return f"all targets of {self.name!r} are equal, and nothing correlates with a constant"
        constant = int((np.ptp(self.values, axis=1) == 0).sum())
        if not constant:
            return ""
        which = "the" if self.n_runs == 1 else f"{constant} of {self.n_runs} runs'"
        return f"{which} predictions on {self.name!r} are all equal, and a constant correlates with nothing"


def label_constants(gold: ArrayLike) -> NDArray[np.float64]:
    """What naming always the same label scores on each example, (C, N), for gold labels (N,).

    Labels with at most half the share of the most frequent one are left out: they are never the best.
    """
    _, codes = np.unique(np.asarray(gold), return_inverse=True)
    counts = np.bincount(codes)
    near = np.flatnonzero(2 * counts > counts.max())
    return np.asarray(codes == near[:, np.newaxis], dtype=np.float64)


def correlations(
    predictions: NDArray[np.float64], gold: NDArray[np.float64], counts: NDArray[np.float64], *, ranked: bool
) -> NDArray[np.float64]:
    """Correlation of each run with the gold when example i is there counts[b, i] times.

    Pearson's r, or with `ranked` Spearman's: Pearson's of the ranks, ties at their mean.

    Args:
        predictions: (R, N).
        gold: (N,).
        counts: (B, N), whole numbers.
        ranked: Whether ranks are correlated.

    Returns:
        (B, R); NaN where one of the two is constant.

    Source: Pearson 1895; Spearman 1904.
    """
    if not ranked:
        return _weighted_pearson(predictions, np.broadcast_to(gold, counts.shape), counts)
    gold_ranks = _weighted_ranks(gold, counts)
    found = np.empty((len(counts), len(predictions)))
    for run, values in enumerate(predictions):
        ranks = _weighted_ranks(values, counts)
        for draw, count in enumerate(counts):
            found[draw, run] = _weighted_pearson(ranks[draw][np.newaxis], gold_ranks[[draw]], count[np.newaxis])[0, 0]
    return found


def _weighted_ranks(values: NDArray[np.float64], counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks of values (N,) under each row of counts, (B, N): as many below, and the middle of the equal ones."""
    distinct, codes = np.unique(values, return_inverse=True)
    ranks = np.empty(counts.shape)
    for draw, count in enumerate(counts):
        equal = np.bincount(codes, weights=count, minlength=len(distinct))
        ranks[draw] = (np.cumsum(equal) - equal + (equal + 1) / 2)[codes]
    return ranks


def _weighted_pearson(
    x: NDArray[np.float64], y: NDArray[np.float64], counts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Pearson's r of x (R, N) and y (B, N) under counts (B, N), (B, R)."""
    # Scaled to [-1, 1] around the middle first, so that no large mean or unit swallows the differences.
    x, y = _centered(x), _centered(y)
    total = counts.sum(axis=1)
    mean_x, mean_y = counts @ x.T / total[:, np.newaxis], (counts * y).sum(axis=1) / total
    var_x = counts @ np.square(x).T / total[:, np.newaxis] - mean_x**2
    var_y = (counts * np.square(y)).sum(axis=1) / total - mean_y**2
    covariance = (counts * y) @ x.T / total[:, np.newaxis] - mean_x * mean_y[:, np.newaxis]
    product = var_x * var_y[:, np.newaxis]
    # What rounding leaves of the variance of a constant is no variance.
    varies = (var_x > 1e-14) & (var_y > 1e-14)[:, np.newaxis]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(varies, np.clip(covariance / np.sqrt(product), -1.0, 1.0), np.nan)


def _centered(values: NDArray[np.float64]) -> NDArray[np.float64]:
    middle = values.mean(axis=1, keepdims=True)
    reach = np.abs(values - middle).max(axis=1, keepdims=True)
    # A constant's mean may miss it by a rounding error, which must not be blown up to a difference.
    constant = np.ptp(values, axis=1, keepdims=True) == 0
    return np.where(constant, 0.0, values - middle) / np.where(constant, 1.0, reach)
