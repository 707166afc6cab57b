"""How much of a score's variance over runs comes from single examples, and how much from their moving together.

Which group of examples makes the score swing.

The spread of a score against that of a reference set, sizes allowed for, and how certain that is.

Does a model know anything? Its score against the best that always giving one answer could reach.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.results import Result
from goldassay.questions.instability.measures.scores import (
    as_scores,
    check_ddof,
    example_variances,
    group_codes,
)
from goldassay.stats.clusters import cluster_sums
from goldassay.stats.intervals import Interval, few_runs_caveat, t_quantile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class VarianceDecomposition(Result):
    """Variance of the mean score over runs, taken apart.

    Variances are in squared units of the score (fraction²); times 10,000 they are in squared accuracy points.

    Attributes:
        total: var_r(mean score).
        independent: What it would be if examples moved independently, sum_i var_r(C_i)/N².
        covariance: total - independent, with its sign.
        signed_root_covariance: sign(covariance) sqrt|covariance|, on the scale of a standard deviation.
        design_effect: total/independent; NaN where nothing varies.
        effective_size: N/design_effect: how many independent examples would give this variance.
        within: Covariance between examples of the same group; None without groups.
        between: Covariance between groups; None without groups.
        n_runs: R.
        n_examples: N.
        n_groups: G; None without groups.
        ddof: Of all variances alike.
        caveats: What to bear in mind, in sentences; `resample_scores` gives the intervals.
        skipped: Reason -> count of what has no value.
    """

    total: float
    independent: float
    covariance: float
    signed_root_covariance: float
    design_effect: float
    effective_size: float
    within: float | None
    between: float | None
    n_runs: int
    n_examples: int
    n_groups: int | None
    ddof: int
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)


def decompose_variance(scores: ArrayLike, groups: ArrayLike | None = None, ddof: int = 1) -> VarianceDecomposition:
    """Take the variance of the mean score over runs apart into single examples and their covariance.

        total       = var_r(mean_i C[r,i])
        independent = sum_i var_r(C[r,i]) / N²
        covariance  = total - independent  (= 2/N² sum over i < j of cov_r(C_i, C_j))

    With groups of sizes N_g and group means A[r,g]:

        within  = sum_g (N_g/N)² var_r(A[.,g]) - independent,    between = covariance - within

    One `ddof` is used throughout; with different ones the parts do not add up. The cost is O(R N).

    Args:
        scores: (R, N), correctness or any per-example score.
        groups: (N,) group names, such as a template or a premise.
        ddof: 1 for the unbiased estimate, 0 for the variance of just these runs.

    Raises:
        InputError: There is one run (with ddof 1), there are no examples, scores are not finite, or groups do not fit.

    Source: Zhou, Nie, Tan and Bansal 2020, "The Curse of Performance Instability in Analysis Datasets", section 5;
    the design effect is Kish's (1965).
    """
    values = as_scores(scores)
    n_runs, n_examples = values.shape
    check_ddof(ddof, n_runs)
    codes = None
    n_groups = None
    if groups is not None:
        names, codes = group_codes(groups, n_examples)
        n_groups = len(names)
    total, independent, within = parts_of_variance(values, codes, ddof)
    covariance = total - independent
    design_effect, effective_size, skipped = _design(total, independent, n_examples)
    return VarianceDecomposition(
        total=total,
        independent=independent,
        covariance=covariance,
        signed_root_covariance=math.copysign(math.sqrt(abs(covariance)), covariance),
        design_effect=design_effect,
        effective_size=effective_size,
        within=within,
        between=None if within is None else covariance - within,
        n_runs=n_runs,
        n_examples=n_examples,
        n_groups=n_groups,
        ddof=ddof,
        caveats=few_runs_caveat(n_runs),
        skipped=skipped,
    )


class Parts(NamedTuple):
    """Total variance, its independent part, and, with groups, the covariance within them."""

    total: float
    independent: float
    within: float | None


def parts_of_variance(values: NDArray[np.float64], codes: NDArray[np.int64] | None, ddof: int) -> Parts:
    """The sums behind `decompose_variance`, for scores (R, N) and group codes (N,) that were checked."""
    n_examples = values.shape[1]
    means = values.sum(axis=1) / n_examples
    total = float(example_variances(means[:, np.newaxis], ddof)[0])
    independent = float(example_variances(values, ddof).sum()) / n_examples**2
    if n_examples == 1:
        # The two are the same quantity; rounding must not make a covariance of it.
        total = independent
    if codes is None:
        return Parts(total, independent, None)
    shares = cluster_sums(values, codes, int(codes.max()) + 1) / n_examples
    return Parts(total, independent, float(shares.var(axis=0, ddof=ddof).sum()) - independent)


def _design(total: float, independent: float, n_examples: int) -> tuple[float, float, dict[str, int]]:
    if independent == 0:
        reason = "all runs score every example the same, so the design effect is undefined"
        warnings.warn(reason, UndefinedMeasureWarning, stacklevel=3)
        return math.nan, math.nan, {reason: 1}
    effect = total / independent
    return effect, (n_examples / effect if effect > 0 else math.inf), {}


@dataclass(frozen=True)
class GroupDecomposition(Result):
    """Each group's part in the variance of the score.

    Attributes:
        groups: Names, ascending, (G,).
        sizes: Examples in each, (G,).
        means: Mean score of each over runs and examples, (G,).
        sds: Standard deviation over runs of each group's mean score, (G,).
        shares_of_variance: Each group's share of the total variance, adding to 1; negative where a group runs
            against the whole. NaN where the total is 0.
        total: Variance of the mean score over all examples.
        within: Covariance between examples of the same group.
        between: Covariance between groups.
        n_runs: R.
        n_examples: N.
        n_groups: G.
        ddof: Of all variances.
        caveats: What to bear in mind, in sentences; `resample_groups` gives the intervals.
        skipped: Reason -> count of what has no value.
    """

    groups: tuple[str, ...]
    sizes: tuple[int, ...]
    means: tuple[float, ...]
    sds: tuple[float, ...]
    shares_of_variance: tuple[float, ...]
    total: float
    within: float
    between: float
    n_runs: int
    n_examples: int
    n_groups: int
    ddof: int
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a group: group, n_examples, mean, sd, share_of_variance."""
        return pl.DataFrame(
            {
                "group": self.groups,
                "n_examples": self.sizes,
                "mean": self.means,
                "sd": self.sds,
                "share_of_variance": self.shares_of_variance,
            }
        )


def decompose_by_group(scores: ArrayLike, groups: ArrayLike, ddof: int = 1) -> GroupDecomposition:
    """Share of each group in the variance of the mean score.

    share_g = cov_r(N_g/N A[.,g], acc)/var_r(acc), with A[r,g] the mean score of group g in run r. The shares add
    to 1, since the groups' parts N_g/N A[.,g] add to acc.

    Args:
        scores: (R, N).
        groups: (N,) group names.
        ddof: 1 or 0, for all variances alike; shares do not depend on it.

    Raises:
        InputError: There is one run (with ddof 1), there are no examples, scores are not finite, or groups do not fit.

    Source: the within and between parts as in Zhou et al. 2020, section 5; the shares are the covariance
    decomposition of a sum.
    """
    values = as_scores(scores)
    n_runs, n_examples = values.shape
    names, codes = group_codes(groups, n_examples)
    with warnings.catch_warnings():
        # Constant runs are said below, in terms of shares.
        warnings.simplefilter("ignore", UndefinedMeasureWarning)
        whole = decompose_variance(values, groups, ddof)
    sizes = np.bincount(codes, minlength=len(names))
    parts = cluster_sums(values, codes, len(names)) / n_examples
    scores_of_groups = parts * (n_examples / sizes)
    shares, skipped = _shares(parts, len(names))
    return GroupDecomposition(
        groups=tuple(names),
        sizes=tuple(sizes.tolist()),
        means=tuple(scores_of_groups.mean(axis=0).tolist()),
        sds=tuple(scores_of_groups.std(axis=0, ddof=ddof).tolist()),
        shares_of_variance=tuple(shares.tolist()),
        total=whole.total,
        within=math.nan if whole.within is None else whole.within,
        between=math.nan if whole.between is None else whole.between,
        n_runs=n_runs,
        n_examples=n_examples,
        n_groups=len(names),
        ddof=ddof,
        caveats=few_runs_caveat(n_runs),
        skipped=skipped,
    )


def _shares(parts: Any, n_groups: int) -> tuple[Any, dict[str, int]]:
    centered = parts - parts.mean(axis=0)
    whole = centered.sum(axis=1)
    square = float(whole @ whole)
    if square <= (1e-14 * float(np.abs(parts).sum())) ** 2:
        reason = "the score is the same in all runs, so groups have no share in its variance"
        warnings.warn(reason, UndefinedMeasureWarning, stacklevel=3)
        return np.full(n_groups, math.nan), {reason: n_groups}
    return centered.T @ whole / square, {}


def normalized_deviation(
    sd: float,
    size: int,
    reference_sd: float,
    reference_size: int,
    convention: Literal["recommended", "paper"] = "recommended",
) -> float:
    """Standard deviation relative to a reference set's, as if both sets had the same size.

    (sd/reference_sd) sqrt(size/reference_size); 1 for the reference itself. Both deviations must use the same
    ddof; the ratio is then free of it. The square root is right only if predictions are independent across
    examples, which they seldom are: the design effect of `decompose_variance` is the better comparison.

    Args:
        sd: Standard deviation of the score over runs, a fraction.
        size: Number of examples.
        reference_sd: Of the reference set, such as the standard dev set.
        reference_size: Of the reference set.
        convention: "recommended" divides as is; "paper" first rounds both deviations to 2 decimals of a
            point, which reproduces Table 1 if they are given with ddof 0.

    Returns:
        The ratio, or NaN with a warning where the reference deviation is 0 (after rounding, for "paper").

    Raises:
        InputError: A deviation is negative or not finite, a size is below 1, or the convention does not exist.

    Source: Zhou, Nie, Tan and Bansal 2020, section 4 and Table 1.
    """
    if convention not in ("recommended", "paper"):
        raise InputError(f"there is no convention {convention!r}", mend="choose 'recommended' or 'paper'")
    if not all(math.isfinite(value) and value >= 0 for value in (sd, reference_sd)):
        raise InputError("a standard deviation is negative or not a finite number", mend="give fractions, at least 0")
    if size < 1 or reference_size < 1:
        raise InputError(f"sizes are {size} and {reference_size}", mend="each must be at least 1")
    if convention == "paper":
        sd, reference_sd = round(100 * sd, 2), round(100 * reference_sd, 2)
    if reference_sd == 0:
        warnings.warn(
            "the reference score is the same in all runs, so nothing can be measured against its deviation",
            UndefinedMeasureWarning,
            stacklevel=2,
        )
        return math.nan
    return sd / reference_sd * math.sqrt(size / reference_size)


def normalized_deviation_interval(
    scores: ArrayLike, reference_scores: ArrayLike, *, matched: bool = True, level: float = 0.95
) -> Interval:
    """Interval over runs of the normalized deviation (`recommended`): what other seeds would have given.

    With F the ratio of the variances over runs, and r the correlation of the runs' scores on the two sets: matched,
    F (K ± sqrt(K² - 1)) with K = 1 + 2 (1 - r²) t²/(R-2), t the quantile with R-2 degrees of freedom; else F over the
    quantiles of the F distribution. Both are exact for normal scores. The root of the bounds is scaled by sqrt(N/N_0).

    Args:
        scores: (R, N).
        reference_scores: (R, N_0), or (R_0, N_0) where runs are not matched.
        matched: Whether the r-th runs of both are one model on two sets, as is usual.
        level: Of the interval.

    Returns:
        The interval; NaN where a deviation is 0, or for two matched runs, whose correlation is always 1.

    Raises:
        InputError: There are fewer than 2 runs, scores are not finite, or matched runs differ in number.

    Source: Pitman 1939 and Morgan 1939, on the variances of correlated normal variables.
    """
    values, reference = as_scores(scores, min_runs=2), as_scores(reference_scores, min_runs=2)
    if matched and len(values) != len(reference):
        raise InputError(f"{len(values)} runs cannot be matched with {len(reference)}", mend="set matched=False")
    one, other = values.mean(axis=1), reference.mean(axis=1)
    size = values.shape[1] / reference.shape[1]
    method = "Pitman-Morgan" if matched else "F"
    variances = float(one.var(ddof=1)), float(other.var(ddof=1))
    if min(variances) == 0 or (matched and len(values) == 2):
        return Interval(math.nan, math.nan, level, method)
    ratio = variances[0] / variances[1]
    low, high = _matched_factors(one, other, level) if matched else _factors(len(values), len(reference), level)
    return Interval(math.sqrt(ratio * low * size), math.sqrt(ratio * high * size), level, method)


def _matched_factors(one: np.ndarray, other: np.ndarray, level: float) -> tuple[float, float]:

    df = len(one) - 2
    rest = max(0.0, 1 - float(np.corrcoef(one, other)[0, 1]) ** 2)
    middle = 1 + 2 * rest * t_quantile(df, level) ** 2 / df
    # The two bounds are each other's inverse, which the difference of large numbers would lose.
    high = middle + math.sqrt(middle**2 - 1)
    return 1 / high, high


def _factors(n_runs: int, n_reference: int, level: float) -> tuple[float, float]:
    from scipy.special import fdtri

    upper, lower = (float(fdtri(n_runs - 1, n_reference - 1, tail)) for tail in ((1 + level) / 2, (1 - level) / 2))
    return 1 / upper, 1 / lower


@dataclass(frozen=True)
class ScoreAboveConstant(Result):
    """A mean score against that of the best constant answer; see `score_above_constant`.

    Attributes:
        score: Mean score over runs and examples.
        constant: Code of the most frequent label; None without labels.
        constant_score: What always answering it scores; 0 without labels.
        low: Lower end (one-sided, (1 + level)/2) of the score above every constant answer.
        n_runs: R.
        n_examples: N.
    """

    score: float
    constant: int | None
    constant_score: float
    low: float
    n_runs: int
    n_examples: int


def score_above_constant(scores: ArrayLike, gold: ArrayLike | None = None, level: float = 0.95) -> ScoreAboveConstant:
    """By how much the mean score surely exceeds that of every constant answer.

    With d_ik = mean_r C_ri - [y_i = k], the least over the labels k of the lower ends of mean_i d_ik: each is Student's
    t interval with the noise of examples and of runs, as in `compare`. To exceed the best constant is to exceed each,
    so that no correction is needed (intersection-union). Without labels the score is held against 0.

    Args:
        scores: Correctness (R, N), or with `gold` None any score that is 0 at worst.
        gold: Labels as codes (N,), where the scores are correctness.
        level: Of the two-sided intervals, of which the lower ends are taken.

    Raises:
        InputError: There are fewer than 2 examples, scores are not finite, or labels do not fit.

    Source: Berger 1982, "Multiparameter hypothesis testing and acceptance sampling", for the intersection-union test.
    """
    from scipy.special import stdtrit

    values = as_scores(scores)
    n_runs, n_examples = values.shape
    if n_examples < 2:
        raise InputError("one example has no spread over examples", mend="give at least 2")
    means = values.mean(axis=0)
    shares = covariances = np.zeros(1)
    if gold is not None:
        codes = np.asarray(gold)
        if codes.shape != (n_examples,):
            raise InputError(
                f"gold has shape {codes.shape}", mend=f"give one label for each of the {n_examples} examples"
            )
        counts = np.bincount(codes)
        shares = counts / n_examples
        covariances = np.bincount(codes, weights=means - means.mean()) / n_examples
    variances = (means.var() + shares * (1 - shares) - 2 * covariances) / (n_examples - 1)
    of_runs, overlap = 0.0, 0.0
    if n_runs > 1:
        parts = parts_of_variance(values, None, ddof=1)
        of_runs, overlap = parts.total / n_runs, parts.independent / n_runs
    # As in `compare`: the noise of examples without that of runs, and degrees of freedom that few runs do not raise.
    rest = np.maximum(variances - overlap, 0.0)
    weight = max(of_runs, overlap)
    squares = rest**2 / (n_examples - 1) + (weight**2 / (n_runs - 1) if n_runs > 1 else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(squares > 0, (rest + weight) ** 2 / squares, 1.0)
    errors = np.sqrt(rest + (of_runs or overlap))
    lows = float(means.mean()) - shares - stdtrit(df, (1 + level) / 2) * errors
    best = int(shares.argmax())
    return ScoreAboveConstant(
        score=float(means.mean()),
        constant=None if gold is None else best,
        constant_score=float(shares[best]),
        low=float(lows.min()),
        n_runs=n_runs,
        n_examples=n_examples,
    )


def examples_to_exceed(found: ScoreAboveConstant) -> int | None:
    """How many examples would show that the score exceeds the constant, if both stay as they are; None if it does not.

    The width of the interval falls with the square root of their number.
    """
    margin = found.score - found.constant_score
    if margin <= 0:
        return None
    if found.low > 0:
        return found.n_examples
    return math.ceil(found.n_examples * ((margin - found.low) / margin) ** 2)
