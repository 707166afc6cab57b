"""Do two models score the same, as far as it matters?"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.instability.difference_noise import t_interval, t_p_value

if TYPE_CHECKING:
    from goldassay.core.intervals import Interval

__all__ = ["Equivalence", "equivalent_within"]

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
) -> Equivalence:
    """Two one-sided t tests of a difference against -margin and +margin.

        p = max(P(T > (difference + margin)/s), P(T < (difference - margin)/s)),    s² = variance

    The difference lies within the margin where p is at most the level, which is where the interval of 1 - 2 level
    does. It is other than zero where the two-sided test says so at the level. Both can be true: a difference
    that is there and does not matter. It lies beyond the margin where the interval does and it is other than zero.

    Args:
        difference: Of the mean scores, A minus B.
        variance: Of the difference, as of `compare`: `var_total`.
        degrees_of_freedom: Of the variance.
        margin: Above 0, in the unit of the scores.
        level: Of each of the two tests.
        apart: Whether the difference is taken for other than zero, where a correction for several of them decides; by
            default the two-sided test does.

    Raises:
        InputError: The margin is not above 0, or the level is not between 0 and one half.

    Source: Schuirmann 1987, "A comparison of the two one-sided tests procedure and the power approach".
    """
    if not (margin > 0 and math.isfinite(margin)):
        raise InputError(f"the margin is {margin}", mend="give a number above 0")
    if not 0 < level < 0.5:
        raise InputError(f"the level is {level}", mend="it must lie between 0 and 0.5")
    p = max(
        _one_sided(difference + margin, variance, degrees_of_freedom),
        _one_sided(margin - difference, variance, degrees_of_freedom),
    )
    if apart is None:
        apart = t_p_value(difference, variance, degrees_of_freedom) <= level
    interval = t_interval(difference, variance, degrees_of_freedom, 1 - 2 * level, "two one-sided tests")
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
