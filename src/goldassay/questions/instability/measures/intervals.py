"""Intervals over runs that hold with few of them, in closed form: what other seeds would have given.

A bootstrap of 3 runs has ten different draws and cannot leave the range of the runs. These take the runs' mean scores
for normal, which sums over many examples nearly are, and pay for the few runs by the quantiles of t, chi-square and F.

Intervals of the mean, the spread and its parts, over runs or over examples.

Intervals of the groups' parts in the variance of a score, over runs or over examples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.questions.instability.measures.scores import as_scores, example_variances, group_codes
from goldassay.stats.bootstrap import draw_clusters, percentile_interval
from goldassay.stats.clusters import cluster_sums
from goldassay.stats.intervals import (
    Interval,
    difference_interval,
    few_runs_caveat,
    mean_interval,
    ratio_interval,
    score_sd_interval,
    t_quantile,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def spread_intervals(values: NDArray[np.float64], level: float) -> dict[str, Interval]:
    """Intervals over runs of the mean score, its spread and the parts of its variance (ddof 1).

    mean: Student t. sd and total: chi-square. independent: `independent_interval`. covariance and design effect: the
    difference and the ratio of total and independent, from the intervals of both.

    Args:
        values: (R, N), R at least 2.
        level: Of the intervals.

    Source: Student 1908; for sums of variances Zou and Donner 2008 and Burdick and Graybill 1992.
    """
    n_runs, n_examples = values.shape
    means = values.sum(axis=1) / n_examples
    sd = float(means.std(ddof=1))
    of_sd = score_sd_interval(sd, n_runs, level, fractions=bool(values.min() >= 0 and values.max() <= 1))
    of_total = Interval(of_sd.low**2, of_sd.high**2, level, of_sd.method)
    independent, of_independent = independent_interval(values, level)
    # Of two runs nothing tells how certain their independent part is; beside the spread's it is known well.
    known = of_independent
    if math.isnan(known.low):
        known = Interval(independent, independent, level)
    both = "chi-square and jackknife"
    effect = Interval(math.nan, math.nan, level, both)
    if independent > 0:
        effect = Interval(0.0, 0.0, level, both)
        if sd > 0:
            effect = ratio_interval(sd**2, of_total, independent, known, both)
    return {
        "mean": mean_interval(means, level),
        "sd": of_sd,
        "total": of_total,
        "independent": of_independent,
        "covariance": difference_interval(sd**2, of_total, independent, known, both),
        "design_effect": effect,
    }


def independent_interval(values: NDArray[np.float64], level: float) -> tuple[float, Interval]:
    """Sum of the columns' variances over runs divided by N², and its interval by the jackknife on the log scale.

    s exp(± t se/s), with t of R-1 degrees of freedom and se from the R values that leave out a run each. NaN for two
    runs, of which leaving one out leaves no variance.

    Args:
        values: (R, N), R at least 2.
        level: Of the interval.

    Source: Tukey 1958; Arvesen 1969, "Jackknifing U-statistics", for means over pairs of runs.
    """
    n_runs, n_columns = values.shape
    centered = values - values.mean(axis=0)
    own = np.einsum("rn,rn->r", centered, centered) / n_columns**2
    whole = float(own.sum()) / (n_runs - 1)
    method = "jackknife"
    if n_runs < 3:
        return whole, Interval(math.nan, math.nan, level, method)
    if whole == 0:
        return whole, Interval(0.0, 0.0, level, method)
    # Without run r, the mean of the others lies -c_r/(R-1) off the common one, which takes R/(R-1) of its square.
    without = (own.sum() - own * n_runs / (n_runs - 1)) / (n_runs - 2)
    error = math.sqrt((n_runs - 1) / n_runs * float(np.square(without - without.mean()).sum()))
    reach = t_quantile(n_runs - 1, level) * error / whole
    return whole, Interval(whole * math.exp(-reach), whole * math.exp(reach), level, method)


def sum_of_variances_interval(parts: NDArray[np.float64], level: float) -> tuple[float, Interval]:
    """Sum of the columns' variances over runs, and its interval, for few columns that may covary.

    Chi-square with the degrees of freedom (R-1) tr(S)²/tr(S²) of the columns' covariance matrix S, between R-1 and G
    times that; tr(S)² and tr(S²) are estimated without bias.

    Args:
        parts: (R, G), R at least 2; normal over runs.
        level: Of the interval.

    Source: Satterthwaite 1946; Srivastava 2005, "Some tests concerning the covariance matrix", for tr(S²).
    """
    from scipy.special import chdtri

    n_runs, n_columns = parts.shape
    centered = parts - parts.mean(axis=0)
    products = centered @ centered.T / (n_runs - 1)
    whole = float(np.trace(products))
    method = "chi-square"
    if whole == 0:
        return 0.0, Interval(0.0, 0.0, level, method)
    df = float(n_runs - 1)
    if n_runs > 2:
        squares = (df**2 / ((df - 1) * (df + 2))) * (float(np.square(products).sum()) - whole**2 / df)
        df *= min(n_columns, max(1.0, whole**2 / squares - 2 / df if squares > 0 else math.inf))
    low, high = (whole * df / float(chdtri(df, tail)) for tail in ((1 - level) / 2, (1 + level) / 2))
    return whole, Interval(low, high, level, method)


def slope_intervals(
    parts: NDArray[np.float64], whole: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of cov_r(part, whole)/var_r(whole) for each column: it is the slope of the part on the whole.

    slope ± t se with R-2 degrees of freedom, exact where parts and whole are normal together. NaN for two runs or
    where the whole does not vary.

    Args:
        parts: (R, G), R at least 2.
        whole: (R,).
        level: Of the intervals.

    Returns:
        Lower and upper bounds, (G,).
    """
    n_runs, n_columns = parts.shape
    x = whole - whole.mean()
    square = float(x @ x)
    if n_runs < 3 or square <= (1e-14 * float(np.abs(whole).sum())) ** 2:
        nothing = np.full(n_columns, math.nan)
        return nothing, nothing.copy()
    y = parts - parts.mean(axis=0)
    slopes = x @ y / square
    rest = np.square(y - np.outer(x, slopes)).sum(axis=0) / (n_runs - 2)
    half = t_quantile(n_runs - 2, level) * np.sqrt(rest / square)
    return slopes - half, slopes + half


Over = Literal["runs", "examples"]
FIGURES = ("mean", "sd", "total", "independent", "covariance", "design_effect")
# Cells of the counts that are made at once: as many as a cache holds.
_CELLS = 2**18


@dataclass(frozen=True)
class ResampledIntervals(Result):
    """Intervals of what `summarize_scores` and `decompose_variance` (ddof 1) measure; each names its method.

    Attributes:
        mean: Of the mean score.
        sd: Of its standard deviation over runs.
        total: Of its variance.
        independent: Of the independent part; NaN over two runs.
        covariance: Of the covariance.
        design_effect: Of total/independent; draws in which nothing varies are left out.
        effective_size: Of N over the design effect.
        over: "runs" or "examples".
        n_draws: How many resamples; 0 where the intervals are in closed form.
        n_runs: R.
        n_examples: N.
        n_clusters: Clusters of examples; None where each example stands for itself.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of draws or intervals without a value.
    """

    mean: Interval
    sd: Interval
    total: Interval
    independent: Interval
    covariance: Interval
    design_effect: Interval
    effective_size: Interval
    over: str
    n_draws: int
    n_runs: int
    n_examples: int
    n_clusters: int | None = None
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a figure: figure, low, high, method."""
        names = (*FIGURES, "effective_size")
        intervals = [getattr(self, name) for name in names]
        return pl.DataFrame(
            {
                "figure": names,
                "low": [each.low for each in intervals],
                "high": [each.high for each in intervals],
                "method": [each.method for each in intervals],
            }
        )


def resample_scores(
    scores: ArrayLike,
    over: Over = "runs",
    *,
    clusters: ArrayLike | None = None,
    method: Literal["recommended", "bootstrap"] = "recommended",
    level: float = 0.95,
    n_draws: int = 2000,
    seed: int = 0,
) -> ResampledIntervals:
    """Intervals of the mean, the spread and its parts: over what other runs, or other examples, would have given.

    Over runs the recommended intervals are in closed form (`spread_intervals`), since no bootstrap of a few runs
    covers what it promises: of 95 %, 55 to 75 % with 3 runs. Over examples, or clusters of them, they are percentiles
    of draws with replacement.

    A plain resample misleads for variances, so two things are put right. Drawing R of R runs shrinks a variance
    over runs to (R-1)/R of itself on average: it is scaled back. Drawing an example (or cluster) twice makes two that
    move together exactly, which is not what drawing from all examples would do: such pairs count as one's variance
    each, not as covariance.

    Args:
        scores: (R, N).
        over: "runs": what other seeds would have given on these examples. "examples": what these runs would have
            scored on another sample of examples.
        clusters: (N,) names of what examples share; over examples, whole clusters are then drawn.
        method: "recommended", or "bootstrap" for percentiles over runs as well.
        level: Of the intervals.
        n_draws: How many resamples.
        seed: Of the draws.

    Raises:
        InputError: There are fewer than 2 runs, scores are not finite, clusters do not fit or are just one, or a
            setting is out of range.

    Source: Efron 1979; the two corrections are ours.
    """
    values = _checked(scores, over, level, n_draws)
    if method not in ("recommended", "bootstrap"):
        raise InputError(f"there is no method {method!r}", mend="choose 'recommended' or 'bootstrap'")
    n_runs, n_examples = values.shape
    names, codes = ([], None) if clusters is None else group_codes(clusters, n_examples)
    if len(names) == 1:
        raise InputError("all examples are in one cluster", mend="give clusters that are smaller")
    skipped: dict[str, int] = {}
    closed = over == "runs" and method == "recommended"
    if closed:
        found = spread_intervals(values, level)
        if n_runs == 2:
            skipped["two runs do not tell how certain the independent part of their variance is"] = 1
    else:
        found = _percentiles(values, over, codes, level, n_draws, np.random.default_rng(seed), skipped)
    effect = found["design_effect"]
    return ResampledIntervals(
        # A design effect is a ratio of variances: an end below 0 is what the method gives, not what is possible.
        **{**found, "design_effect": replace(effect, low=float(np.maximum(effect.low, 0.0)))},
        effective_size=_effective_size(effect, n_examples),
        over=over,
        n_draws=0 if closed else n_draws,
        n_runs=n_runs,
        n_examples=n_examples,
        n_clusters=None if codes is None else len(names),
        caveats=_caveats(n_runs, over, closed, len(names) if codes is not None else None),
        skipped=skipped,
    )


@dataclass(frozen=True)
class GroupIntervals(Result):
    """Intervals of what `decompose_by_group` (ddof 1) measures; each names its method.

    Attributes:
        groups: Names, ascending, (G,).
        means: Of each group's mean score, (G,).
        sds: Of its standard deviation over runs, (G,).
        shares_of_variance: Of its share of the total variance, (G,); NaN over two runs.
        within: Of the covariance between examples of the same group; NaN over two runs.
        between: Of the covariance between groups.
        over: "runs" or "examples".
        n_draws: How many resamples; 0 where the intervals are in closed form.
        n_runs: R.
        n_examples: N.
        caveats: What to bear in mind, in sentences.
        skipped: Reason -> count of intervals, or of draws of shares, without a value.
    """

    groups: tuple[str, ...]
    means: tuple[Interval, ...]
    sds: tuple[Interval, ...]
    shares_of_variance: tuple[Interval, ...]
    within: Interval
    between: Interval
    over: str
    n_draws: int
    n_runs: int
    n_examples: int
    caveats: tuple[str, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a group: group, and the low and high of mean, sd and share."""
        columns = {"mean": self.means, "sd": self.sds, "share": self.shares_of_variance}
        bounds = {
            f"{name}_{end}": [getattr(each, end) for each in intervals]
            for name, intervals in columns.items()
            for end in ("low", "high")
        }
        return pl.DataFrame({"group": self.groups, **bounds})


def resample_groups(
    scores: ArrayLike,
    groups: ArrayLike,
    over: Over = "runs",
    *,
    level: float = 0.95,
    n_draws: int = 1000,
    seed: int = 0,
) -> GroupIntervals:
    """Intervals of each group's mean, spread and share of the variance, and of the parts within and between groups.

    Over runs, in closed form: Student t for means, chi-square for deviations. A share is the slope of the group's part
    on the whole score over runs, and has a slope's t interval with R-2 degrees of freedom. Within and between are
    differences of total, groups' own variances (chi-square, Satterthwaite) and independent part (jackknife), from the
    intervals of each.

    Over examples: percentiles of draws with replacement within each group, whose sizes stay; an example drawn twice
    counts as one's variance each, as in `resample_scores`.

    Args:
        scores: (R, N).
        groups: (N,) group names.
        over: "runs": what other seeds would have given on these examples. "examples": what these runs would have
            scored on other examples of the same groups.
        level: Of the intervals.
        n_draws: How many resamples.
        seed: Of the draws.

    Raises:
        InputError: There are fewer than 2 runs, scores are not finite, groups do not fit, or a setting is out of range.

    Source: Student 1908; Satterthwaite 1946; Zou and Donner 2008; Efron 1979.
    """
    values = _checked(scores, over, level, n_draws)
    n_runs, n_examples = values.shape
    names, codes = group_codes(groups, n_examples)
    skipped: dict[str, int] = {}
    if over == "runs":
        found = _over_runs(values, codes, level)
        if n_runs == 2:
            skipped["two runs do not tell how certain a share of their variance is"] = len(names)
    else:
        found = _over_examples(values, codes, level, n_draws, np.random.default_rng(seed), skipped)
    return GroupIntervals(
        tuple(names),
        *found,
        over=over,
        n_draws=0 if over == "runs" else n_draws,
        n_runs=n_runs,
        n_examples=n_examples,
        caveats=few_runs_caveat(n_runs),
        skipped=skipped,
    )


def _checked(scores: ArrayLike, over: str, level: float, n_draws: int) -> NDArray[np.float64]:
    values = as_scores(scores, min_runs=2)
    if over not in ("runs", "examples"):
        raise InputError(f"there is no resampling over {over!r}", mend="choose 'runs' or 'examples'")
    if not 0 < level < 1 or n_draws < 1:
        raise InputError(f"level is {level}, n_draws {n_draws}", mend="give a level in (0, 1) and at least 1 draw")
    return values


def _percentiles(
    values: NDArray[np.float64],
    over: str,
    codes: NDArray[np.int64] | None,
    level: float,
    n_draws: int,
    rng: np.random.Generator,
    skipped: dict[str, int],
) -> dict[str, Interval]:
    mean, total, independent = (
        _draw_runs(values, n_draws, rng) if over == "runs" else _draw_examples(values, n_draws, rng, codes)
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        effect = np.where(independent > 0, total / independent, np.nan)
    if np.isnan(effect).any():
        skipped["nothing varies in the draw, so it has no design effect"] = int(np.isnan(effect).sum())
    drawn = (mean, np.sqrt(np.maximum(total, 0.0)), total, independent, total - independent, effect)
    how = f"bootstrap, over {over if codes is None or over == 'runs' else 'clusters'}"
    return {name: percentile_interval(each, level, method=how) for name, each in zip(FIGURES, drawn, strict=True)}


def _effective_size(effect: Interval, n_examples: int) -> Interval:
    low, high = (math.inf if bound <= 0 else n_examples / bound for bound in (effect.high, effect.low))
    return Interval(low, high, effect.level, effect.method)


def _caveats(n_runs: int, over: str, closed: bool, n_clusters: int | None) -> tuple[str, ...]:
    caveats = few_runs_caveat(n_runs)
    if over == "runs" and not closed and n_runs < 30:
        caveats += (f"A bootstrap of {n_runs} runs covers less than it promises; the recommended method does not.",)
    if over == "examples" and n_clusters is not None and n_clusters < 30:
        caveats += (f"With {n_clusters} clusters the intervals over them are a rough guess.",)
    return caveats


def _draw_runs(
    values: NDArray[np.float64], n_draws: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mean, total and independent variance of each draw, from the products of runs with each other alone."""
    n_runs, n_examples = values.shape
    counts = rng.multinomial(n_runs, np.full(n_runs, 1 / n_runs), n_draws).astype(np.float64)
    centered = values - values.mean(axis=0)
    products = centered @ centered.T / n_examples**2
    means = values.mean(axis=1)
    offsets = means - means.mean()
    scale = n_runs / (n_runs - 1) / (n_runs - 1)
    total = (counts @ offsets**2 - (counts @ offsets) ** 2 / n_runs) * scale
    squares = np.einsum("dr,rs,ds->d", counts, products, counts, optimize=True)
    independent = (counts @ np.diagonal(products) - squares / n_runs) * scale
    # Rounding leaves a trace where all drawn runs are one.
    single = counts.max(axis=1) == n_runs
    return counts @ means / n_runs, np.where(single, 0.0, total), np.where(single, 0.0, independent)


def _draw_examples(
    values: NDArray[np.float64], n_draws: int, rng: np.random.Generator, codes: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The same over examples or clusters: pairs of one with itself are taken out of the covariance."""
    drawn = _drawn_sums(values, n_draws, rng, codes)
    means = drawn.runs / drawn.sizes[:, np.newaxis]
    squares = drawn.sizes**2
    return means.mean(axis=1), means.var(axis=1, ddof=1) - drawn.again / squares, drawn.own / squares


class _Sums(NamedTuple):
    """Sums over the examples of each draw.

    Attributes:
        runs: Scores of each run, (B, R).
        own: Variances over runs of each example, (B,).
        again: What units that are drawn more than once add to the variance of the sum, (B,): their own, once for each
            ordered pair of a unit with itself.
        sizes: Examples, (B,).
    """

    runs: NDArray[np.float64]
    own: NDArray[np.float64]
    again: NDArray[np.float64]
    sizes: NDArray[np.float64]


def _drawn_sums(
    values: NDArray[np.float64], n_draws: int, rng: np.random.Generator, codes: NDArray[np.int64] | None = None
) -> _Sums:
    """Sums over examples, or whole clusters, that are drawn with replacement."""
    own = example_variances(values, 1)
    sums = cluster_sums(values, codes)
    of_units = own if codes is None else example_variances(sums, 1)
    n_runs, n_units = sums.shape
    sizes = np.ones(values.shape[1])
    columns = np.vstack([sums, cluster_sums(np.stack([own, sizes]), codes)]).T
    found, again = np.empty((n_draws, n_runs + 2)), np.empty(n_draws)
    for rows, counts in draw_clusters(n_units, n_draws, rng, at_once=max(1, _CELLS // n_units)):
        found[rows] = counts @ columns
        again[rows] = (counts * (counts - 1)) @ of_units
    return _Sums(found[:, :n_runs], found[:, n_runs], again, found[:, n_runs + 1])


_Found = tuple[tuple[Interval, ...], tuple[Interval, ...], tuple[Interval, ...], Interval, Interval]


def _over_runs(values: NDArray[np.float64], codes: NDArray[np.int64], level: float) -> _Found:
    n_runs, n_examples = values.shape
    sizes = np.bincount(codes)
    parts = cluster_sums(values, codes) / n_examples
    of_groups = parts * (n_examples / sizes)
    whole = parts.sum(axis=1)
    sd = float(whole.std(ddof=1))
    fractions = bool(values.min() >= 0 and values.max() <= 1)
    of_sd = score_sd_interval(sd, n_runs, level, fractions=fractions)
    of_total = Interval(of_sd.low**2, of_sd.high**2, level)
    apart, of_apart = sum_of_variances_interval(parts, level)
    independent, of_independent = independent_interval(values, level)
    low, high = slope_intervals(parts, whole, level)
    return (
        tuple(mean_interval(column, level) for column in of_groups.T),
        tuple(
            score_sd_interval(float(column.std(ddof=1)), n_runs, level, fractions=fractions) for column in of_groups.T
        ),
        tuple(Interval(float(a), float(b), level, "slope, Student t") for a, b in zip(low, high, strict=True)),
        difference_interval(apart, of_apart, independent, of_independent, "chi-square and jackknife"),
        difference_interval(sd**2, of_total, apart, of_apart, "chi-square"),
    )


def _over_examples(
    values: NDArray[np.float64],
    codes: NDArray[np.int64],
    level: float,
    n_draws: int,
    rng: np.random.Generator,
    skipped: dict[str, int],
) -> _Found:
    n_examples = values.shape[1]
    scale = n_examples / np.bincount(codes)
    drawn = [_drawn_sums(values[:, codes == group], n_draws, rng) for group in range(scale.size)]
    parts = np.stack([each.runs for each in drawn], axis=2) / n_examples
    again, own = (
        np.stack(each, axis=1) / n_examples**2 for each in zip(*((d.again, d.own) for d in drawn), strict=True)
    )
    centered = parts - parts.mean(axis=1, keepdims=True)
    df = len(values) - 1
    # What examples drawn twice add to a group's own variance is in its covariance with the whole as well.
    variances = np.square(centered).sum(axis=1) / df - again
    with_whole = np.einsum("brg,br->bg", centered, centered.sum(axis=2)) / df - again
    total = with_whole.sum(axis=1)
    shares = np.where(total[:, np.newaxis] > 0, with_whole / np.where(total > 0, total, 1.0)[:, np.newaxis], math.nan)
    if (total <= 0).any():
        skipped["nothing varies in the draw, so no group has a share"] = int((total <= 0).sum())

    def interval(draws: NDArray[np.float64]) -> Interval:
        return percentile_interval(draws, level, method="bootstrap, over examples within groups")

    return (
        tuple(interval(column) for column in (parts.mean(axis=1) * scale).T),
        tuple(interval(column) for column in (np.sqrt(np.maximum(variances, 0.0)) * scale).T),
        tuple(interval(column) for column in shares.T),
        interval(variances.sum(axis=1) - own.sum(axis=1)),
        interval(total - variances.sum(axis=1)),
    )
