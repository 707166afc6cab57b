"""Schedules: by what share of its peak the learning rate goes at a step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from goldassay.core.errors import InputError
from goldassay.core.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class Moment:
    """Where in a training a step is.

    Attributes:
        step: Steps done before it.
        total: Steps of the whole training.
        epoch: Epochs done before it.
        dev_scores: After each epoch done, where there is a dev set.
    """

    step: int
    total: int
    epoch: int
    dev_scores: tuple[float, ...] = ()


def factor(schedule: str, warmup: float, moment: Moment) -> float:
    """Share of the peak rate, in [0, 1]; a function of the moment alone, so that nothing has to be remembered.

    Raises:
        InputError: There is no such schedule.
    """
    check_schedule(schedule)
    rising = warmup * moment.total
    if moment.step < rising:
        return (moment.step + 1) / (rising + 1)
    return SCHEDULES[schedule](moment, rising)


def check_schedule(schedule: str) -> None:
    """Refuse an unknown schedule.

    Raises:
        InputError: The nearest one is named.
    """
    if schedule not in SCHEDULES:
        raise InputError(f"there is no schedule {schedule!r}", mend=did_you_mean(schedule, sorted(SCHEDULES)))


def is_spent(schedule: str, rate: float) -> bool:
    """Whether a rate is so low that the schedule ends the training: below 1e-5 for "dev_drops"."""
    return schedule == "dev_drops" and rate < 1e-5


def _constant(moment: Moment, rising: float) -> float:  # noqa: ARG001
    return 1.0


def _linear(moment: Moment, rising: float) -> float:
    return max(0.0, (moment.total - moment.step) / max(1.0, moment.total - rising))


def _cosine(moment: Moment, rising: float) -> float:
    done = (moment.step - rising) / max(1.0, moment.total - rising)
    return 0.5 * (1 + math.cos(math.pi * min(1.0, done)))


def _dev_drops(moment: Moment, rising: float) -> float:  # noqa: ARG001
    """.99 an epoch, and a fifth whenever the dev score is not above the best before (Conneau et al. 2017)."""
    drops = sum(score <= max(moment.dev_scores[:epoch]) for epoch, score in enumerate(moment.dev_scores) if epoch > 0)
    return float(0.99**moment.epoch * 0.2**drops)


SCHEDULES: Mapping[str, Callable[[Moment, float], float]] = {
    "constant": _constant,
    "linear": _linear,
    "cosine": _cosine,
    "dev_drops": _dev_drops,
}
