"""Do two models score the same, as far as it matters?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.instability.difference_noise import t_interval, t_p_value

if TYPE_CHECKING:
    from goldassay.core.intervals import Interval

__all__ = ["Equivalence", "equivalent_within"]

BETTER, BETTER_WITHIN, EQUIVALENT = "better", "better, within the margin", "equivalent"
WORSE, WORSE_WITHIN, UNDECIDED = "worse", "worse, within the margin", "undecided"


@dataclass(frozen=True)
class Equivalence(Result):
    """Whether a difference lies within a margin.

    Attributes:
        margin: The largest difference that does not matter.
        p_value: The larger one of the two one-sided tests; at most the level where the difference lies within.
        interval: Of which each end is a one-sided test: of 90 % at a level of 5 %.
        word: "better", "better, within the margin", "equivalent", "worse", "worse, within the margin" or "undecided",
            of A beside B.
    """

    margin: float
    p_value: float
    interval: Interval
    word: str


def equivalent_within(
    difference: float, variance: float, degrees_of_freedom: float, margin: float, level: float = 0.05
) -> Equivalence:
    """Two one-sided t tests of a difference against -margin and +margin.

        p = max(P(T > (difference + margin)/s), P(T < (difference - margin)/s)),    s² = variance

    The difference lies within the margin where p is at most the level, which is where the interval of 1 - 2 level
    does. It is other than zero where the two-sided test says so at the level. Both can be true: a difference
    that is there and does not matter.

    Args:
        difference: Of the mean scores, A minus B.
        variance: Of the difference, as of `compare`: `var_total`.
        degrees_of_freedom: Of the variance.
        margin: Above 0, in the unit of the scores.
        level: Of each of the two tests.

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
    apart = t_p_value(difference, variance, degrees_of_freedom) <= level
    within = p <= level
    ahead = (BETTER, BETTER_WITHIN) if difference > 0 else (WORSE, WORSE_WITHIN)
    words = ahead if apart else (UNDECIDED, EQUIVALENT)
    interval = t_interval(difference, variance, degrees_of_freedom, 1 - 2 * level, "two one-sided tests")
    return Equivalence(margin, p, interval, words[within])


def _one_sided(beyond: float, variance: float, df: float) -> float:
    """The p-value that the mean lies above 0, where it was found at `beyond`."""
    if variance <= 0:
        return 0.0 if beyond > 0 else 1.0
    half = t_p_value(abs(beyond), variance, df) / 2
    return half if beyond > 0 else 1 - half
