"""How well scores rank out-of-distribution examples above the others, at no threshold in particular."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from goldassay.core.errors import InputError
from goldassay.core.results import Result
from goldassay.shift.inputs import as_sides, check_share
from goldassay.shift.ranking import Ranking, rank

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

Positive = Literal["out", "in"]


@dataclass(frozen=True)
class SubsampledAupr(Result):
    """Average precision with out-of-distribution examples drawn to a fixed number.

    Attributes:
        mean: Over the draws.
        sd: Over the draws, ddof 0, as was the practice.
        values: Of each draw.
        positive: Which side is positive.
        chance: Share of the positives, which a random score reaches.
        ood_ratio: Out-of-distribution examples for each in-distribution one.
        n_in: In-distribution examples.
        n_out: Out-of-distribution examples of each draw.
        seed: Of the draws.
        skipped: Reason -> count of what has no value.
    """

    mean: float
    sd: float
    values: tuple[float, ...]
    positive: Positive
    chance: float
    ood_ratio: float
    n_in: int
    n_out: int
    seed: int
    skipped: dict[str, int] = field(default_factory=dict)

    def to_frame(self) -> pl.DataFrame:
        """One row a draw: draw (its position), aupr."""
        return pl.DataFrame({"draw": range(len(self.values)), "aupr": self.values})


def auroc(scores_in: ArrayLike, scores_out: ArrayLike) -> float:
    """Chance that an out-of-distribution example scores higher than an in-distribution one, ties half.

    auroc = P(out > in) + P(out = in)/2 = U/(n_in n_out) with the Mann-Whitney U. A higher score is more anomalous;
    .5 is chance.

    Args:
        scores_in: (N_in,).
        scores_out: (N_out,).

    Raises:
        InputError: A side is empty, or a score is NaN or infinite.

    Source: Hanley and McNeil 1982, "The meaning and use of the area under a receiver operating characteristic curve".
    """
    inside, outside = as_sides(scores_in, scores_out)
    return area_under_roc(rank(outside, inside))


def aupr(
    scores_in: ArrayLike,
    scores_out: ArrayLike,
    positive: Positive = "out",
    *,
    base_rate: float | None = None,
    ood_ratio: float | None = None,
    repeats: int = 1,
    seed: int = 0,
) -> float:
    """Average precision: sum_j (recall_j - recall_{j-1}) precision_j over distinct thresholds, without interpolation.

    A higher score is more anomalous; for positive="in" scores are negated. A random score reaches the share of
    positives, so that values at different shares cannot be compared. There are two ways out: `base_rate` weighs
    the sides as if that share were positive, precision = b recall/(b recall + (1 - b) false alarm rate), and
    `ood_ratio` draws out-of-distribution examples, as earlier work does (`subsampled_aupr` also gives the deviation).

    Args:
        scores_in: (N_in,).
        scores_out: (N_out,).
        positive: Which side counts as positive.
        base_rate: Share of positives to weigh to, in (0, 1); by default that of the examples.
        ood_ratio: Out-of-distribution examples to draw for each in-distribution one; by default all are taken.
        repeats: How many such draws are averaged.
        seed: Of the draws.

    Raises:
        InputError: A side is empty, a score is NaN or infinite, or a setting is out of range.

    Source: Davis and Goadrich 2006 for why the curve is not interpolated; Hendrycks and Gimpel 2017 for its use here.
    """
    if ood_ratio is not None:
        if base_rate is not None:
            raise InputError("base_rate and ood_ratio were both given", mend="give one of them")
        return subsampled_aupr(scores_in, scores_out, ood_ratio, positive, repeats=repeats, seed=seed).mean
    inside, outside = as_sides(scores_in, scores_out)
    if base_rate is not None:
        check_share(base_rate, "base rate")
    return average_precision(rank_for(inside, outside, positive), base_rate)


def subsampled_aupr(
    scores_in: ArrayLike,
    scores_out: ArrayLike,
    ood_ratio: float = 0.2,
    positive: Positive = "out",
    *,
    repeats: int = 10,
    seed: int = 0,
) -> SubsampledAupr:
    """Average precision with out-of-distribution examples drawn, without replacement, to a ratio of the others.

    Args:
        scores_in: (N_in,).
        scores_out: (N_out,).
        ood_ratio: round(ood_ratio N_in) out-of-distribution examples are drawn, at least 1.
        positive: Which side counts as positive.
        repeats: How many draws.
        seed: Of the draws.

    Raises:
        InputError: As for `aupr`, or there are not as many out-of-distribution examples.

    Source: Hendrycks, Mazeika and Dietterich 2019 (a fifth, ten times).
    """
    inside, outside = as_sides(scores_in, scores_out)
    if not (ood_ratio > 0 and repeats >= 1):
        raise InputError(f"ood_ratio is {ood_ratio}, repeats {repeats}", mend="both must be above 0")
    n_out = max(1, round(ood_ratio * inside.size))
    if n_out > outside.size:
        raise InputError(
            f"{n_out} out-of-distribution examples are to be drawn from {outside.size}",
            mend=f"give an ood_ratio of at most {outside.size / inside.size:.3g}",
        )
    rng = np.random.default_rng(seed)
    values = [
        average_precision(rank_for(inside, rng.choice(outside, n_out, replace=False), positive)) for _ in range(repeats)
    ]
    n_positive = n_out if positive == "out" else inside.size
    return SubsampledAupr(
        mean=float(np.mean(values)),
        sd=float(np.std(values)),
        values=tuple(values),
        positive=positive,
        chance=n_positive / (n_out + inside.size),
        ood_ratio=float(ood_ratio),
        n_in=inside.size,
        n_out=n_out,
        seed=seed,
    )


def rank_for(inside: NDArray[np.float64], outside: NDArray[np.float64], positive: Positive) -> Ranking:
    """Rank with one side as positives; scores are negated where that is the in-distribution side.

    Raises:
        InputError: The side is unknown.
    """
    if positive not in ("out", "in"):
        raise InputError(f"there is no side {positive!r}", mend="choose 'out' or 'in' as positive")
    return rank(outside, inside) if positive == "out" else rank(-inside, -outside)


def area_under_roc(ranking: Ranking) -> float:
    """Area under the receiver operating characteristic; in whole numbers up to the division, so exact."""
    below_twice = 2 * ranking.n_negative - ranking.above - ranking.reached
    return int(np.diff(ranking.starts) @ below_twice) / (2 * ranking.n_positive * ranking.n_negative)


def average_precision(ranking: Ranking, base_rate: float | None = None) -> float:
    """Average precision of the positives; see `aupr`."""
    found, reached = ranking.found.astype(np.float64), ranking.reached.astype(np.float64)
    if base_rate is None:
        precision = found / (found + reached)
    else:
        found, reached = base_rate * found / ranking.n_positive, (1 - base_rate) * reached / ranking.n_negative
        precision = found / (found + reached)
    return float(np.diff(ranking.starts) @ precision / ranking.n_positive)
