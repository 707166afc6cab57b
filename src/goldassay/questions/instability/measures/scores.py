"""What every measure of this room asks of its scores, and the sums that several of them share.

Runs that are copies of another one, but for an answer or two.

What one run tells: its score, and between which scores it would lie on other examples of the kind.

Ranks and what Spearman's correlation makes of them.

Mean and spread of a score over runs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.stats.clusters import dense_codes, effective_clusters, variance_of_mean, weigh
from goldassay.stats.intervals import (
    Interval,
    few_runs_caveat,
    mean_interval,
    normal_quantile,
    score_sd_interval,
    t_quantile,
    wilson_interval,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def as_scores(scores: ArrayLike, *, ndim: int = 2, min_runs: int = 1) -> NDArray[np.float64]:
    """Take scores of R runs as an array of floats, (R, N) or (R, T, N), and refuse what cannot be measured.

    Any finite values are accepted: correctness, F1, or a multiple of these.

    Raises:
        InputError: The number of axes is wrong, there are no examples, too few runs, or a score is NaN or infinite.
    """
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the scores are not an array of numbers ({error})") from error
    axes = {1: "(R,)", 2: "(R, N)", 3: "(R, T, N)"}[ndim]
    if values.ndim != ndim:
        raise InputError(f"scores have {values.ndim} axes", mend=f"they must be {axes}: runs first, examples last")
    if values.size == 0:
        raise InputError(f"there are no scores (their shape is {values.shape})")
    if values.shape[0] < min_runs:
        raise InputError(
            f"{values.shape[0]} run is there, and {min_runs} are needed to measure a spread over runs",
            mend="add runs with other seeds",
        )
    # A sum is finite only if all its terms are, and needs no second array.
    if not np.isfinite(values.sum()):
        bad = np.argwhere(~np.isfinite(values))
        if bad.size:
            raise InputError(
                f"{len(bad)} scores are not finite numbers, the first at {tuple(bad[0].tolist())}",
                mend="leave out the runs or examples that were not scored",
            )
    return values


def check_ddof(ddof: int, n_runs: int) -> None:
    """Refuse degrees of freedom that leave nothing to divide by.

    Raises:
        InputError: `ddof` is neither 0 nor 1, or is 1 with a single run.
    """
    if ddof not in (0, 1):
        raise InputError(f"ddof is {ddof}", mend="it must be 0 or 1")
    if n_runs <= ddof:
        raise InputError(
            "one run is there, and 2 are needed to measure a spread over runs", mend="add runs with other seeds"
        )


def group_codes(groups: ArrayLike, n_examples: int) -> tuple[list[str], NDArray[np.int64]]:
    """Group names in ascending order, and for each example the position of its group.

    Raises:
        InputError: There is not one group name for each example.
    """
    values: NDArray[Any] = np.asarray(groups)
    if values.shape != (n_examples,):
        raise InputError(f"groups have shape {values.shape}", mend=f"give one for each of the {n_examples} examples")
    names, codes = np.unique(values.astype(np.str_), return_inverse=True)
    return [str(name) for name in names], codes.astype(np.int64)


def example_variances(values: NDArray[np.float64], ddof: int) -> NDArray[np.float64]:
    """Variance over runs of each example, (N,), of values (R, N).

    Runs are summed around the first run's values, which keeps a constant example's variance exactly 0.
    """
    n_runs = values.shape[0]
    first = values[0]
    total = np.zeros_like(first)
    squares = np.zeros_like(first)
    deviation = np.empty_like(first)
    for row in values[1:]:
        np.subtract(row, first, out=deviation)
        total += deviation
        deviation *= deviation
        squares += deviation
    total *= total
    total /= n_runs
    squares -= total
    np.maximum(squares, 0.0, out=squares)
    squares /= n_runs - ddof
    return squares


# Of the examples that a run is wrong on (or right on, if these are fewer), the share up to which another run may differ
# from it and still be taken for a copy. Seeds of one model differ on .28 to .52 of them: five BERT and five DistilBERT
# models on the SNLI test set.
ALIKE = 0.05
# Runs that state no seed are of one training where their outputs differ on a smaller share of what either has wrong.
# Ten BERT models differ on .31 to .51 of it (SNLI, MNLI and BREAK), or .11 to .20 (HANS, with errors in common).
_OF_ONE_TRAINING = 0.3
# Or on a smaller part of the upper quartile of all such shares. Of those ten models no two have less than two thirds.
_OF_THE_QUARTILE = 0.6
# With fewer wrong items that share is hardly known.
LEAST_WRONG = 50
# Runs that are held against all others at once: bounds the memory.
_AT_ONCE = 256


def distinct_runs(scores: ArrayLike) -> int:
    """How many runs there are when copies of a run, exact ones and near ones, count as one.

    A run is a copy of one before it where the examples on which their scores differ are at most a twentieth of the
    examples that the two are wrong on (on average), or right on, whichever are fewer. Runs with other seeds agree on
    what is easy; of what a model gets wrong, they change a quarter and more. Copies of copies are not chained.

    Args:
        scores: In [0, 1], (R, N).
    """
    copied = _copied_from(as_scores(scores))
    return int((copied == np.arange(copied.size)).sum())


def _copied_from(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The first run that each is a copy of, itself where it is none, (R,)."""
    n_runs, n_examples = values.shape
    lost = n_examples - values.sum(axis=1)
    room = ALIKE * np.minimum(lost, n_examples - lost)
    found = np.arange(n_runs)
    kept = np.zeros(n_runs, np.bool_)
    for begin in range(0, n_runs, _AT_ONCE):
        for run, apart in enumerate(_apart(values, slice(begin, begin + _AT_ONCE)), start=begin):
            alike = kept & (apart <= (room + room[run]) / 2)
            kept[run] = not alike.any()
            found[run] = run if kept[run] else int(alike.argmax())
    return found


FamiliesOpen = Literal["", "few wrong", "near", "unstated"]


class Families(NamedTuple):
    """How many trainings runs come from; see `run_families`.

    Attributes:
        n: Families, at most as many as runs.
        open: Why that is not known: a run has hardly anything wrong, families lie near, or no seed is stated and most
            runs are like no other; "" where it is known.
    """

    n: int
    open: FamiliesOpen = ""


def run_families(scores: ArrayLike, outputs: ArrayLike | None = None, seeds: Sequence[int] = ()) -> Families:
    """How many trainings R runs come from: checkpoints of one are no runs of other seeds.

    Stated seeds decide: unlike seeds are unlike families, as far as the runs are no copies (`distinct_runs`). Else the
    distance of two runs is

        d = (items whose outputs differ)/(items that either has wrong)

    and families are cut from the tree of complete linkage at the lesser of .3 and .6 times the upper quartile of all d.
    Where runs of two families lie below .3, or a run has fewer than 50 wrong items, the number is that of the tree, and
    open. It is open, too, where families have fewer than two runs on average: nothing shows how far apart checkpoints
    of one training lie, and they may lie as far apart as seeds do.

    Args:
        scores: In [0, 1], (R, N).
        outputs: Codes of what was answered, (R, N); without them the scores.
        seeds: Of the runs, (R,), as they state them; several may have one.

    Source: Sørensen 1948 for complete linkage.
    """
    values = as_scores(scores)
    of_run, apart = _trainings(values, outputs, seeds)
    n = np.unique(_with_copies(of_run, values)).size
    if apart is None:
        return Families(n)
    if (values < 1).sum(axis=1).min() < LEAST_WRONG:
        return Families(n, "few wrong")
    pairs = np.triu_indices(len(values), 1)
    if (apart[of_run[pairs[0]] != of_run[pairs[1]]] < _OF_ONE_TRAINING).any():
        return Families(n, "near")
    return Families(n, "unstated" if 2 * n > len(values) else "")


def training_of_runs(
    scores: ArrayLike, outputs: ArrayLike | None = None, seeds: Sequence[int] = ()
) -> NDArray[np.int64]:
    """The training that each run comes from, as codes from 0, (R,); arguments as for `run_families`.

    By stated seeds alone where these are given, copies or not.
    """
    values = as_scores(scores)
    of_run, _ = _trainings(values, outputs, seeds)
    of_run = of_run if seeds else _with_copies(of_run, values)
    return np.asarray(np.unique(of_run, return_inverse=True)[1], np.int64)


def _trainings(
    values: NDArray[np.float64], outputs: ArrayLike | None, seeds: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Codes of trainings, (R,), and how far apart all pairs of runs lie; None where seeds decide."""
    if seeds or len(values) < 2:
        stated = list(seeds) or [0] * len(values)
        return np.array([stated.index(seed) for seed in stated], np.int64), None
    from scipy.cluster.hierarchy import fcluster, linkage

    wrong = values < 1
    answers = values if outputs is None else np.asarray(outputs)
    found: list[float] = []
    for at, own in enumerate(answers[:-1]):
        differ = (answers[at + 1 :] != own).sum(axis=1)
        found += (differ / np.maximum((wrong[at + 1 :] | wrong[at]).sum(axis=1), 1)).tolist()
    apart = np.array(found)
    cut = min(_OF_ONE_TRAINING, _OF_THE_QUARTILE * float(np.quantile(apart, 0.75)))
    return np.asarray(fcluster(linkage(apart, "complete"), cut, "distance"), np.int64), apart


def _with_copies(of_run: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Trainings joined where a run of one is a copy of a run of the other.

    With few answers changed all copies lie equally far apart, and no stated seed makes a copy a training of its own.
    """
    joined = of_run.copy()
    for run, first in enumerate(_copied_from(values).tolist()):
        joined[joined == joined[run]] = joined[first]
    return joined


def _apart(values: NDArray[np.float64], part: slice) -> NDArray[np.int64]:
    """On how many examples some runs differ from each of all, (R', R)."""
    if bool(((values == 0) | (values == 1)).all()):
        # Sums of ones below 2^24 are exact in 32 bits, in whatever order a matrix library adds them.
        small = values.astype(np.float32)
        right = small.sum(axis=1)
        return np.asarray(right[part, np.newaxis] + right - 2 * (small[part] @ small.T), np.int64)
    return np.array([(values != each).sum(axis=1) for each in values[part]], np.int64)


@dataclass(frozen=True)
class OneRunScore(Result):
    """The mean score of one run; see `score_one_run`.

    Attributes:
        mean: Over examples.
        interval: Of the mean over other examples; nothing is said of other runs.
        standard_error: Of the mean, cluster-robust and never below that of independent examples.
        n_examples: N.
        n_clusters: G.
        effective_size: How many independent examples are worth as much for the interval, before the allowance for few
            clusters.
    """

    mean: float
    interval: Interval
    standard_error: float
    n_examples: int
    n_clusters: int
    effective_size: float


def score_one_run(
    scores: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95, *, weights: ArrayLike | None = None
) -> OneRunScore:
    """The mean of one run's scores, with an interval over (clusters of) examples.

    se² = G/(G-1) sum_g (sum_{i in g} (y_i - m))²/N², at least sum_i (y_i - m)²/(N (N-1)). The interval is Wilson's, of
    m at n* = m (1-m)/se² examples, times (z/t_{df})² for few clusters, with df one less than the effective clusters,
    N²/sum n_g². It stays within [0, 1], and where all scores are equal (se = 0) n* is the effective clusters. Scores
    between 0 and 1 vary less than such as are 0 or 1, so that n* may exceed N for them.

    Args:
        scores: (N,), in [0, 1].
        clusters: (N,) cluster of each example, from 0; None where each counts by itself.
        level: Of the interval.
        weights: (N,) how much each example counts, see `weigh`; None where all count alike.

    Raises:
        InputError: There are fewer than 2 examples or clusters, or scores are not finite or lie outside [0, 1].

    Source: Wilson 1927; Korn and Graubard 1998, "Confidence intervals for proportions with small expected number of
    positive counts estimated from survey data", for n* and its allowance; Miller 2024, "Adding error bars to evals",
    for clusters; Madaan et al. 2024, "Quantifying variance in evaluation benchmarks", for what one run leaves open.
    """
    values = as_scores(scores, ndim=1)
    n = values.size
    if values.min() < 0 or values.max() > 1:
        raise InputError("scores lie outside [0, 1]", mend="divide points by 100")
    values = weigh(values, weights)
    codes = dense_codes(clusters, n)
    n_clusters = int(codes.max()) + 1
    if n_clusters < 2:
        raise InputError(
            "one example has no spread over examples" if n < 2 else "all examples are one cluster",
            mend="give at least 2",
        )
    mean = float(values.mean())
    # The mean of equal numbers is not always that number.
    varying = values if np.ptp(values) > 0 else np.zeros(n)
    variance = max(variance_of_mean(varying, codes), variance_of_mean(varying))
    groups = effective_clusters(codes, weights)
    size = mean * (1 - mean) / variance if variance > 0 else groups
    few = normal_quantile(level) / t_quantile(max(groups - 1, 1.0), level)
    made = wilson_interval(mean * size * few**2, size * few**2, level)
    # At the ends rounding must not exclude the mean.
    interval = Interval(max(min(made.low, mean), 0.0), min(max(made.high, mean), 1.0), level, "Wilson, over examples")
    return OneRunScore(mean, interval, math.sqrt(variance), n, n_clusters, size)


def standardized_ranks(series: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Ranks along the last axis, centered and of length 1, so that a dot product is Spearman's correlation.

    Equal values share the average of their ranks. Where a series takes at most two values, ranks are a linear
    function of the values, so these are used as they are.

    Args:
        series: (..., T).

    Returns:
        The ranks (..., T), zeros where a series is constant; and where a series is not constant, (...).
    """
    low, high = series.min(axis=-1, keepdims=True), series.max(axis=-1, keepdims=True)
    varies = (high > low)[..., 0]
    if not bool(((series == low) | (series == high)).all()):
        series = _average_ranks(series)
        low = series.min(axis=-1, keepdims=True)
    ranks = series - low
    ranks -= ranks.mean(axis=-1, keepdims=True)
    norm = np.sqrt(np.einsum("...t,...t->...", ranks, ranks))
    ranks /= np.where(varies, norm, 1.0)[..., np.newaxis]
    ranks[~varies] = 0.0
    return ranks, varies


def _average_ranks(series: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks from 0 along the last axis, equal values sharing the average of theirs."""
    order = series.argsort(axis=-1)
    placed = np.take_along_axis(series, order, axis=-1)
    positions = np.arange(series.shape[-1])
    # Where a stretch of equal values begins, and where it ends, carried over all of it.
    begins = np.concatenate([np.ones_like(placed[..., :1], dtype=bool), placed[..., 1:] != placed[..., :-1]], axis=-1)
    ends = np.concatenate([begins[..., 1:], begins[..., :1]], axis=-1)
    first = np.maximum.accumulate(np.where(begins, positions, 0), axis=-1)
    last = np.minimum.accumulate(np.where(ends, positions, positions[-1])[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty_like(series)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=-1)
    return ranks


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
