"""A metric on one evaluation set, and its values on examples drawn with replacement.

Is a score surely above what can be had without any knowledge, and how much of that is lost elsewhere?

The floor of a metric is what the best answer that is the same for every example scores: accuracy of the most frequent
label, exact match and F1 of the best constant answer, 0 for a correlation, and what is declared for a mean of numbers.
What lies above it is the model's own, and only that can be lost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.questions.shift.measures.false_alarms import as_finite
from goldassay.stats.bootstrap import draw_clusters, resample_examples
from goldassay.stats.clusters import cluster_codes, dense_codes, effective_clusters
from goldassay.stats.intervals import Interval, PairedShares, degrees_of_freedom, t_quantile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Metric = Literal["accuracy", "exact_match", "f1", "mean", "pearson", "spearman"]
CORRELATIONS: tuple[Metric, ...] = ("pearson", "spearman")
METRICS: tuple[Metric, ...] = ("accuracy", "exact_match", "f1", "mean", *CORRELATIONS)


@dataclass(frozen=True)
class SetGap(Result):
    """The metric on one evaluation set against the in-distribution set: a row of the table.

    Attributes:
        train: Name of the training set.
        test: Name of the evaluation set.
        metric: What was measured.
        n: Its examples.
        value: The metric, mean over runs; NaN where `reason` says why.
        low: Lower bound of its interval.
        high: Upper bound.
        sd: Standard deviation over runs, ddof 1; NaN for one run.
        gap: Value on the in-distribution set minus this one: positive is worse here.
        gap_low: Lower bound of its interval.
        gap_high: Upper bound.
        relative_gap: gap over the value on the in-distribution set; NaN where that is 0.
        relative_low: Lower bound of its interval.
        relative_high: Upper bound.
        floor: What the best answer that is the same for every example scores on this set; NaN where it is not known.
        excess: Value - floor.
        excess_low: Lower bound of its interval.
        excess_high: Upper bound.
        loss: gap over the excess of the in-distribution set, the share of what the model has learned that is lost here;
            NaN where that excess is not surely above 0, as the relative gap then is.
        loss_low: Lower bound of its interval; of several sets, all lower bounds hold at once.
        loss_high: Upper bound, of this loss alone.
        excess_loss: The same with each score above its own floor: 1 - excess here/excess in-distribution.
        excess_loss_low: Lower bound of its interval.
        excess_loss_high: Upper bound.
        effective_clusters: N²/sum n_g² of its examples: how many that vary independently would tell as much.
        reason: Why something is NaN, or "".
    """

    train: str
    test: str
    metric: Metric
    n: int
    value: float
    low: float
    high: float
    sd: float
    gap: float
    gap_low: float
    gap_high: float
    relative_gap: float
    relative_low: float
    relative_high: float
    floor: float
    excess: float
    excess_low: float
    excess_high: float
    loss: float
    loss_low: float
    loss_high: float
    excess_loss: float
    excess_loss_low: float
    excess_loss_high: float
    effective_clusters: float
    reason: str


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
        for rows, drawn in draw_clusters(n, n_draws, rng):
            counts = drawn if self.codes is None else drawn[:, self.codes]
            found[rows] = correlations(self.values, self.gold, counts, ranked=self.metric == "spearman")
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


_UNDEFINED = Interval(math.nan, math.nan)


@dataclass(frozen=True)
class Excess:
    """By how much a score on one set exceeds its floor.

    Attributes:
        floor: Mean score of the contenders; NaN where it is not known.
        value: Score - floor.
        low: The least of the lower ends over all constant answers (an intersection-union test needs no correction).
        high: The least of the upper ends over the C contenders at 1 - .025/C (Bonferroni).
        best: Which constant answer scores most; -1 where none is known.
    """

    floor: float
    value: float
    low: float
    high: float
    best: int = -1


class Spread(NamedTuple):
    """What a score on one set varies by.

    Attributes:
        set: The set.
        by_run: Score of each run, (R,).
        draws: Mean score of the runs on examples drawn with replacement, (B,).
        constants: Scores of the constant answers by the same draws, (B, C), or None where the floor is not known.
        n_clusters: G, of examples that do not vary independently.
        effective: N²/sum_g n_g².
    """

    set: EvaluationSet
    by_run: NDArray[np.float64]
    draws: NDArray[np.float64]
    constants: NDArray[np.float64] | None
    n_clusters: int
    effective: float


def spread_of(
    one: EvaluationSet,
    by_run: NDArray[np.float64],
    draws: NDArray[np.float64],
    constants: NDArray[np.float64] | None,
) -> Spread:
    """The spread of a set: its runs weigh the same in every draw, since their own spread is counted apart."""
    codes = dense_codes(one.codes, one.n_examples)
    return Spread(one, by_run, draws.mean(axis=1), constants, int(codes.max()) + 1, effective_clusters(codes))


def measure_excess(spread: Spread, level: float = 0.95) -> Excess:
    """By how much the score exceeds its floor, with d_c = score - score of constant answer c on the same examples.

    Ends of the mean of d_c are d_c -+ t sqrt(v + s²/R): v the variance over draws of whole clusters of examples, s²
    that of runs' scores, t Student's quantile with Satterthwaite's degrees of freedom. Of fractions they are never
    narrower than Newcombe's for paired shares at the effective number of examples, and cut at -1 and 1.

    Source: Berger 1982 (intersection-union tests); Satterthwaite 1946; Newcombe 1998 (paired shares).
    """
    one, score = spread.set, float(spread.by_run.mean())
    if one.constants is None or spread.constants is None or math.isnan(score):
        return Excess(math.nan, math.nan, math.nan, math.nan)
    means = one.constants.mean(axis=1)
    best = int(means.argmax())
    near = _contenders(spread, means, best)
    floor = float(means[near].mean())
    if spread.n_clusters < 2:
        return Excess(floor, score - floor, -math.inf, math.inf, best)
    lows = [_difference(spread, at, level).low for at in range(len(means))]
    highs = [_difference(spread, at, 1 - (1 - level) / len(near)).high for at in near]
    most = math.inf if one.metric in (*CORRELATIONS, "mean") else 1.0
    return Excess(floor, score - floor, max(min(lows), -most), min(*highs, most), best)


def measure_loss(
    own: Spread,
    other: Spread,
    gap: Interval,
    *,
    level: float = 0.95,
    together: int = 1,
    above_floors: bool = False,
) -> tuple[float, Interval]:
    """The share of (own score - its floor) that is lost on another set: (own - other)/(own - floor of own).

    With A the numerator and E the denominator, the ends are the L at which |A - L E| = t sqrt(Var(A - L E)) (Fieller's
    theorem): variances over clusters of examples of each set by itself, and over runs, which both sets share. No end is
    narrower than the gap's over E.

    Args:
        own: Of the model's own distribution.
        other: Of another.
        gap: The interval of own - other.
        level: Of the interval.
        together: Losses of which the worst decides: the lower end holds for all at once (Bonferroni).
        above_floors: Each score counts above its own floor, [(own - floor) - (other - its floor)]/(own - floor), so
            that labels that are easier to guess there make up for nothing.

    Returns:
        The loss and its interval; NaN where the own score is not surely above its floor.

    Source: Fieller 1954, "Some problems in interval estimation"; Satterthwaite 1946.
    """
    excess = measure_excess(own, level)
    if not excess.low > 0:
        return math.nan, _UNDEFINED
    floors = 0.0
    base = own.draws - _floor_draws(own, excess)
    moved = own.draws - other.draws
    if above_floors:
        there = measure_excess(other, level)
        if math.isnan(there.floor):
            return math.nan, _UNDEFINED
        floors = there.floor - excess.floor
        moved = base - (other.draws - _floor_draws(other, there))
    runs = own.by_run - other.by_run
    a, e = float(runs.mean()) + floors, excess.value
    # The bootstrap's variance of a mean is (G-1)/G of the unbiased one.
    few = min(own.n_clusters, other.n_clusters)
    both = np.stack([moved, base])[:, np.isfinite(moved + base)]
    if both.shape[1] < 2 or few < 2:
        return a / e, _UNDEFINED
    examples = np.cov(both) * few / (few - 1)
    over_runs = _covariance_of_runs(runs, own.by_run)
    covariance = examples + over_runs
    freedom = _freedom(float(examples[0, 0]), few, float(over_runs[0, 0]), len(runs))
    low = _fieller(a, e, covariance, t_quantile(freedom, 1 - (1 - level) / together))[0]
    high = _fieller(a, e, covariance, t_quantile(freedom, level))[1]
    if math.isnan(low + high):
        return a / e, _UNDEFINED
    return a / e, Interval(min(low, (gap.low + floors) / e), max(high, (gap.high + floors) / e), level, "Fieller")


def _difference(spread: Spread, at: int, level: float) -> Interval:
    """Interval of the score less that of one constant answer."""
    assert spread.constants is not None
    assert spread.set.constants is not None
    n_clusters, n_runs = spread.n_clusters, len(spread.by_run)
    score, constant = float(spread.by_run.mean()), spread.set.constants[at]
    value = score - float(constant.mean())
    examples = _variance(spread.draws - spread.constants[:, at]) * n_clusters / (n_clusters - 1)
    over_runs = float(spread.by_run.var(ddof=1)) / n_runs if n_runs > 1 else 0.0
    half = t_quantile(_freedom(examples, n_clusters, over_runs, n_runs), level) * math.sqrt(examples + over_runs)
    low, high = value - half, value + half
    if spread.set.metric in (*CORRELATIONS, "mean"):
        return Interval(low, high, level)
    right = spread.set.values.mean(axis=0)
    widest = PairedShares.of(right, constant).interval(examples, spread.effective, level)
    return Interval(min(low, widest.low), max(high, widest.high), level)


def _variance(draws: NDArray[np.float64]) -> float:
    """Variance of the draws that are defined; NaN where there are fewer than two."""
    known = draws[np.isfinite(draws)]
    return float(known.var(ddof=1)) if known.size > 1 else math.nan


def _contenders(spread: Spread, means: NDArray[np.float64], best: int) -> list[int]:
    """Constant answers whose mean score is not surely (one-sided 97.5 %) below the best one's."""
    assert spread.constants is not None
    below = spread.constants - spread.constants[:, [best]]
    reach = t_quantile(math.inf, 0.95) * np.sqrt([_variance(each) for each in below.T])
    return [at for at in range(len(means)) if at == best or means[at] - means[best] + reach[at] >= 0]


def _floor_draws(spread: Spread, excess: Excess) -> NDArray[np.float64]:
    """The floor by draws of examples, (B,)."""
    assert spread.constants is not None
    assert spread.set.constants is not None
    means = spread.set.constants.mean(axis=1)
    return np.asarray(spread.constants[:, _contenders(spread, means, excess.best)].mean(axis=1))


def _covariance_of_runs(moved: NDArray[np.float64], own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariance of the means over runs of two things measured on the same runs, (2, 2)."""
    if len(moved) < 2:
        return np.zeros((2, 2))
    return np.asarray(np.cov(np.stack([moved, own])) / len(moved))


def _freedom(examples: float, n_clusters: int, runs: float, n_runs: int) -> float:
    """Degrees of freedom of the variance by examples and, of several runs, by runs."""
    of_runs = [(runs, n_runs - 1.0)] if n_runs > 1 else []
    return degrees_of_freedom([(examples, max(n_clusters - 1.0, 1.0)), *of_runs])


def _fieller(a: float, e: float, covariance: NDArray[np.float64], t: float) -> tuple[float, float]:
    """Ends of a/e; NaN where e is not surely different from 0, so that the set of ratios has no ends."""
    square = e * e - t * t * float(covariance[1, 1])
    if not square > 0:
        return math.nan, math.nan
    middle = a * e - t * t * float(covariance[0, 1])
    rest = a * a - t * t * float(covariance[0, 0])
    root = math.sqrt(max(middle * middle - square * rest, 0.0))
    return (middle - root) / square, (middle + root) / square
