"""Intervals of the groups' parts in the variance of a score, over runs or over examples."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.intervals import Interval, difference_interval, few_runs_caveat, mean_interval, score_sd_interval
from goldassay.core.resampling import percentile_interval
from goldassay.core.results import Result
from goldassay.instability.run_intervals import independent_interval, slope_intervals, sum_of_variances_interval
from goldassay.instability.scores import as_scores, example_variances, group_codes, group_sums

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_BLOCK = 64


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
    over: Literal["runs", "examples"] = "runs",
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
    values = as_scores(scores, min_runs=2)
    if over not in ("runs", "examples"):
        raise InputError(f"there is no resampling over {over!r}", mend="choose 'runs' or 'examples'")
    if not 0 < level < 1 or n_draws < 1:
        raise InputError(f"level is {level}, n_draws {n_draws}", mend="give a level in (0, 1) and at least 1 draw")
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


_Found = tuple[tuple[Interval, ...], tuple[Interval, ...], tuple[Interval, ...], Interval, Interval]


def _over_runs(values: NDArray[np.float64], codes: NDArray[np.int64], level: float) -> _Found:
    n_runs, n_examples = values.shape
    sizes = np.bincount(codes)
    parts = group_sums(values, codes, len(sizes)) / n_examples
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
    n_runs, n_examples = values.shape
    sizes = np.bincount(codes)
    n_groups = len(sizes)
    own = example_variances(values, 1)
    parts = np.empty((n_draws, n_runs, n_groups))
    twice, once = np.empty((n_draws, n_groups)), np.empty((n_draws, n_groups))
    for group in range(n_groups):
        members = np.flatnonzero(codes == group)
        of_group, of_examples = values[:, members], own[members] / n_examples**2
        for start in range(0, n_draws, _BLOCK):
            picked = rng.integers(0, len(members), (min(_BLOCK, n_draws - start), len(members)))
            counts = np.stack([np.bincount(row, minlength=len(members)) for row in picked]).astype(np.float64)
            rows = slice(start, start + len(picked))
            parts[rows, :, group] = counts @ of_group.T / n_examples
            once[rows, group] = counts @ of_examples
            twice[rows, group] = counts**2 @ of_examples
    centered = parts - parts.mean(axis=1, keepdims=True)
    whole = centered.sum(axis=2)
    # What examples drawn twice add to a group's own variance is in its covariance with the whole as well.
    variances = np.square(centered).sum(axis=1) / (n_runs - 1) - twice + once
    with_whole = np.einsum("brg,br->bg", centered, whole) / (n_runs - 1) - twice + once
    total = with_whole.sum(axis=1)
    shares = np.where(total[:, np.newaxis] > 0, with_whole / np.where(total > 0, total, 1.0)[:, np.newaxis], math.nan)
    if (total <= 0).any():
        skipped["nothing varies in the draw, so no group has a share"] = int((total <= 0).sum())
    within = variances.sum(axis=1) - once.sum(axis=1)

    def interval(draws: NDArray[np.float64]) -> Interval:
        return percentile_interval(draws, level, method="bootstrap, over examples within groups")

    scale = n_examples / sizes
    return (
        tuple(interval(column) for column in (parts.mean(axis=1) * scale).T),
        tuple(interval(column) for column in (np.sqrt(np.maximum(variances, 0.0)) * scale).T),
        tuple(interval(column) for column in shares.T),
        interval(within),
        interval(total - variances.sum(axis=1)),
    )
