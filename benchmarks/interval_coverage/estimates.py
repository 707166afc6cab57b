"""What a case of the simulation yields, and what all cases share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from benchmarks.interval_coverage.simulated_runs import Design, Truth

if TYPE_CHECKING:
    from goldassay.stats.intervals import Interval


class Estimate(NamedTuple):
    """One interval of one draw, and what it should hold."""

    figure: str
    method: str
    low: float
    high: float
    truth: float


# Draws R runs of a design, asks the package, knows the truth.
Case: TypeAlias = Callable[[Design, int, np.random.Generator], Iterator[Estimate]]


def estimate(figure: str, interval: Interval, truth: float, method: str = "") -> Estimate:
    return Estimate(figure, method or interval.method.split(", over")[0], interval.low, interval.high, truth)


@cache
def given_examples(design: Design, seed: int = 7) -> tuple[np.ndarray, Truth]:
    """A set of examples that stays, and its truth."""
    examples = design.draw_examples(np.random.default_rng(seed))
    return examples, design.truth_of_examples(examples)
