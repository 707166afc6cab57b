"""The spread of a score against that of a reference set, sizes allowed for, and how certain that is."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Literal

import numpy as np

from goldassay.core.errors import InputError, UndefinedMeasureWarning
from goldassay.core.intervals import Interval
from goldassay.instability.scores import as_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
    from scipy.special import stdtrit

    df = len(one) - 2
    rest = max(0.0, 1 - float(np.corrcoef(one, other)[0, 1]) ** 2)
    middle = 1 + 2 * rest * float(stdtrit(df, (1 + level) / 2)) ** 2 / df
    # The two bounds are each other's inverse, which the difference of large numbers would lose.
    high = middle + math.sqrt(middle**2 - 1)
    return 1 / high, high


def _factors(n_runs: int, n_reference: int, level: float) -> tuple[float, float]:
    from scipy.special import fdtri

    upper, lower = (float(fdtri(n_runs - 1, n_reference - 1, tail)) for tail in ((1 + level) / 2, (1 - level) / 2))
    return 1 / upper, 1 / lower
