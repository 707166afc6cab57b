"""The noise in a difference of two models' mean scores: that of examples, that of runs, and what follows from both.

Tests of a paired difference that assume nothing but its symmetry under "no difference".

Is model A better than model B, given that both runs and examples are samples?
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.questions.instability.measures.scores import as_scores, group_codes
from goldassay.questions.instability.measures.variance import parts_of_variance
from goldassay.stats.bootstrap import percentile_interval, resample_examples, resample_runs
from goldassay.stats.clusters import effective_clusters, variance_of_mean, weigh
from goldassay.stats.intervals import (
    Interval,
    PairedCounts,
    degrees_of_freedom,
    few_runs_caveat,
    pairs_interval,
    t_interval,
)
from goldassay.stats.significance import sign_flip_p, t_p_value, t_tail

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray


class RunNoise(NamedTuple):
    """Variance of the difference by the runs, as measured and as the test takes it.

    Attributes:
        variance: As measured.
        overlap: What flips of single examples alone would give.
        floored: Parts of the variance, none below its overlap, each with its degrees of freedom, to weight these.
    """

    variance: float
    overlap: float
    floored: list[tuple[float, float]]


def noise_of_side(values: NDArray[np.float64], codes: NDArray[np.int64] | None) -> tuple[float, float, int]:
    """Of the mean of several runs (R, N): its variance by the runs, what single examples' flips give, and R - 1."""
    parts = parts_of_variance(values, codes, ddof=1)
    overlap = (parts.independent + (parts.within or 0.0)) / len(values)
    return parts.total / len(values), overlap, len(values) - 1


def noise_of_runs(sides: Sequence[tuple[float, float, int]]) -> RunNoise:
    """The noise of runs in a difference, from that of each side, or of the differences of matched runs."""
    found = list(sides)
    if len({df for *_, df in found}) == 1:
        # Of equal numbers of runs the pooled variance is that of the difference, with the degrees of freedom of both.
        variances, overlaps, dfs = zip(*found, strict=True)
        found = [(sum(variances), sum(overlaps), sum(dfs))]
    return RunNoise(
        sum(variance for variance, *_ in found),
        sum(overlap for _, overlap, _ in found),
        [(max(variance, overlap), df) for variance, overlap, df in found],
    )


def sides_of(a: NDArray[np.float64], b: NDArray[np.float64], matched: bool) -> tuple[NDArray[np.float64], ...]:
    """What varies by itself: the runs of each model, or the differences of runs that belong together."""
    return (a - b,) if matched else (a, b)


def largest_difference(scores: Iterable[NDArray[np.float64]]) -> float:
    """1 where all scores lie in [0, 1], else infinity."""
    return 1.0 if all(each.min() >= 0 and each.max() <= 1 for each in scores) else math.inf


def drawn_runs(
    n_a: int, n_b: int, matched: bool, rng: np.random.Generator, n_draws: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of the runs of either model in each draw, (n_draws, R_A) and (n_draws, R_B); equal ones for one run."""
    if min(n_a, n_b) < 2:
        return np.full((n_draws, n_a), 1 / n_a), np.full((n_draws, n_b), 1 / n_b)
    of_a = resample_runs(n_a, rng, n_draws)
    return of_a, of_a if matched else resample_runs(n_b, rng, n_draws)


def drawn_differences(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    codes: NDArray[np.int64] | None,
    rng: np.random.Generator,
    weights: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Differences of the mean scores of drawn examples, or clusters, by weighted runs, (n_draws,)."""
    means = resample_examples(np.vstack([a, b]), rng, len(weights[0]), codes)
    of_a, of_b = means[:, : len(a)], means[:, len(a) :]
    differences: NDArray[np.float64] = (weights[0] * of_a).sum(axis=1) - (weights[1] * of_b).sum(axis=1)
    return differences


# Means over runs that differ by less than this are equal but for rounding.
_EQUAL = 1e-12
# The tests over examples alone.
SCORE_TEST, SIGN_FLIP = "score test", "sign flip"


@dataclass(frozen=True)
class PairedDifference(Result):
    """Difference of two models' mean scores, and the noise in it, without intervals.

    Attributes:
        difference: Mean score of A minus mean score of B.
        var_examples: Variance of the difference from which examples were drawn.
        var_runs: Variance from which runs were made; NaN where a model has one run.
        overlap: Noise of single examples within a run, which is in both of the above; NaN likewise.
        example_variance: max(0, var_examples - overlap), the variance by the examples without the noise of runs, which
            more runs do not remove; NaN likewise.
        var_total: example_variance + var_runs, or var_examples where a model has one run.
        degrees_of_freedom: Of var_total, by which the quantiles of t allow for few runs and few clusters.
        share_runs: 1 - example_variance/var_total, the share of the noise that more seeds would remove.
        p_value: Two-sided, from var_total and Student's t; for one binary run each that of the score test.
        p_examples: Two-sided, over examples (or clusters) alone: the score test for one binary run each on examples
            that stand for themselves, else by flipping signs.
        test: Which of the two: "score test" or "sign flip".
        probability_better: Share of the pairs of a run of A and a run of B in which A scores higher, ties half.
        mean_a: Mean score of A.
        mean_b: Mean score of B.
        n_runs_a: Runs of A.
        n_runs_b: Runs of B.
        n_examples: N.
        n_higher_a: Examples on which the mean score of A's runs is above that of B's.
        n_higher_b: Examples on which that of B's runs is above that of A's.
        n_clusters: Clusters of examples; None where each example stands for itself.
        matched: Whether runs were matched by seed.
        method: "normal" (normal theory, with Student's t) or "bootstrap", of the interval.
    """

    difference: float
    var_examples: float
    var_runs: float
    overlap: float
    example_variance: float
    var_total: float
    degrees_of_freedom: float
    share_runs: float
    p_value: float
    p_examples: float
    test: str
    probability_better: float
    mean_a: float
    mean_b: float
    n_runs_a: int
    n_runs_b: int
    n_examples: int
    n_higher_a: int
    n_higher_b: int
    n_clusters: int | None
    matched: bool
    method: str

    @property
    def of_models(self) -> bool:
        """Whether the noise of runs is known, so that the interval is about models; else it is about these runs."""
        return not math.isnan(self.var_runs)


@dataclass(frozen=True)
class Comparison(PairedDifference):
    """Difference of two models' mean scores with its intervals.

    Attributes:
        interval: Of the difference, over runs and examples (examples alone where a model has one run).
        probability_interval: Of the chance that another run of A beats another run of B on these examples.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of what has no value.
    """

    interval: Interval
    probability_interval: Interval
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    @property
    def counts(self) -> PairedCounts | None:
        """The examples on which one run of each differs, where these are right or wrong and stand for themselves."""
        return PairedCounts(self.n_higher_a, self.n_higher_b, self.n_examples) if self.test == SCORE_TEST else None

    def to_frame(self) -> pl.DataFrame:
        """One row a source of noise: source, variance, sd."""
        variances = [self.var_examples, self.var_runs, self.overlap, self.var_total]
        return pl.DataFrame(
            {
                "source": ["examples", "runs", "in both", "total"],
                "variance": variances,
                "sd": [math.sqrt(v) if v >= 0 else math.nan for v in variances],
            }
        )


def compare(
    scores_a: ArrayLike,
    scores_b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    matched: bool = False,
    method: Literal["normal", "bootstrap"] = "normal",
    level: float = 0.95,
    seed: int = 0,
    n_draws: int = 9999,
) -> Comparison:
    """Compare two models on the same examples, with runs and examples both as sources of noise.

    With d_i = mean_r A[r,i] - mean_r B[r,i] and its mean d over the N examples:

        var_examples = var_i(d_i)/N, or with G clusters G/(G-1) sum_g (sum_{i in g} (d_i - d))²/N²
        var_runs     = var_r(acc_A)/R_A + var_r(acc_B)/R_B
        overlap      = independent_A/R_A + independent_B/R_B   (`decompose_variance`; with clusters + within)
        v            = max(0, var_examples - overlap)
        var_total    = v + var_runs
        df           = (v + r)² / (v²/(N-1) + r²/(R_A + R_B - 2)),    r = max(var_runs, overlap)

    The interval is d ± t_df sqrt(var_total), of scores in [0, 1] cut at -1 and 1. With G clusters, G-1 stands for N-1.
    The degrees of freedom take the runs' variance as at least what flips of single examples alone would give: where a
    few runs happen to agree, it would else seem to matter little and to be known well. Where all runs score the same
    although examples flip, `overlap` takes the place of var_runs. Where the numbers of runs differ, each model's part
    has its own degrees of freedom (Welch), since pooling them is right only for equal numbers.

    Runs matched by seed (the r-th of A with the r-th of B) enter through their differences. With one run of a
    model its spread over runs is unknown; the interval is then over examples alone, and says so. Of one run each that
    is right or wrong, on examples that stand for themselves, interval and p are Tango's (`PairedCounts`).

    Args:
        scores_a: (R_A, N).
        scores_b: (R_B, N), on the same examples in the same order.
        clusters: (N,) names of what examples share, such as a premise.
        weights: (N,) how much each example counts: means are weighted, and their noise is that of weighted means
            (`weigh`); None where all count alike.
        matched: Whether run r of A and run r of B share a seed.
        method: "normal" theory as above, or "bootstrap": examples (or clusters) drawn with replacement, runs weighted
            as in `goldassay.stats.bootstrap.resample_runs`.
        level: Of the interval.
        seed: Of all draws.
        n_draws: Of the sign-flip test, and, at most 2,000, of the bootstrap.

    Raises:
        InputError: The numbers of examples differ, runs cannot be matched, there is one example or one cluster,
            or scores are not finite.

    Source: two-way variance components; Welch 1938 and Satterthwaite 1946 for the degrees of freedom; the sign-flip
    test is Fisher's (1935), the score test Tango's (1998).
    """
    a, b = as_scores(scores_a), as_scores(scores_b)
    _check(a, b, matched, method, level)
    (n_a, n_examples), n_b = a.shape, b.shape[0]
    names, codes = ([], None) if clusters is None else group_codes(clusters, n_examples)
    if codes is not None and len(names) < 2:
        raise InputError("all examples are in one cluster", mend="give clusters that are smaller")
    most = largest_difference((a, b))
    given = a.mean(axis=0) - b.mean(axis=0)
    counts = _counts(a, b) if codes is None and weights is None else None
    a, b = weigh(a, weights), weigh(b, weights)
    d = a.mean(axis=0) - b.mean(axis=0)
    difference = float(a.mean() - b.mean())
    var_examples = variance_of_mean(d, codes)
    one_run = min(n_a, n_b) < 2
    runs = None if one_run else noise_of_runs([noise_of_side(each, codes) for each in sides_of(a, b, matched)])
    parts = [] if runs is None else runs.floored
    var_runs, overlap = (math.nan, math.nan) if runs is None else (runs.variance, runs.overlap)
    example_variance = math.nan if one_run else max(0.0, var_examples - overlap)
    of_examples = var_examples if one_run else example_variance
    # Equal scores of runs whose examples flip are a coincidence, and no proof that runs do not differ.
    var_total = of_examples if one_run else of_examples + (var_runs or overlap)
    units = len(names) or n_examples
    if weights is not None:
        units = effective_clusters(np.arange(n_examples) if codes is None else codes, weights)
    df = degrees_of_freedom([(of_examples, max(units - 1.0, 1.0)), *parts])
    if counts is None:
        scaled = given if weights is None else given * np.asarray(weights, dtype=np.float64)
        flipped = scaled if codes is None else np.bincount(codes, weights=scaled).astype(np.float64)
        p_value, p_examples = t_p_value(difference, var_total, df), sign_flip_p(flipped, seed=seed, n_draws=n_draws)
    else:
        p_value = p_examples = min(2 * t_tail(abs(counts.score(0.0)), counts.degrees_of_freedom), 1.0)
    better = _probability_better(a.mean(axis=1), b.mean(axis=1))
    over = "examples" if one_run else "runs and examples"
    return Comparison(
        difference=difference,
        interval=_drawn_interval(a, b, codes, matched, level, seed, min(n_draws, 2000), over)
        if method == "bootstrap"
        else t_interval(difference, var_total, df, level, f"Student t, over {over}").within(-most, most)
        if counts is None
        else counts.interval(level),
        var_examples=var_examples,
        var_runs=var_runs,
        overlap=overlap,
        example_variance=example_variance,
        var_total=var_total,
        degrees_of_freedom=df,
        share_runs=1 - example_variance / var_total if var_total > 0 else math.nan,
        p_value=p_value,
        p_examples=p_examples,
        test=SIGN_FLIP if counts is None else SCORE_TEST,
        probability_better=better,
        probability_interval=pairs_interval(better, n_a, n_b, level),
        mean_a=float(a.mean()),
        mean_b=float(b.mean()),
        n_runs_a=n_a,
        n_runs_b=n_b,
        n_examples=n_examples,
        n_higher_a=int((given > _EQUAL).sum()),
        n_higher_b=int((given < -_EQUAL).sum()),
        n_clusters=None if codes is None else len(names),
        matched=matched,
        method=method,
        caveats=_caveats(n_a, n_b, len(names) if codes is not None else None),
        skipped={"one run of a model, so its spread over runs is unknown": 1} if one_run else {},
    )


def _check(a: NDArray[np.float64], b: NDArray[np.float64], matched: bool, method: str, level: float) -> None:
    if a.shape[1] != b.shape[1]:
        raise InputError(
            f"the models were scored on {a.shape[1]} and {b.shape[1]} examples",
            mend="give scores on the same examples in the same order",
        )
    if a.shape[1] < 2:
        raise InputError("one example has no spread over examples", mend="give at least 2")
    if matched and a.shape[0] != b.shape[0]:
        raise InputError(f"{a.shape[0]} runs cannot be matched with {b.shape[0]}", mend="set matched=False")
    if method not in ("normal", "bootstrap"):
        raise InputError(f"there is no method {method!r}", mend="choose 'normal' or 'bootstrap'")
    if not 0 < level < 1:
        raise InputError(f"the level is {level}", mend="it must lie between 0 and 1")


def _counts(a: NDArray[np.float64], b: NDArray[np.float64]) -> PairedCounts | None:
    """The examples on which one run of each differs; None of several runs, or of scores that are not right or wrong."""
    if len(a) > 1 or len(b) > 1 or not all(bool(((values == 0) | (values == 1)).all()) for values in (a, b)):
        return None
    return PairedCounts(int((a > b).sum()), int((b > a).sum()), a.shape[1])


def _drawn_interval(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    codes: NDArray[np.int64] | None,
    matched: bool,
    level: float,
    seed: int,
    n_draws: int,
    over: str,
) -> Interval:
    rng = np.random.default_rng(seed)
    draws = drawn_differences(a, b, codes, rng, drawn_runs(len(a), len(b), matched, rng, n_draws))
    return percentile_interval(draws, level, method=f"bootstrap, over {over}")


def _probability_better(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    higher = (a[:, np.newaxis] > b).mean()
    equal = (a[:, np.newaxis] == b).mean()
    return float(higher + equal / 2)


def _caveats(n_a: int, n_b: int, n_clusters: int | None) -> tuple[str, ...]:
    fewest = min(n_a, n_b)
    caveats = few_runs_caveat(fewest)
    if fewest < 2:
        caveats = (
            "One run of a model: the interval is over examples alone, so that it says whether these runs differ, not "
            "whether one model is better.",
            *few_runs_caveat(max(n_a, n_b)),
        )
    if n_clusters is not None and n_clusters < 30:
        caveats += (f"With {n_clusters} clusters the variance over examples is a rough guess.",)
    return caveats
