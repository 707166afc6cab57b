"""How much of a score's variance over runs comes from single examples, and how much from their moving together."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.core.intervals import few_runs_caveat
from goldassay.core.results import Result
from goldassay.instability.scores import as_scores, check_ddof, example_variances, group_codes, group_sums

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
    shares = group_sums(values, codes, int(codes.max()) + 1) / n_examples
    return Parts(total, independent, float(shares.var(axis=0, ddof=ddof).sum()) - independent)


def _design(total: float, independent: float, n_examples: int) -> tuple[float, float, dict[str, int]]:
    if independent == 0:
        reason = "all runs score every example the same, so the design effect is undefined"
        warnings.warn(reason, UndefinedMeasureWarning, stacklevel=3)
        return math.nan, math.nan, {reason: 1}
    effect = total / independent
    return effect, (n_examples / effect if effect > 0 else math.inf), {}
