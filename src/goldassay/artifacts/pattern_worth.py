"""What the patterns are worth: accuracy gained by guessing the label from them alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from goldassay.artifacts.label_codes import encode_labels
from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.stats.clusters import variance_of_mean
from goldassay.stats.intervals import normal_quantile, t_quantile, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from goldassay.artifacts.difficulty import DifficultyAssignment


@dataclass(frozen=True)
class Estimate:
    """A value and the ends of its 95 % interval."""

    value: float
    low: float
    high: float
    method: str = ""


@dataclass(frozen=True)
class Giveaway(Result):
    """The worth of a table of patterns on a test set.

    Attributes:
        giveaway: Accuracy gained over always naming the most frequent label, a fraction of the whole test set, with its
            interval. 0 where no example is decided: patterns that are nowhere give nothing away.
        precision: Share right of the examples for which the patterns name a single label, with its Wilson interval;
            NaN, from 0 to 1, where there is none.
        coverage: Share of the examples that hold a pattern.
        n_examples: N.
        n_decided: How many examples the patterns name a single label for.
    """

    giveaway: Estimate
    precision: Estimate
    coverage: float
    n_examples: int
    n_decided: int


def giveaway(
    assignment: DifficultyAssignment,
    labels: Sequence[Any] | NDArray[Any],
    train: DifficultyAssignment,
    train_labels: Sequence[Any] | NDArray[Any],
) -> Giveaway:
    """Accuracy that a guesser gains who reads nothing but the patterns.

    Where the patterns of a test example name a single label, the guesser says it, elsewhere a constant r. It is
    compared with always saying m, the most frequent label of all training examples: mean over the test set of x_i =
    1[guess_i = gold_i] - 1[m = gold_i], standard error sd(x)/sqrt(N), ddof 1.

    r is the most frequent label of the training examples that the patterns leave open if it is there more frequent
    than m beyond chance, (n_r - n_m)² > 3.84 (n_r + n_m); otherwise r = m. Without that test, balanced labels would
    make r another label than m by luck, and the noise of trading one constant for another would drown the gain. Of
    equally frequent labels the first counts. The test labels decide nothing.

    Where the guesser never departs from m to any effect, nothing is gained; the upper end of the interval is then the
    share of examples on which it could, 1 - .05^(1/N), below which that share lies with 95 % confidence.

    Args:
        assignment: Of the test set.
        labels: Gold labels of the test set, (N,); those left out of the assignment may be missing.
        train: Assignment of the training set, by the same patterns.
        train_labels: Its labels.

    Raises:
        InputError: There is no example, or the labels do not fit the assignment.

    Source: ours; precision as in Liu et al. 2020, but of all examples for which a single label is named.
    """
    codes, single, _ = _decided(train, train_labels)
    K = len(assignment.label_names)
    counts = (np.bincount(each, minlength=K) for each in (codes, codes[~single]))
    return giveaway_by_counts(assignment, labels, *counts)


def giveaway_by_counts(
    assignment: DifficultyAssignment,
    labels: Sequence[Any] | NDArray[Any],
    train_counts: NDArray[np.int64],
    left_open: NDArray[np.int64],
    clusters: NDArray[np.int64] | None = None,
) -> Giveaway:
    """As `giveaway`, of the counts that decide what the guesser says without a pattern.

    With G clusters of examples that depend on each other the standard error is that of their sums,
    sqrt(G/(G-1) sum_g (sum_i (x_i - mean))²)/N, and the quantile Student's (G - 1).

    Args:
        assignment: Of the test set.
        labels: Gold labels of the test set.
        train_counts: Training examples of each label, (K,).
        left_open: Those for which the patterns name none or several, (K,).
        clusters: Codes from 0 of the examples that are classed, (N,); None where each counts by itself.

    Raises:
        InputError: As there.

    Source: Liang and Zeger 1986 (sums over clusters).
    """
    codes, single, named = _decided(assignment, labels)
    guess, m = guess_by_patterns(assignment, train_counts, left_open)
    N, n_decided = codes.size, int(single.sum())
    x = (guess == codes).astype(np.float64) - (m == codes)
    if x.any():
        value = float(x.mean())
        half, method = _half_width(x, clusters)
        gained = Estimate(value, value - half, value + half, method)
    else:
        gained = Estimate(0.0, 0.0, 1 - 0.05 ** (1 / N), "exact binomial")
    right = int((single & (named == codes)).sum())
    bounds = wilson_interval(right, n_decided)
    return Giveaway(
        giveaway=gained,
        precision=Estimate(right / n_decided if n_decided else float("nan"), bounds.low, bounds.high, bounds.method),
        coverage=1 - assignment.summary["uncovered"] / N,
        n_examples=N,
        n_decided=n_decided,
    )


def _half_width(x: NDArray[np.float64], clusters: NDArray[np.int64] | None) -> tuple[float, str]:
    """Half of the 95 % interval of the mean of x, and how it was made."""
    if clusters is None:
        return normal_quantile(0.95) * math.sqrt(variance_of_mean(x)) if x.size > 1 else math.nan, "normal"
    variance = variance_of_mean(x, clusters)
    df = int(clusters.max())
    return t_quantile(df, 0.95) * math.sqrt(variance) if df else variance, "Student's t over clusters"


def guess_by_patterns(
    assignment: DifficultyAssignment, train_counts: NDArray[np.int64], left_open: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """What the guesser of `giveaway` says of each test example, (N,), and m, the constant that it is compared with.

    Args:
        assignment: Of the test set.
        train_counts: Training examples of each label, (K,).
        left_open: Those for which the patterns name none or several, (K,).
    """
    m = int(train_counts.argmax())
    r = int(left_open.argmax())
    if (left_open[r] - left_open[m]) ** 2 <= 3.84 * (left_open[r] + left_open[m]):
        r = m
    single = assignment.label_sets.sum(axis=1) == 1
    return np.where(single, assignment.label_sets.argmax(axis=1), r), m


def _decided(
    assignment: DifficultyAssignment, labels: Sequence[Any] | NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
    """Gold codes, whether a single label is named, and which."""
    codes, _ = encode_labels(labels, assignment.label_names, len(labels))
    codes = codes[codes >= 0]
    if not len(assignment):
        raise InputError("there is no example to guess", mend="give a set with labels")
    if codes.size != len(assignment):
        raise InputError(
            f"{len(assignment)} examples were classed, {codes.size} labels given", mend="give the same examples"
        )
    return codes, assignment.label_sets.sum(axis=1) == 1, assignment.label_sets.argmax(axis=1)
