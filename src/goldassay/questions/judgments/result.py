"""What is measured of judges: what a seat adds, what else verdicts follow, and how far people agree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goldassay.core.figures import Figure, Measure, Rule, declare, declare_verdict, figures_by, result
from goldassay.core.results import Result
from goldassay.questions.answered.result import Degenerate
from goldassay.questions.judgments.measures import PeopleAgreement, PositionEffect, VerdictModel
from goldassay.questions.judgments.people import AnnotatorTest, Corrected
from goldassay.stats.effects import Effects

if TYPE_CHECKING:
    from collections.abc import Iterator

declare_verdict("judgments", "points")

_POSITION = declare(
    Measure("judgments.position", "what the first seat adds to the win rate", "points", "lower", least=-1, most=1)
)
_CHANGED = declare(
    Measure("judgments.changed", "items whose verdict changes with the order", "share", "lower", least=0, most=1)
)
_FIRST = declare(
    Measure("judgments.first_share", "verdicts for the first seat", "share", least=0, most=1, bounded=False)
)
_LENGTH = declare(
    Measure("judgments.length", "log odds of a length e times as large", "number", compared=False,
            least=-math.inf, most=math.inf)
)  # fmt: skip
_OWN = declare(
    Measure("judgments.own", "log odds of the judge's own model", "number", compared=False,
            least=-math.inf, most=math.inf)
)  # fmt: skip
_ACCURACY = declare(Measure("judgments.accuracy", "verdicts that people share", "share", "higher", least=0, most=1))
_KAPPA = declare(Measure("judgments.kappa", "agreement with people beyond chance", "number", "higher", bounded=False))
_CORRECTED = declare(
    Measure("judgments.corrected", "score that people would give", "number", "higher",
            rule=Rule("min_corrected_score", "score that people would give", "at least"))
)  # fmt: skip
_BIAS = declare(
    Measure("judgments.bias", "mean score of the judge above people's", "number", least=-math.inf, most=math.inf)
)
_CORRELATION = declare(
    Measure("judgments.correlation", "correlation of the judge's scores with people's", "number", "higher",
            least=-1, most=1)
)  # fmt: skip
_SENSITIVITY = declare(
    Measure("judgments.sensitivity", "what people accept and the judge, too", "share", "higher", least=0, most=1)
)
_SPECIFICITY = declare(
    Measure("judgments.specificity", "what people reject and the judge, too", "share", "higher", least=0, most=1)
)
_MORE_LABELS = declare(
    Measure("judgments.more_labels", "further labels that halve the interval", "examples", compared=False,
            bounded=False)
)  # fmt: skip
_ADVANTAGE = declare(
    Measure("judgments.advantage", "items on which the judge is as near to annotators as one of them", "share",
            "higher", least=0, most=1, bounded=False)
)  # fmt: skip


def _of_seats(judges: tuple[PositionEffect, ...]) -> Iterator[Figure]:
    for each in judges:
        yield _POSITION.figure(
            each.effect, each.low, each.high, n=each.n_items, model=each.judge,
            reason="each pair was shown in one order, or there are fewer than 30 verdicts",
        )  # fmt: skip
        if each.n_both:
            yield _CHANGED.figure(
                each.changed, each.changed_low, each.changed_high, n=each.n_both, model=each.judge
            )  # fmt: skip
        yield _FIRST.figure(each.first_share, n=each.n_items, model=each.judge)


def _of_people(judges: tuple[PeopleAgreement, ...]) -> Iterator[Figure]:
    for each in judges:
        yield _ACCURACY.figure(each.accuracy, each.low, each.high, n=each.n_items, model=each.judge)
        yield _KAPPA.figure(each.kappa, n=each.n_items, model=each.judge, reason="one side always wins")


def _of_models(models: tuple[VerdictModel, ...]) -> Iterator[Figure]:
    for each in models:
        if not math.isnan(each.length):
            yield _LENGTH.figure(each.length, each.length_low, each.length_high, n=each.n, model=each.judge)
        if not math.isnan(each.own):
            yield _OWN.figure(each.own, each.own_low, each.own_high, n=each.n, model=each.judge)


def _of_corrected(corrected: tuple[Corrected, ...]) -> Iterator[Figure]:
    for each in corrected:
        of: dict[str, Any] = {"model": each.judge, "part": each.of or None}
        # Of labels that were chosen the estimate is no better than its interval.
        value, bias = (math.nan, math.nan) if each.reason else (each.value, each.bias)
        yield _CORRECTED.figure(value, each.low, each.high, n=each.n_labelled, reason=each.reason, **of)
        yield _BIAS.figure(bias, each.bias_low, each.bias_high, n=each.n_labelled, reason=each.reason, **of)
        yield _CORRELATION.figure(
            each.correlation, each.correlation_low, each.correlation_high, n=each.n_labelled,
            reason=each.reason or "the judge or people give all labelled rows one score", **of,
        )  # fmt: skip
        if not math.isnan(each.sensitivity + each.specificity):
            yield _SENSITIVITY.figure(each.sensitivity, each.sensitivity_low, each.sensitivity_high, **of)
            yield _SPECIFICITY.figure(each.specificity, each.specificity_low, each.specificity_high, **of)
        yield _MORE_LABELS.figure(each.n_more, reason=each.reason or "labels alone cannot halve it", **of)


def _of_tests(tests: tuple[AnnotatorTest, ...]) -> Iterator[Figure]:
    for each in tests:
        if not each.lacking:
            yield _ADVANTAGE.figure(each.advantage, n=each.n_items, model=each.judge)


@result
class JudgmentsResult(Result):
    """The judges of one set of judgments.

    Attributes:
        results: What a seat adds, by judge.
        effects: The same in both directions, with simultaneous ends.
        agreement: With people, by judge; none where no people were asked.
        models: What verdicts follow together, by judge.
        remarks: What is not as one would expect of the verdicts, and what was decided.
        n_judgments: How many there are.
        degenerate: Systems whose output cannot depend on what was asked.
        corrected: Scores, or win rates, corrected by people, by judge; none where no people were asked.
        replaces: Whether each judge can replace an annotator; none where it was not asked.
        scale: The least and the largest score of judges and people.
        drawn: Whether it is known with which probability people scored each row.
    """

    results: tuple[PositionEffect, ...] = figures_by(_of_seats)
    effects: Effects
    agreement: tuple[PeopleAgreement, ...] = figures_by(_of_people)
    models: tuple[VerdictModel, ...] = figures_by(_of_models)
    remarks: tuple[str, ...]
    n_judgments: int
    degenerate: tuple[Degenerate, ...] = ()
    corrected: tuple[Corrected, ...] = figures_by(_of_corrected, default=())
    replaces: tuple[AnnotatorTest, ...] = figures_by(_of_tests, default=())
    scale: tuple[float, float] = (0.0, 1.0)
    drawn: bool = False
