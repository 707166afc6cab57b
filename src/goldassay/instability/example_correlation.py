"""Which examples a model learns and forgets together."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from goldassay.core.cores import cores
from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.results import Result
from goldassay.instability.ranks import standardized_ranks
from goldassay.instability.scores import as_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Beyond this many examples the matrix is held in single precision, each value computed in double and rounded once:
# 10,000 examples take 400 MB instead of 800, which leaves room for the scores and for the caller's own work.
SINGLE_PRECISION_FROM = 4000
# A tile of this many examples either way stays in a core's cache while it is worked on.
_TILE = 512
# Clustering takes time in proportion to the square: 2 s for 10,000 examples.
MAX_CLUSTERED = 20_000


@dataclass(frozen=True)
class ExampleCorrelation(Result):
    """Rank correlations between the scores of M examples.

    Attributes:
        values: (M, M), symmetric, in the order of `examples`; NaN where two examples never change in the same run.
        examples: (M,) positions in the input of the examples that have correlations, ascending.
        order: (M,) positions in `values`, in the order to show them in.
        pooling: How runs were put together.
        n_runs: R.
        n_checkpoints: T.
        n_examples: N, before sampling.
        n_constant: Examples left out since they never change (of those sampled).
        skipped: Reason -> count of what has no value.
    """

    values: NDArray[np.floating[Any]]
    examples: NDArray[np.int64]
    order: NDArray[np.int64]
    pooling: str
    n_runs: int
    n_checkpoints: int
    n_examples: int
    n_constant: int
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a pair i < j of examples, by their positions in the input: i, j, correlation."""
        rows, columns = np.triu_indices(len(self.examples), 1)
        return pl.DataFrame(
            {"i": self.examples[rows], "j": self.examples[columns], "correlation": self.values[rows, columns]}
        )


def correlate_examples(
    scores: ArrayLike,
    *,
    pooling: Literal["mean", "pooled", "final"] = "mean",
    max_examples: int | None = 2000,
    order: Literal["clustering", "file"] = "clustering",
    groups: ArrayLike | None = None,
    seed: int = 0,
) -> ExampleCorrelation:
    """Spearman's correlation between the scores of each two examples over training.

    "mean" (both conventions): over the checkpoints of a run, averaged over the runs in which both examples
    change. "pooled": over all (run, checkpoint). "final": over the runs' last checkpoints. Scores are
    correctness, or the probability of the gold label. For correctness it is the phi coefficient. Examples that
    never change have no correlation: they are left out and counted, never filled with 0.

    Args:
        scores: (R, T, N), or (R, N) for "final".
        pooling: "mean", "pooled" or "final".
        max_examples: Above this many, so many are drawn without replacement; None keeps all.
        order: "clustering" puts examples that go together side by side (average linkage on 1 - correlation);
            "file" keeps the order of the input, in which related examples may lie together already.
        groups: (N,) group names; the order then goes group by group.
        seed: Of the draw.

    Raises:
        InputError: Scores are not finite or of the wrong shape, groups do not fit, or there are too many
            examples to cluster.

    Source: Zhou, Nie, Tan and Bansal 2020, Figure 4; that it is averaged over runs is our reading.
    """
    array = np.asarray(scores)
    values = as_scores(array[:, np.newaxis] if pooling == "final" and array.ndim == 2 else array, ndim=3)
    n_runs, n_checkpoints, n_examples = values.shape
    chosen = _sample(n_examples, max_examples, seed)
    series = _series(values[:, :, chosen], pooling)
    ranks, varies = standardized_ranks(series)
    alive = varies.any(axis=0)
    examples = chosen[alive]
    matrix, n_undefined = _correlations(ranks[:, alive], varies[:, alive])
    skipped = {}
    n_constant = int((~alive).sum())
    if n_constant:
        skipped["the example never changes"] = n_constant
    if n_undefined:
        skipped["the two examples never change in the same run"] = n_undefined
    if len(examples) == 0:
        warnings.warn("no example ever changes, so none has a correlation", UndefinedMeasureWarning, stacklevel=2)
    names = None if groups is None else _group_names(groups, n_examples)[examples]
    return ExampleCorrelation(
        values=matrix,
        examples=examples,
        order=_order(matrix, order, names),
        pooling=pooling,
        n_runs=n_runs,
        n_checkpoints=n_checkpoints,
        n_examples=n_examples,
        n_constant=n_constant,
        skipped=skipped,
    )


def _sample(n_examples: int, max_examples: int | None, seed: int) -> NDArray[np.int64]:
    if max_examples is None or n_examples <= max_examples:
        return np.arange(n_examples)
    if max_examples < 1:
        raise InputError(f"max_examples is {max_examples}", mend="it must be at least 1")
    return np.sort(np.random.default_rng(seed).choice(n_examples, max_examples, replace=False))


def _series(values: NDArray[np.float64], pooling: str) -> NDArray[np.float64]:
    """Series to correlate, (runs, M, points)."""
    match pooling:
        case "mean":
            return np.ascontiguousarray(values.transpose(0, 2, 1))
        case "pooled":
            return np.ascontiguousarray(values.reshape(-1, values.shape[2]).T)[np.newaxis]
        case "final":
            return np.ascontiguousarray(values[:, -1].T)[np.newaxis]
    raise InputError(f"there is no pooling {pooling!r}", mend="choose 'mean', 'pooled' or 'final'")


def _correlations(ranks: NDArray[np.float64], varies: NDArray[np.bool_]) -> tuple[NDArray[np.floating[Any]], int]:
    """Mean over runs of the products of ranks (runs, M, points), and how many pairs have none."""
    n_runs, size, n_points = ranks.shape
    # Runs end to end: one product then sums over the runs as well.
    flat = ranks.transpose(1, 0, 2).reshape(size, n_runs * n_points)
    defined = None if varies.all() else varies.T.astype(np.float64)
    matrix = np.empty((size, size), dtype=np.float32 if size > SINGLE_PRECISION_FROM else np.float64)

    def fill(start: int) -> int:
        return sum(_fill_tile(matrix, flat, defined, n_runs, start, left) for left in range(start, size, _TILE))

    starts = range(0, size, _TILE)
    if len(starts) <= 1:
        undefined = sum(map(fill, starts))
    else:
        from threadpoolctl import threadpool_limits

        # The products are the lesser part: each core takes tiles of its own through all steps, and its share of the
        # memory, whose first touch costs a system more than what is then written to it.
        n_threads = cores()
        with threadpool_limits(1), ThreadPoolExecutor(n_threads) as pool:
            undefined = sum(pool.map(fill, starts))
    matrix[np.diag_indices(size)] = 1.0
    return matrix, undefined


def _fill_tile(
    matrix: NDArray[np.floating[Any]],
    flat: NDArray[np.float64],
    defined: NDArray[np.float64] | None,
    n_runs: int,
    top: int,
    left: int,
) -> int:
    """Write a tile and its mirror image; gives how many of its pairs have no run in which both change."""
    rows, columns = slice(top, top + _TILE), slice(left, left + _TILE)
    values = flat[rows] @ flat[columns].T
    undefined = 0
    if defined is None:
        values /= n_runs
    else:
        used = defined[rows] @ defined[columns].T
        undefined = int((np.triu(used == 0, 1) if left == top else used == 0).sum())
        with np.errstate(invalid="ignore", divide="ignore"):
            values /= used
    np.clip(values, -1.0, 1.0, out=values)
    if left == top:
        # A product of a block with itself need not be symmetric to the last bit.
        values = np.triu(values) + np.triu(values, 1).T
    matrix[rows, columns] = values
    matrix[columns, rows] = matrix[rows, columns].T
    return undefined


def _group_names(groups: ArrayLike, n_examples: int) -> NDArray[Any]:
    names = np.asarray(groups)
    if names.shape != (n_examples,):
        raise InputError(f"groups have shape {names.shape}", mend=f"give one for each of the {n_examples} examples")
    return names.astype(np.str_)


def _order(matrix: NDArray[Any], order: str, names: NDArray[Any] | None) -> NDArray[np.int64]:
    size = len(matrix)
    if order not in ("clustering", "file"):
        raise InputError(f"there is no order {order!r}", mend="choose 'clustering' or 'file'")
    if order == "file" or size < 3:
        within = np.arange(size)
    elif size > MAX_CLUSTERED:
        raise InputError(
            f"{size} examples are too many to cluster",
            mend=f"set max_examples to at most {MAX_CLUSTERED}, or order='file'",
        )
    else:
        from goldassay.instability.leaf_order import leaf_order

        # Pairs without a value are taken for unrelated ones, for the order only.
        within = leaf_order(matrix)
    if names is None:
        return within
    return within[np.argsort(names[within], kind="stable")]
