"""Whether the scores on several datasets rise and fall together.

An order in which what is alike stands side by side, found without a second matrix.

Which examples a model learns and forgets together.
"""

from __future__ import annotations

import math
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numba
import numpy as np
import polars as pl

from goldassay.core.cores import cores
from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.results import Result
from goldassay.questions.instability.measures.scores import as_scores, standardized_ranks
from goldassay.stats.intervals import few_runs_caveat, mean_reach, normal_quantile

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

    if n_runs <= 3:
        return _around(values, np.full_like(values, -1.0), np.ones_like(values))
    # A correlation of exactly 1 would be its own interval: it is taken back by half its distance from the next lower.
    most = 1 - 6 / (n_runs**3 - n_runs)
    inner = np.clip(values, -most, most)
    half = normal_quantile(0.95) * np.sqrt((1 + inner**2 / 2) / (n_runs - 3))
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


def leaf_order(similarity: NDArray[np.floating[Any]]) -> NDArray[np.int64]:
    """Leaves of the average-linkage tree of a similarity matrix, from left to right, (M,).

    The tree is grown in the lower triangle by the nearest-neighbor chain, and the triangle is then written anew from
    the upper one. So the matrix is as before when this returns, and a matrix of 10,000 examples needs no other beside
    it, where scipy's linkage takes two of half its size in double precision. Where several pairs are equally
    similar, any of them may be joined first. Not to be used on one matrix from two threads.

    Args:
        similarity: (M, M), symmetric and writable; NaN counts as 0, which is what unrelated things have.

    Source: the chain is Benzécri's and Juan's (1982), as described by Müllner 2011.
    """
    size = len(similarity)
    if size < 3:
        return np.arange(size)
    try:
        joined, heights = _grow(similarity)
    finally:
        _restore(similarity)
    return _leaves(joined, np.argsort(-heights, kind="stable"), size)


@numba.njit(cache=True, nogil=True)
def _grow(similarity: Any) -> Any:
    """Join the most similar clusters until one is left: the members that stand for each two, and how similar."""
    size = len(similarity)
    for i in range(size):
        for j in range(i):
            if np.isnan(similarity[i, j]):
                similarity[i, j] = 0
    weights = np.ones(size, dtype=np.int64)
    joined = np.empty((size - 1, 2), dtype=np.int64)
    heights = np.empty(size - 1, dtype=np.float64)
    chain = np.empty(size, dtype=np.int64)
    length = 0
    for step in range(size - 1):
        if length == 0:
            chain[0] = np.flatnonzero(weights)[0]
            length = 1
        while True:
            end = chain[length - 1]
            near, closest = _nearest(similarity, weights, end, chain[length - 2] if length > 1 else -1)
            if length > 1 and near == chain[length - 2]:
                break
            chain[length] = near
            length += 1
        length -= 2
        gone, kept = min(end, near), max(end, near)
        joined[step, 0], joined[step, 1], heights[step] = gone, kept, closest
        _join(similarity, weights, gone, kept)
    return joined, heights


@numba.njit(cache=True, nogil=True)
def _nearest(similarity: Any, weights: Any, one: int, before: int) -> Any:
    """The cluster most similar to one; the one before it in the chain where that is as similar as any."""
    near, closest = before, -np.inf
    if before >= 0:
        closest = similarity[max(one, before), min(one, before)]
    for other in range(len(weights)):
        if weights[other] and other != one:
            value = similarity[max(one, other), min(one, other)]
            if value > closest:
                near, closest = other, value
    return near, closest


@numba.njit(cache=True, nogil=True)
def _join(similarity: Any, weights: Any, gone: int, kept: int) -> None:
    n, m = weights[gone], weights[kept]
    weights[gone], weights[kept] = 0, n + m
    for other in range(len(weights)):
        if weights[other] and other != kept:
            theirs = similarity[max(gone, other), min(gone, other)]
            row, column = max(kept, other), min(kept, other)
            own = similarity[row, column]
            # Rounding must not carry a mean beyond its parts: the chain relies on it to come to an end.
            similarity[row, column] = min(max(theirs, own), (n * theirs + m * own) / (n + m))


@numba.njit(cache=True, nogil=True)
def _restore(similarity: Any) -> None:
    """Write the lower triangle from the upper one, in squares that fit into the cache."""
    size = len(similarity)
    side = 64
    for top in range(0, size, side):
        for left in range(0, top + 1, side):
            for i in range(top, min(top + side, size)):
                for j in range(left, min(left + side, i)):
                    similarity[i, j] = similarity[j, i]


@numba.njit(cache=True, nogil=True)
def _leaves(joined: Any, order: Any, size: int) -> Any:
    """Members of the last cluster, each two put end to end in the order in which they were joined."""
    # Each cluster is a linked list of its members: its first is kept at its root, its last likewise.
    root, after = np.arange(size), np.full(size, -1)
    first, last, label = np.arange(size), np.arange(size), np.arange(size)
    for rank in range(len(order)):
        one, other = _root(root, joined[order[rank], 0]), _root(root, joined[order[rank], 1])
        if label[one] > label[other]:
            one, other = other, one
        after[last[one]] = first[other]
        last[one] = last[other]
        root[other] = one
        label[one] = size + rank
    leaves = np.empty(size, dtype=np.int64)
    leaf = first[_root(root, 0)]
    for position in range(size):
        leaves[position] = leaf
        leaf = after[leaf]
    return leaves


@numba.njit(cache=True, nogil=True)
def _root(root: Any, member: int) -> int:
    while root[member] != member:
        root[member] = root[root[member]]
        member = root[member]
    return member


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
        # Pairs without a value are taken for unrelated ones, for the order only.
        within = leaf_order(matrix)
    if names is None:
        return within
    return within[np.argsort(names[within], kind="stable")]
