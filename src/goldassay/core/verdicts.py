"""The words of a verdict, their severity, which is ordered here alone, and the form of a verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from goldassay.core.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

Word = Literal["sound", "not measurable", "caution", "unsound"]

# From the mildest to the most severe. What could not be measured may be as bad as anything, so that it outranks sound.
WORDS: tuple[Word, ...] = ("sound", "not measurable", "caution", "unsound")

# What stands in place of a word where nothing was given for a question; it has no rank.
NOT_ASKED = "not asked"

# The picture beside each word, also of a comparison of two models; others have none.
ICONS = {"sound": "check", "caution": "alert", "unsound": "stop", "told apart": "check"}


Unit = Literal["points", "difference", "share", "examples", "ratio"]


def severity(word: Word) -> int:
    """Rank of a word, 0 for sound: several parts, models or datasets are as their most severe one."""
    return WORDS.index(word)


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


def not_asked(question: str, needs: Sequence[str]) -> dict[str, Any]:
    """What a report says of a question that nothing was given for, in the form of a verdict."""
    options = " and ".join(f"--{need}" for need in needs)
    return {
        "verdict": NOT_ASKED,
        "evidence": f"Not asked: {question}. Add {options}.",
        "headline": None,
        "next_step": f"Add {options}.",
        "rule": "",
    }


def not_measurable(reason: str, next_step: str) -> Verdict:
    """A question that this input cannot answer, with the reason."""
    return Verdict("not measurable", reason, None, next_step, "")
