"""Do two models score the same, as far as it matters?

Which of several models can be told apart.

Is model A better than model B over several datasets together?
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.questions.instability.measures.comparison import (
    Comparison,
    compare,
    drawn_differences,
    drawn_runs,
    largest_difference,
    noise_of_runs,
    sides_of,
)
from goldassay.questions.instability.measures.scores import as_scores, group_codes
from goldassay.stats.bootstrap import percentile_interval
from goldassay.stats.clusters import weigh
from goldassay.stats.intervals import Interval, PairedCounts, degrees_of_freedom, t_interval
from goldassay.stats.significance import holm, t_p_value, t_tail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray


EQUIVALENT, WITHIN, BEYOND, OPEN = "equivalent", "within the margin", "beyond the margin", "open"


@dataclass(frozen=True)
class Equivalence(Result):
    """Whether a difference lies within a margin.

    Attributes:
        margin: The largest difference that does not matter.
        p_value: The larger one of the two one-sided tests; at most the level where the difference lies within.
        interval: Of which each end is a one-sided test: of 90 % at a level of 5 %.
        word: "equivalent" where the difference lies within the margin and is not known to be other than 0, "within the
            margin" where it is, "beyond the margin" where it is and lies outside, else "open".
    """

    margin: float
    p_value: float
    interval: Interval
    word: str

    @property
    def outside(self) -> bool:
        """Whether the interval lies wholly outside the margin."""
        return self.interval.low > self.margin or self.interval.high < -self.margin


def equivalent_within(
    difference: float,
    variance: float,
    degrees_of_freedom: float,
    margin: float,
    level: float = 0.05,
    apart: bool | None = None,
    counts: PairedCounts | None = None,
) -> Equivalence:
    """Two one-sided t tests of a difference against -margin and +margin.

        p = max(P(T > (difference + margin)/s), P(T < (difference - margin)/s)),    s² = variance

    The difference lies within the margin where p is at most the level, which is where the interval of 1 - 2 level
    does. It is other than zero where the two-sided test says so at the level. Both can be true: a difference
    that is there and does not matter. It lies beyond the margin where the interval does and it is other than zero.
    Of counts both tests and the interval are Tango's.

    Args:
        difference: Of the mean scores, A minus B.
        variance: Of the difference, as of `compare`: `var_total`.
        degrees_of_freedom: Of the variance.
        margin: Above 0, in the unit of the scores.
        level: Of each of the two tests.
        apart: Whether the difference is taken for other than zero, where a correction for several of them decides; by
            default the two-sided test does.
        counts: Of one run each that is right or wrong, in the place of the variance: `Comparison.counts`.

    Raises:
        InputError: The margin is not above 0, or the level is not between 0 and one half.

    Source: Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power approach".
    """
    if not (margin > 0 and math.isfinite(margin)):
        raise InputError(f"the margin is {margin}", mend="give a number above 0")
    if not 0 < level < 0.5:
        raise InputError(f"the level is {level}", mend="it must lie between 0 and 0.5")
    if counts is None:
        p = max(
            _one_sided(difference + margin, variance, degrees_of_freedom),
            _one_sided(margin - difference, variance, degrees_of_freedom),
        )
        p_zero = t_p_value(difference, variance, degrees_of_freedom)
        interval = t_interval(difference, variance, degrees_of_freedom, 1 - 2 * level, "Student t")
    else:
        df = counts.degrees_of_freedom
        p = max(t_tail(counts.score(-margin), df), t_tail(-counts.score(margin), df)) if margin < 1 else 0.0
        p_zero, interval = 2 * t_tail(abs(counts.score(0.0)), df), counts.interval(1 - 2 * level)
    if apart is None:
        apart = p_zero <= level
    interval = replace(interval, method="two one-sided tests")
    found = Equivalence(margin, p, interval, OPEN)
    if p <= level:
        return replace(found, word=WITHIN if apart else EQUIVALENT)
    return replace(found, word=BEYOND) if apart and found.outside else found


def _one_sided(beyond: float, variance: float, df: float) -> float:
    """The p-value that the mean lies above 0, where it was found at `beyond`."""
    if variance <= 0:
        return 0.0 if beyond > 0 else 1.0
    half = t_p_value(abs(beyond), variance, df) / 2
    return half if beyond > 0 else 1 - half


@dataclass(frozen=True)
class Comparisons(Result):
    """All pairs of several models compared, the better one first.

    Attributes:
        models: Names, best mean score first.
        means: Mean scores, in that order.
        pairs: Names (better, worse) of each pair.
        comparisons: For each pair.
        adjusted_p: For each pair, Holm's correction of `p_value` over all pairs.
        alpha: At or below it a pair differs: the models, or of models with one run these runs alone.
        groups: Sets of models of which no two differ, as large as can be, best first. A model may stand in several:
            A = B and B = C do not make A = C.
        n_examples: N.
        skipped: Reason -> count of what has no value.
    """

    models: tuple[str, ...]
    means: tuple[float, ...]
    pairs: tuple[tuple[str, str], ...]
    comparisons: tuple[Comparison, ...]
    adjusted_p: tuple[float, ...]
    alpha: float
    groups: tuple[tuple[str, ...], ...]
    n_examples: int
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a pair: better, worse, difference, low, high, p_value, adjusted_p, differ, distinguishable.

        `differ` says that the runs differ on these and other examples; `distinguishable` that the models do, which
        takes several runs of both.
        """
        rows = [
            {
                "better": better,
                "worse": worse,
                "difference": found.difference,
                "low": found.interval.low,
                "high": found.interval.high,
                "p_value": found.p_value,
                "adjusted_p": p,
                "differ": p <= self.alpha,
                "distinguishable": found.of_models and p <= self.alpha,
            }
            for (better, worse), found, p in zip(self.pairs, self.comparisons, self.adjusted_p, strict=True)
        ]
        return pl.DataFrame(rows)


def compare_all(
    scores: Mapping[str, ArrayLike],
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    alpha: float = 0.05,
    **settings: Any,
) -> Comparisons:
    """Compare each two of several models, with Holm's correction for the number of pairs.

    Args:
        scores: {name: (R, N)}, on the same examples in the same order.
        clusters: (N,) names of what examples share.
        weights: (N,) how much each example counts; None where all count alike.
        alpha: Chance of telling apart any two models that do not differ.
        **settings: Of `compare`: matched, method, level, seed, n_draws.

    Raises:
        InputError: There are fewer than 2 models, alpha is not in (0, 1), or as for `compare`.

    Source: Holm 1979.
    """
    if len(scores) < 2:
        raise InputError(f"{len(scores)} model was given, and 2 are needed to compare")
    if not 0 < alpha < 1:
        raise InputError(f"alpha is {alpha}", mend="it must lie between 0 and 1")
    arrays = {name: as_scores(values) for name, values in scores.items()}
    means = {name: float(weigh(values, weights).mean()) for name, values in arrays.items()}
    models = sorted(arrays, key=lambda name: -means[name])
    pairs = tuple(combinations(models, 2))
    found = tuple(compare(arrays[one], arrays[other], clusters, weights=weights, **settings) for one, other in pairs)
    adjusted = holm([comparison.p_value for comparison in found])
    apart = {frozenset(pair) for pair, p in zip(pairs, adjusted, strict=True) if p <= alpha}
    return Comparisons(
        models=tuple(models),
        means=tuple(means[name] for name in models),
        pairs=pairs,
        comparisons=found,
        adjusted_p=tuple(float(p) for p in np.asarray(adjusted)),
        alpha=alpha,
        groups=largest_groups(models, apart),
        n_examples=found[0].n_examples,
    )


def largest_groups(models: Sequence[str], apart: set[frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    """Largest sets of models without two that are told apart, by growing them model by model."""
    groups: set[frozenset[str]] = set()
    for model in models:
        like = {other for other in models if frozenset((model, other)) not in apart and other != model}
        grown = {frozenset(group & like) | {model} for group in groups}
        groups |= grown | {frozenset((model,))}
        groups = {group for group in groups if not any(group < other for other in groups)}
    place = {model: position for position, model in enumerate(models)}
    ordered = sorted(sorted(place[model] for model in group) for group in groups)
    return tuple(tuple(models[position] for position in group) for group in ordered)


_DRAWS = 2000


@dataclass(frozen=True)
class TotalComparison(Result):
    """Difference of two models' weighted mean scores over several datasets, and the noise in it.

    Attributes:
        difference: Of A minus B.
        interval: Of the difference, over runs and examples (examples alone where a model has one run on a dataset).
        example_variance: By which examples of the same datasets were drawn, without the noise of single runs.
        var_total: With the variance of runs.
        degrees_of_freedom: Of var_total.
        p_value: Two-sided, from var_total and Student's t.
        mean_a: Weighted mean score of A.
        mean_b: Of B.
        n_datasets: D.
        n_examples: Of all datasets.
        joint: Whether a run answered all datasets, so that its luck is the same on all of them.
        of_models: Whether the noise of runs is known; else the interval is about these runs.
    """

    difference: float
    interval: Interval
    example_variance: float
    var_total: float
    degrees_of_freedom: float
    p_value: float
    mean_a: float
    mean_b: float
    n_datasets: int
    n_examples: int
    joint: bool
    of_models: bool


def compare_totals(
    scores: Sequence[tuple[ArrayLike, ArrayLike]],
    weights: ArrayLike,
    clusters: Sequence[ArrayLike | None] | None = None,
    *,
    joint: bool = False,
    matched: bool = False,
    method: Literal["normal", "bootstrap"] = "normal",
    level: float = 0.95,
    seed: int = 0,
    compared: Sequence[Comparison] | None = None,
) -> TotalComparison:
    """Compare two models on the weighted mean of their scores on several datasets.

    With weights w_k that sum to 1, the differences d_k and variances of `compare` on dataset k, and R runs of a model,
    each of which answered all datasets (`joint`):

        difference = sum_k w_k d_k
        v          = sum_k w_k² example_variance_k
        var_runs   = var_r(sum_k w_k acc_A,k,r)/R_A + var_r(sum_k w_k acc_B,k,r)/R_B
        var_total  = v + var_runs

    Of a single dataset interval and p are those of `compare`. Where runs of different datasets have nothing to do with
    each other, var_runs is the sum of w_k² var_runs_k. The datasets are those there are, and not drawn from others: the
    interval says nothing about other datasets. Equal weights give the macro mean; weights by numbers of examples the
    micro mean, which is how the lm-evaluation-harness adds up groups unless `weight_by_size` is false. The bootstrap
    draws examples, or clusters, within each dataset, and runs once for all datasets.

    Args:
        scores: (A (R_A, N_k), B (R_B, N_k)) of each dataset, on the same examples in the same order; joint runs in the
            same order on each dataset.
        weights: (D,), not negative; they are divided by their sum.
        clusters: (N_k,) names of what examples share, of each dataset, or None.
        joint: Whether the r-th runs of all datasets are one run.
        matched: Whether run r of A and run r of B share a seed.
        method: "normal" theory, or "bootstrap".
        level: Of the interval.
        seed: Of the bootstrap's draws.
        compared: What `compare` said of each dataset, where that is known.

    Raises:
        InputError: There are no datasets, weights do not fit, joint runs differ in number, or as for `compare`.

    Source: variances of independent strata add up (Cochran 1977, "Sampling Techniques"); Welch 1938 and Satterthwaite
    1946 for the degrees of freedom; weights of groups as in Biderman et al. 2024.
    """
    pairs = [(as_scores(a), as_scores(b)) for a, b in scores]
    w = _shares(weights, len(pairs))
    groups = [None] * len(pairs) if clusters is None else list(clusters)
    found = compared or [
        compare(a, b, own, matched=matched, level=level, n_draws=0) for (a, b), own in zip(pairs, groups, strict=True)
    ]
    joint = joint and len(pairs) > 1
    if joint and any(len({len(pair[side]) for pair in pairs}) > 1 for side in (0, 1)):
        raise InputError("the datasets have different numbers of runs, so that these are not the same runs")
    of_models = all(each.of_models for each in found)
    parts: list[tuple[float, float]] = []
    for share, each in zip(w, found, strict=True):
        own = each.example_variance if of_models else each.var_examples
        parts.append((share**2 * own, (each.n_clusters or each.n_examples) - 1))
    example_variance = math.fsum(variance for variance, _ in parts)
    var_runs = 0.0
    if of_models:
        var_runs, of_runs = _noise(pairs, w, found, joint, matched)
        parts += of_runs
    difference = float(math.fsum(share * each.difference for share, each in zip(w, found, strict=True)))
    var_total, df = example_variance + var_runs, degrees_of_freedom(parts)
    over = "runs and examples" if of_models else "examples"
    p_value = found[0].p_value if len(found) == 1 else t_p_value(difference, var_total, df)
    if len(found) == 1 and method == "normal":
        interval = found[0].interval
    elif method == "normal":
        most = largest_difference(each for pair in pairs for each in pair)
        interval = t_interval(difference, var_total, df, level, f"Student t, over {over}").within(-most, most)
    else:
        interval = _drawn(pairs, w, groups, of_models, joint, matched, level, seed, over)
    return TotalComparison(
        difference=difference,
        interval=interval,
        example_variance=example_variance,
        var_total=var_total,
        degrees_of_freedom=df,
        p_value=p_value,
        mean_a=math.fsum(share * each.mean_a for share, each in zip(w, found, strict=True)),
        mean_b=math.fsum(share * each.mean_b for share, each in zip(w, found, strict=True)),
        n_datasets=len(pairs),
        n_examples=sum(each.n_examples for each in found),
        joint=joint,
        of_models=of_models,
    )


def _shares(weights: ArrayLike, n: int) -> list[float]:
    w = np.asarray(weights, dtype=np.float64)
    if n == 0 or w.shape != (n,) or not np.isfinite(w).all() or (w < 0).any() or w.sum() <= 0:
        raise InputError(f"{w.size} weights for {n} datasets", mend="give one finite weight from 0 up for each")
    shares: list[float] = (w / w.sum()).tolist()
    return shares


def _noise(
    pairs: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    w: Sequence[float],
    found: Sequence[Comparison],
    joint: bool,
    matched: bool,
) -> tuple[float, list[tuple[float, float]]]:
    """Variance of the total by the runs, and its parts with their degrees of freedom, none below what flips give."""
    if not joint:
        scaled: list[tuple[float, float]] = []
        whole = 0.0
        for share, each, (a, b) in zip(w, found, pairs, strict=True):
            # As `compare` takes it: runs that score the same although examples flip are a coincidence.
            variance = each.var_total - each.example_variance
            whole += share**2 * variance
            df = len(a) - 1 if matched else len(a) + len(b) - 2
            scaled.append((share**2 * max(variance, each.overlap), df))
        return whole, scaled
    of_sides = [sides_of(a, b, matched) for a, b in pairs]
    # `compare` gives the overlap of both sides together; it is shared out by the number of runs of each.
    overlap = math.fsum(share**2 * each.overlap for share, each in zip(w, found, strict=True))
    sides = []
    inverse = math.fsum(1 / len(values) for values in of_sides[0])
    for side in range(len(of_sides[0])):
        totals = sum(share * own[side].mean(axis=1) for share, own in zip(w, of_sides, strict=True))
        n = len(of_sides[0][side])
        sides.append((float(np.var(totals, ddof=1)) / n, overlap / n / inverse, n - 1))
    runs = noise_of_runs(sides)
    return runs.variance or overlap, [(variance, float(df)) for variance, df in runs.floored]


def _drawn(
    pairs: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    w: Sequence[float],
    groups: Sequence[ArrayLike | None],
    of_models: bool,
    joint: bool,
    matched: bool,
    level: float,
    seed: int,
    over: str,
) -> Interval:
    rng = np.random.default_rng(seed)
    draws = np.zeros(_DRAWS)
    weights = None
    for share, (a, b), own in zip(w, pairs, groups, strict=True):
        if weights is None or not joint:
            n_a, n_b = (len(a), len(b)) if of_models else (1, 1)
            weights = drawn_runs(n_a, n_b, matched, rng, _DRAWS)
        if not of_models:
            a, b = a.mean(axis=0, keepdims=True), b.mean(axis=0, keepdims=True)
        codes = None if own is None else group_codes(own, a.shape[1])[1]
        draws += share * drawn_differences(a, b, codes, rng, weights)
    return percentile_interval(draws, level, method=f"bootstrap, over {over}")
