"""Multinomial logistic regression on the features of `probe_features`.

With s_i the weight of row i, y_i its label, o_c an offset of class c (the logarithm of its share of the weights) and
p_i = softmax(W x_i + o), W minimizes

    sum_i s_i (-log p_i[y_i]) + penalty / 2 ||W||^2,

the weights of a constant feature included. Without features that tell anything, W is 0 and p the label shares.

The solver is stochastic dual coordinate ascent (Shalev-Shwartz and Zhang 2013; for logistic losses Yu, Huang and Lin
2011, as in LIBLINEAR). Each row has a dual distribution q_i over the classes, which starts at its label, and always
W = 1 / penalty sum_i s_i (e_{y_i} - q_i) x_i. A visit to row i moves q_i towards p_i by the share
1 / (1 + s_i ||x_i||^2 / (2 penalty)): softmax changes at most half as fast as its margins, so that no step is too far
and the dual objective always rises. At the optimum q_i = p_i.

Why this one: L-BFGS needs tens of passes over all rows, where this needs a handful; stochastic gradient descent,
AdaGrad (Vowpal Wabbit) and SAGA have a learning rate to choose, and this has none; gradient descent must shrink all
weights in each step, or keep books, where here a step touches the features of one row. A row's weight only makes its
steps longer, so that a bootstrap visits each distinct row once a pass. Eight penalties are fitted at once: the weights
of a feature lie side by side for all of them, and fetching them from memory is what takes the time.

Passes are sequential, so that results have the same bits on any number of cores; independent fits run side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from goldassay.readers.lanes import WIDTH
from goldassay.readers.softmax_kernels import (
    KEPT_ENTRIES,
    ascend_classes,
    ascend_penalties,
    ascend_two_classes,
    count_entries,
    gather,
    in_parts,
    sum_rows,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from goldassay.readers.probe_features import ProbeFeatures
    from goldassay.readers.softmax_kernels import Entries


@dataclass(frozen=True)
class Problem:
    """What a regression is fitted to.

    Attributes:
        features: Of all rows.
        widths: How many columns of each block are used, (B,).
        rows: Of the features, (n,).
        labels: Of these rows, below `n_classes`, (n,).
        weights: Of these rows, above 0, (n,).
        n_classes: K.
        entries: Of many rows with these widths, gathered once for several problems; a fit gathers its own if not given.
        places: Of these rows among those of `entries`, (n,).
    """

    features: ProbeFeatures
    widths: NDArray[np.int64]
    rows: NDArray[np.int64]
    labels: NDArray[np.int64]
    weights: NDArray[np.float32]
    n_classes: int
    entries: Entries | None = None
    places: NDArray[np.int64] | None = None

    def part(self, places: NDArray[np.int64]) -> Problem:
        """The problem of some of the rows, of every label one or more."""
        return replace(
            self,
            rows=self.rows[places],
            labels=self.labels[places],
            weights=self.weights[places],
            places=None if self.places is None else self.places[places],
        )

    @property
    def n_lines(self) -> int:
        """Of the table of weights: one a column, and the constant's."""
        return int(self.widths.sum()) + 1

    @property
    def offsets(self) -> NDArray[np.float32]:
        """The logarithm of each label's share of the weights, (K,); that of half a row for a label without rows."""
        shares = np.bincount(self.labels, self.weights, self.n_classes)
        return np.log(np.where(shares > 0, shares, 0.5) / shares.sum()).astype(np.float32)


@dataclass(frozen=True)
class Weights:
    """W and the offsets o.

    Attributes:
        widths: How many columns of each block are used, (B,).
        table: W, the constant's weights last, and zeros beyond the K-th class, (columns + 1, P) in one piece; of two
            classes the second's W alone, P = 1, since the first's is the same with the other sign.
        offsets: o, (K,).
    """

    widths: NDArray[np.int64]
    table: NDArray[np.float32]
    offsets: NDArray[np.float32]

    def margins(self, features: ProbeFeatures, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """W x + o of some rows, (n, K)."""
        sums = _sums(features, self.widths, rows, self.table, _stride(self.offsets.size))
        if self.offsets.size == 2:
            sums = np.hstack([-sums, sums])
        return np.asarray(sums[:, : self.offsets.size] + self.offsets)


@dataclass(frozen=True)
class Start:
    """What is known of a problem from a fit to some of its rows, with the same penalty and weights.

    W is the sum over these rows; of all others q is still at the label, so that they add nothing to it.

    Attributes:
        places: Of these rows among those of the problem, (m,).
        table: W as in `Weights`.
        duals: q of these rows, (m, P) in one piece.
    """

    places: NDArray[np.int64]
    table: NDArray[np.float32]
    duals: NDArray[np.float32]


@dataclass(frozen=True)
class PenaltyPath:
    """Weights for each of eight penalties.

    Attributes:
        problem: What they are fitted to.
        table: (columns + 1, C, 8) in one piece, C = 1 for two classes, of which it is the second's W, and else K.
        duals: q, (n, C, 8) in one piece.
    """

    problem: Problem
    table: NDArray[np.float32]
    duals: NDArray[np.float32]

    def margins(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """W x + o of some rows for each penalty, (8, n, K)."""
        problem = self.problem
        stride = WIDTH * _n_vectors(problem.n_classes)
        sums = _sums(problem.features, problem.widths, rows, self.table, stride).reshape(rows.size, -1, WIDTH)
        if problem.n_classes == 2:
            sums = np.concatenate([-sums, sums], axis=1)
        return np.ascontiguousarray((sums + problem.offsets[:, np.newaxis]).transpose(2, 0, 1))

    def weights(self, at: int) -> Weights:
        """Those for the penalty at a position."""
        return Weights(self.problem.widths, self._of_classes(self.table, at), self.problem.offsets)

    def start(self, at: int, places: NDArray[np.int64]) -> Start:
        """Where the fit to a larger problem may begin, with the penalty at a position.

        Args:
            at: Of the penalty.
            places: Where this problem's rows are among those of the larger one, (n,).
        """
        return Start(places, self._of_classes(self.table, at), self._of_classes(self.duals, at))

    def _of_classes(self, values: NDArray[np.float32], at: int) -> NDArray[np.float32]:
        """The values of one penalty, padded with zeros, (., P) in one piece."""
        own = values.reshape(-1, _n_vectors(self.problem.n_classes), WIDTH)[:, :, at]
        padded = np.zeros((own.shape[0], _stride(self.problem.n_classes)), dtype=np.float32)
        padded[:, : own.shape[1]] = own
        return padded.ravel()


def fit_penalties(
    problem: Problem,
    penalties: Sequence[float],
    n_passes: int,
    rng: np.random.Generator,
    checkpoint: Callable[[], None] = lambda: None,
) -> PenaltyPath:
    """Fit eight penalties at once; each as if it were alone.

    Args:
        problem: What is fitted.
        penalties: Eight of them, above 0.
        n_passes: Over all rows.
        rng: Of the order of the rows, drawn anew for each pass.
        checkpoint: Called before each pass; what it raises ends the work.
    """
    n_vectors = _n_vectors(problem.n_classes)
    table = np.zeros(problem.n_lines * n_vectors * WIDTH, dtype=np.float32)
    starts = np.zeros((problem.rows.size, n_vectors, WIDTH), dtype=np.float32)
    if problem.n_classes == 2:
        starts[:, 0, :] = problem.labels[:, np.newaxis]
    else:
        starts[np.arange(problem.rows.size), problem.labels] = 1
    duals = starts.ravel()
    strengths, offsets = (1 / np.asarray(penalties, dtype=np.float64)).astype(np.float32), problem.offsets
    for visited in _passes(problem, n_passes, rng, checkpoint):
        ascend_penalties(
            *visited,
            problem.weights,
            offsets,
            strengths,
            table,
            duals,
            np.empty(n_vectors * WIDTH, dtype=np.float32),
        )
    return PenaltyPath(problem, table, duals)


def fit_penalty(
    problem: Problem,
    penalty: float,
    n_passes: int,
    rng: np.random.Generator,
    checkpoint: Callable[[], None] = lambda: None,
    start: Start | None = None,
) -> Weights:
    """Fit one penalty: for many rows, or many classes.

    Args:
        problem: What is fitted.
        penalty: Above 0.
        n_passes: Over all rows.
        rng: Of the order of the rows, drawn anew for each pass.
        checkpoint: Called before each pass; what it raises ends the work.
        start: From a fit to some of the rows; from nothing if not given. The optimum is the same.
    """
    stride, strength = _stride(problem.n_classes), np.float32(1 / penalty)
    table = np.zeros(problem.n_lines * stride, dtype=np.float32) if start is None else start.table.copy()
    starts = np.zeros((problem.rows.size, stride), dtype=np.float32)
    if problem.n_classes == 2:
        starts[:, 0] = problem.labels
    else:
        starts[np.arange(problem.rows.size), problem.labels] = 1
    if start is not None:
        starts[start.places] = start.duals.reshape(-1, stride)
    duals, offsets, room = starts.ravel(), problem.offsets, np.empty(stride, dtype=np.float32)
    for visited in _passes(problem, n_passes, rng, checkpoint):
        given = (*visited, problem.weights, offsets, strength, table, duals)
        if problem.n_classes == 2:
            ascend_two_classes(*given)
        else:
            ascend_classes(*given, room)
    return Weights(problem.widths, table, offsets)


def _passes(
    problem: Problem, n_passes: int, rng: np.random.Generator, checkpoint: Callable[[], None]
) -> Iterator[tuple[Entries, NDArray[np.int64], NDArray[np.int64]]]:
    """Entries of rows, these rows' places among them in the order of a pass, and their places in the problem."""
    features, widths, rows = problem.features, problem.widths, problem.rows
    kept, places = problem.entries, problem.places
    if kept is None and count_entries(features.sizes, widths, rows).sum() <= KEPT_ENTRIES:
        kept = gather(features, widths, rows)
    for _ in range(n_passes):
        checkpoint()
        order = rng.permutation(rows.size)
        if kept is not None:
            yield kept, order if places is None else places[order], order
            continue
        for part, entries in in_parts(features, widths, rows[order]):
            own = order[part]
            yield entries, np.arange(own.size), own


def _sums(
    features: ProbeFeatures, widths: NDArray[np.int64], rows: NDArray[np.int64], table: NDArray[np.float32], stride: int
) -> NDArray[np.float32]:
    """Sums of a table's lines over the entries of some rows, times their values, (n, stride)."""
    sums = np.empty((rows.size, stride), dtype=np.float32)
    for part, entries in in_parts(features, widths, rows):
        sum_rows(entries, table, sums[part])
    return sums


def _n_vectors(n_classes: int) -> int:
    return 1 if n_classes == 2 else n_classes


def _stride(n_classes: int) -> int:
    return 1 if n_classes == 2 else -(-n_classes // WIDTH) * WIDTH
