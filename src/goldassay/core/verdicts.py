"""The law of verdicts: from an interval and stated limits to a word.

A flaw is called when the lower end of an interval reaches a limit, soundness when the upper end stays below the limit
for "unsound". Where the interval spans both, the examples or runs are too few to tell, and the verdict says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goldassay.core.results import Result

if TYPE_CHECKING:
    from goldassay.core.severity import Word

Unit = Literal["points", "difference", "share", "examples", "ratio"]


@dataclass(frozen=True)
class Headline(Result):
    """The number that matters for a question, with its interval where there is one."""

    label: str
    value: float
    low: float
    high: float
    unit: Unit


@dataclass(frozen=True)
class Verdict(Result):
    """An answer to one question: the word, what decided it, what to do next, and the rule that was applied."""

    verdict: Word
    evidence: str
    headline: Headline | None
    next_step: str
    rule: str


def judge_interval(low: float, high: float, caution: float, unsound: float) -> Word:
    """Judge a harmful quantity by its interval.

    unsound if low >= `unsound`; caution if low >= `caution`; sound if high < `unsound`; otherwise the interval
    spans from harmless to unsound and nothing can be said.
    """
    if math.isnan(low) or math.isnan(high):
        return "not measurable"
    if low >= unsound:
        return "unsound"
    if low >= caution:
        return "caution"
    return "sound" if high < unsound else "not measurable"


def not_measurable(reason: str, next_step: str) -> Verdict:
    """A question that this input cannot answer, with the reason."""
    return Verdict("not measurable", reason, None, next_step, "")
