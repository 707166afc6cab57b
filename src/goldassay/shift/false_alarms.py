"""How many in-distribution examples are flagged when a given share of the out-of-distribution ones is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from goldassay.core.errors import InputError
from goldassay.shift.inputs import as_sides, check_share
from goldassay.shift.ranking import Ranking, rank

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

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
