"""Which group of examples makes the score swing."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.core.intervals import few_runs_caveat
from goldassay.core.results import Result
from goldassay.instability.decomposition import decompose_variance
from goldassay.instability.scores import as_scores, group_codes, group_sums

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
    parts = group_sums(values, codes, len(names)) / n_examples
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
