"""What the measures of this room ask of their arrays.

The examples of one side in falling order of score, with how many of the other side lie above each.

How well scores rank out-of-distribution examples above the others, at no threshold in particular.

How many in-distribution examples are flagged when a given share of the out-of-distribution ones is.
"""

from __future__ import annotations

import math
import numbers
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from goldassay.core.arguments import check_whole, is_number
from goldassay.core.errors import InputError
from goldassay.core.results import Result

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def as_finite(values: ArrayLike, what: str, axes: tuple[str, ...]) -> NDArray[np.float64]:
    """Take numbers as an array of floats whose axes are one of `axes`, and refuse what cannot be measured.

    Args:
        values: The array.
        what: What it holds, in the plural, for the message: "scores of the in-distribution examples".
        axes: Allowed shapes, such as ("(N,)", "(R, N)").

    Raises:
        InputError: They are not numbers, have other axes, are empty, or one is NaN or infinite.
    """
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"the {what} are not an array of numbers ({error})") from error
    if array.ndim not in [len(re.findall(r"\w+", shape)) for shape in axes]:
        raise InputError(f"the {what} have shape {array.shape}", mend=f"they must be {' or '.join(axes)}")
    if array.size == 0:
        raise InputError(f"there are no {what} (their shape is {array.shape})", mend="give at least one")
    # A sum is finite only if all its terms are, and needs no second array.
    if not np.isfinite(array.sum()):
        bad = np.argwhere(~np.isfinite(array))
        if bad.size:
            raise InputError(
                f"{len(bad)} of the {what} are not finite numbers, the first at {tuple(bad[0].tolist())}",
                mend="leave out the examples that were not scored",
            )
    return array


def as_sides(
    scores_in: ArrayLike, scores_out: ArrayLike, axes: tuple[str, ...] = ("(N,)",)
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Take the anomaly scores of both sides.

    Raises:
        InputError: As for `as_finite`.
    """
    return (
        as_finite(scores_in, "scores of the in-distribution examples", axes),
        as_finite(scores_out, "scores of the out-of-distribution examples", axes),
    )


def check_share(value: float, what: str, *, with_one: bool = False) -> float:
    """Refuse what is no share in (0, 1), or in (0, 1] `with_one`.

    Raises:
        InputError: It lies outside, or is NaN.
    """
    if not is_number(value) or not (0 < value < 1 or (with_one and value == 1)):
        raise InputError(f"the {what} is {value}", mend=f"it must lie in (0, 1{']' if with_one else ')'}")
    return float(value)


def check_draws(n_draws: object, seed: object = 0) -> None:
    """Refuse a bootstrap of no draws, or of a seed that is none.

    Raises:
        InputError: There is not at least one draw, or the seed is no whole number from 0.
    """
    if isinstance(n_draws, bool) or not isinstance(n_draws, numbers.Integral) or n_draws < 1:
        raise InputError(f"the number of draws is {n_draws}", mend="it must be at least 1")
    check_whole("seed", seed, 0)


@dataclass(frozen=True)
class Ranking:
    """Positives in falling order, grouped where tied, against the negatives.

    Everything that depends on the order of the scores alone is read from here, so that both sides are sorted once.

    Attributes:
        values: Distinct scores of the positives, falling, (G,).
        starts: Where each group starts among the positives in order, and P at the end, (G+1,).
        above: Negatives that score higher than each group, (G,).
        reached: Negatives that score as high or higher, (G,).
        negatives: Scores of the negatives, falling, (M,).
        positive_order: Positions of the positives in falling order of score, (P,).
        negative_order: Positions of the negatives in falling order of score, (M,).
    """

    values: NDArray[np.float64]
    starts: NDArray[np.int64]
    above: NDArray[np.int64]
    reached: NDArray[np.int64]
    negatives: NDArray[np.float64]
    positive_order: NDArray[np.int64]
    negative_order: NDArray[np.int64]

    @property
    def n_positive(self) -> int:
        """How many positives there are."""
        return len(self.positive_order)

    @property
    def n_negative(self) -> int:
        """How many negatives there are."""
        return len(self.negative_order)

    @property
    def found(self) -> NDArray[np.int64]:
        """Positives that score as high as each group or higher, (G,)."""
        return self.starts[1:]


def rank(positive: NDArray[np.float64], negative: NDArray[np.float64]) -> Ranking:
    """Sort the scores of positives (P,) and negatives (M,), of which a higher one speaks for a positive."""
    positive_order = np.argsort(-positive, kind="stable")
    negative_order = np.argsort(-negative, kind="stable")
    falling = positive[positive_order]
    first = np.flatnonzero(np.r_[True, falling[1:] != falling[:-1]])
    values = falling[first]
    negatives = negative[negative_order]
    other = -negatives
    return Ranking(
        values=values,
        starts=np.r_[first, len(falling)].astype(np.int64),
        above=np.searchsorted(other, -values, side="left").astype(np.int64),
        reached=np.searchsorted(other, -values, side="right").astype(np.int64),
        negatives=negatives,
        positive_order=positive_order.astype(np.int64),
        negative_order=negative_order.astype(np.int64),
    )


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


Rule = Literal["at_least", "closest", "interpolate"]
RULES: tuple[Rule, ...] = ("at_least", "closest", "interpolate")


@dataclass(frozen=True)
class OperatingPoint:
    """Where a detector is set: flagged is what scores `threshold` or more.

    Attributes:
        false_alarm_rate: Share of the negatives that are flagged.
        threshold: The score; NaN for a point between two thresholds.
        recall: Share of the positives that are flagged.
    """

    false_alarm_rate: float
    threshold: float
    recall: float


def false_alarm_rate(
    scores_in: ArrayLike, scores_out: ArrayLike, recall: float = 0.95, rule: Rule = "at_least"
) -> float:
    """Share of in-distribution examples flagged where `recall` of the out-of-distribution ones are; lower is better.

    Out-of-distribution is the positive class, and a higher score is more anomalous. For a threshold t,
    recall(t) = mean(out >= t) and false alarm rate(t) = mean(in >= t). The threshold is, by `rule`:

    - "at_least" (recommended): the highest at which recall is `recall` or more.
    - "closest" (as the paper's authors compute it): that whose recall is nearest in double precision, which may be less
      than asked for; of thresholds of equal recall below 1 the lowest, which counts every in-distribution score
      between two others as a false alarm.
    - "interpolate": between the last threshold below `recall` and the first at or above it, in proportion to recall.

    Identical distributions give about `recall` (chance). Others take in-distribution as the positive class and report
    another rate under the same name: it is `fpr_id_positive` of `measure_detection`, not one minus this.

    Args:
        scores_in: (N_in,).
        scores_out: (N_out,).
        recall: In (0, 1].
        rule: Which threshold.

    Raises:
        InputError: A side is empty, a score is NaN or infinite, recall is outside (0, 1], or the rule is unknown.

    Source: Hendrycks et al. 2020, "Pretrained Transformers Improve Out-of-Distribution Robustness"; the rule "closest"
    after Hendrycks, Mazeika and Dietterich 2019, "Deep Anomaly Detection with Outlier Exposure".
    """
    inside, outside = as_sides(scores_in, scores_out)
    check_rule(recall, rule)
    if rule == "at_least":
        # One threshold is all it takes, and it is found without sorting either side.
        last = len(outside) - positives_needed(recall, len(outside))
        return int(np.count_nonzero(inside >= np.partition(outside, last)[last])) / len(inside)
    return operating_point(rank(outside, inside), recall, rule).false_alarm_rate


def check_rule(recall: float, rule: str) -> None:
    """Refuse a recall outside (0, 1] and an unknown rule.

    Raises:
        InputError: Either.
    """
    check_share(recall, "recall", with_one=True)
    if rule not in RULES:
        raise InputError(f"there is no rule {rule!r}", mend=f"choose one of {', '.join(RULES)}")


def positives_needed(recall: float, n_positive: int) -> int:
    """How many positives make a recall; the tolerance keeps .95 of 20 at 19, whatever its last binary digit."""
    return max(1, math.ceil(recall * n_positive - 1e-9))


def operating_point(ranking: Ranking, recall: float, rule: Rule) -> OperatingPoint:
    """Set the detector by one of the rules of `false_alarm_rate`."""
    n_positive, n_negative = ranking.n_positive, ranking.n_negative
    found = ranking.found
    group = int(found.searchsorted(positives_needed(recall, n_positive)))
    before = int(found[group - 1]) if group else 0
    reached, above = int(ranking.reached[group]), int(ranking.above[group])
    share, share_before = int(found[group]) / n_positive, before / n_positive
    at = float(ranking.values[group])
    if rule == "at_least":
        return OperatingPoint(reached / n_negative, at, share)
    if rule == "interpolate":
        weight = min(1.0, (recall - share_before) / (share - share_before))
        return OperatingPoint(
            (above + (reached - above) * weight) / n_negative, at if weight == 1 else math.nan, min(share, recall)
        )
    # Distance falls towards the level on either side, so that only the two recalls around it can be nearest; the walk
    # comes from full recall and therefore keeps the higher one where doubles make them equal. Recall 0 is a candidate
    # only where a negative lies above all positives.
    lower_exists = group > 0 or above > 0
    if lower_exists and abs(share_before - recall) < abs(share - recall):
        return OperatingPoint(above / n_negative, _lowest_above(ranking, group), share_before)
    if group + 1 == len(found):
        return OperatingPoint(reached / n_negative, at, share)
    return OperatingPoint(int(ranking.above[group + 1]) / n_negative, _lowest_above(ranking, group + 1), share)


def _lowest_above(ranking: Ranking, group: int) -> float:
    """The lowest score of either side that lies above a group of positives."""
    nearest = float(ranking.values[group - 1]) if group else math.inf
    above = int(ranking.above[group])
    return min(nearest, float(ranking.negatives[above - 1])) if above else nearest
