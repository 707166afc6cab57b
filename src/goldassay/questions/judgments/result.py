"""What is measured of judges: what a seat adds, what else verdicts follow, and how far people agree."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from goldassay.core.figures import Figure, Measure, declare, declare_verdict, figures_by, result
from goldassay.core.results import Result
from goldassay.questions.answered.result import Degenerate
from goldassay.questions.judgments.measures import PeopleAgreement, PositionEffect, VerdictModel
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


def _of_seats(judges: tuple[PositionEffect, ...]) -> Iterator[Figure]:
    for each in judges:
        yield _POSITION.figure(
            each.effect, each.low, each.high, n=each.n_items, model=each.judge,
            reason="each pair was shown in one order",
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
    """

    results: tuple[PositionEffect, ...] = figures_by(_of_seats)
    effects: Effects
    agreement: tuple[PeopleAgreement, ...] = figures_by(_of_people)
    models: tuple[VerdictModel, ...] = figures_by(_of_models)
    remarks: tuple[str, ...]
    n_judgments: int
    degenerate: tuple[Degenerate, ...] = ()
