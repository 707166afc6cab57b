"""The spread of a score against that of a reference set, sizes allowed for."""

from __future__ import annotations

import math
import warnings
from typing import Literal

from goldassay.errors import InputError, UndefinedMeasureWarning


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
