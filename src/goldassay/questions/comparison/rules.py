"""Whether the lead of one model over another depends on the rule for answers without a score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from goldassay.core.numbers import bounds, count, points
from goldassay.core.results import Result
from goldassay.runs.missing import scored_only

if TYPE_CHECKING:
    from goldassay.questions.instability.measures.comparison import Comparison
    from goldassay.questions.instability.measures.suites import TotalComparison
    from goldassay.runs.runs import Runs


# Compares scores (R, N) of two models on the examples of a mask, each of one dataset or more, as they were measured.
_Arrays = Sequence[NDArray[np.float64]]
Measure = Callable[[_Arrays, _Arrays, Sequence[NDArray[np.bool_]]], "Comparison | TotalComparison"]


class Difference(NamedTuple):
    """A difference with its interval."""

    value: float
    low: float
    high: float

    @property
    def side(self) -> tuple[float, bool]:
        """Who is ahead, and whether significantly."""
        return float(np.sign(self.value)), self.low > 0 or self.high < 0

    @classmethod
    def of(cls, found: Comparison | TotalComparison) -> Difference:
        """That of a comparison."""
        return cls(found.difference, found.interval.low, found.interval.high)


@dataclass(frozen=True)
class OtherRules(Result):
    """The difference of two models, A less B, by each rule for answers without a score.

    Attributes:
        n_lacking: Examples that some run of the two has no score for.
        n_both: Examples that all runs of both answered.
        wrong: Where what is missing counts as wrong.
        both: On the examples that both answered; None where there are fewer than two.
        scored_only: Of the means of the scored answers of each.
        least: Where all that A lacks is wrong, and all that B lacks is right.
        most: Where it is the other way round.
        depends: Whether the order, or whether one is significantly better, is another one by another rule.
        by_range: Whether that was judged over all ways to score what is missing.
    """

    n_lacking: int
    n_both: int
    wrong: Difference
    both: Difference | None
    scored_only: float
    least: Difference
    most: Difference
    depends: bool
    by_range: bool


def other_rules(
    a: Sequence[Runs],
    b: Sequence[Runs],
    found: Comparison | TotalComparison,
    measure: Measure,
    *,
    by_range: bool,
    by_size: bool = False,
) -> OtherRules | None:
    """Hold a difference against the rules for what is missing; None where nothing is.

    Args:
        a: Runs (R, N) on each dataset with their statuses, what is missing as wrong.
        b: Likewise, on the same examples.
        found: The difference by the rule in use.
        measure: Compares as `found` was measured.
        by_range: Judge by all ways to score what is missing.
        by_size: Whether each example counts alike, and not each dataset.

    Source: the range is that of Manski 1989 for data that are missing in any way.
    """
    both = [np.asarray(x.scored.all(axis=0) & y.scored.all(axis=0)) for x, y in zip(a, b, strict=True)]
    if all(each.all() for each in both):
        return None
    every = [np.ones(each.size, dtype=np.bool_) for each in both]
    wrong_a, wrong_b = [runs.scores for runs in a], [runs.scores for runs in b]
    right_a, right_b = ([np.where(runs.scored, runs.scores, 1.0) for runs in side] for side in (a, b))
    least, most = Difference.of(measure(wrong_a, right_b, every)), Difference.of(measure(right_a, wrong_b, every))
    wrong = Difference.of(measure(wrong_a, wrong_b, every))
    alike = Difference.of(measure(wrong_a, wrong_b, both)) if all(each.sum() > 1 for each in both) else None
    sizes = [runs.n_examples if by_size else 1 for runs in a]
    apart = float(np.average([scored_only(x) - scored_only(y) for x, y in zip(a, b, strict=True)], weights=sizes))
    side = Difference.of(found).side
    same = alike is not None and side == wrong.side == alike.side and side[0] == np.sign(apart)
    return OtherRules(
        n_lacking=int(sum((~each).sum() for each in both)),
        n_both=int(sum(each.sum() for each in both)),
        wrong=wrong,
        both=alike,
        scored_only=apart,
        least=least,
        most=most,
        depends=not (least.low > 0 or most.high < 0) if by_range else not same,
        by_range=by_range,
    )


def describe_rules(found: OtherRules | None, a: str, b: str, main: float) -> str:
    """A clause on the other rules, for the sentence that says who is ahead; "" where the rule changes nothing.

    Args:
        found: The difference by these.
        a: Name of the one.
        b: Name of the other.
        main: The difference by the rule in use.
    """
    if found is None or not found.depends:
        return ""
    if found.by_range:
        least, most = found.least, found.most
        return (
            f"; over all ways to score what {count(found.n_lacking)} examples lack, {a} minus {b} is "
            f"{points(least.value, 2)} to {points(most.value, 2)} points {bounds(least.low, most.high, 2)}"
        )
    rules = []
    if found.wrong.value != main:
        rules.append(_side("what is missing counted as wrong", found.wrong, a, b))
    if found.both is not None and found.both.value != main:
        rules.append(_side(f"on the {count(found.n_both)} examples that both answered", found.both, a, b))
    if not rules or np.sign(found.scored_only) != np.sign(main):
        ahead = a if found.scored_only > 0 else b
        rules.append(f"by the mean of what each answered {ahead} by {points(abs(found.scored_only), 2)} points")
    return f"; this depends on the rule for {count(found.n_lacking)} examples without a score: {', '.join(rules)}"


def _side(where: str, found: Difference, a: str, b: str) -> str:
    if found.value >= 0:
        return f"{where} {a} is ahead by {points(found.value, 2)} {bounds(found.low, found.high, 2)}"
    return f"{where} {b} is ahead by {points(-found.value, 2)} {bounds(-found.high, -found.low, 2)}"
