"""The words of a verdict, their severity, which is ordered here alone, and the form of a verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from goldassay.core.results import LEFT_OUT, Result

if TYPE_CHECKING:
    from collections.abc import Sequence

Word = Literal["sound", "not measurable", "unresolved", "caution", "unsound"]
# What stands in the place of a word; it has no rank. Of models it says whether their scores differ.
Unranked = Literal["not asked", "distinguishable", "not distinguishable"]

# From the mildest to the most severe. Neither of the two inconclusive words is milder than sound. Of two parts, one
# not measurable and one unresolved, the whole is unresolved: something was measured.
WORDS: tuple[Word, ...] = ("sound", "not measurable", "unresolved", "caution", "unsound")

# Words that show neither a flaw nor its absence: a check does not pass on them unless its policy says so.
INCONCLUSIVE: tuple[Word, ...] = ("not measurable", "unresolved")

# What stands in place of a word where a question does not apply, or nothing was given for it; it has no rank.
NOT_ASKED: Final = "not asked"

# The picture beside each word, also of a comparison of two models; others have none.
ICONS = {"sound": "check", "caution": "alert", "unsound": "stop", "distinguishable": "check"}


Unit = Literal["points", "difference", "share", "examples", "ratio"]


def severity(word: Word | Unranked) -> int:
    """Rank of a word, 0 for sound, -1 for one without: several parts are as their most severe one that was asked."""
    return WORDS.index(word) if word in WORDS else -1


@dataclass(frozen=True)
class Headline(Result):
    """The number that matters for a question, with its interval where there is one.

    Attributes:
        label: What it is.
        value: The number.
        low: Lower end of its ordinary 95 % interval.
        high: Upper end.
        unit: Of all three.
        score: Where the number is a gain: the accuracy or mean recall that it is the gain of.
        baseline: What that is compared with.
    """

    label: str
    value: float
    low: float
    high: float
    unit: Unit
    score: float | None = field(default=None, metadata={LEFT_OUT: True})
    baseline: float | None = field(default=None, metadata={LEFT_OUT: True})


@dataclass(frozen=True)
class Verdict(Result):
    """An answer to one question.

    Attributes:
        verdict: The word.
        evidence: The headline: one sentence in the field's terms.
        headline: The number that matters; None where nothing was measured.
        next_step: What to do next.
        rule: That was applied.
        at_most: How large a flaw may be that was not found, in the unit of the question's limits as a fraction (points
            / 100); None where nothing was measured.
        notes: Further sentences: why nothing is sound, and what limits the headline.
        limits: Which of the limits and settings that decided are not the default ones; None where no settings did.
        question: What is answered, as a question; None where the frame of the report does not say it yet.
    """

    verdict: Word | Unranked
    evidence: str
    headline: Headline | None
    next_step: str
    rule: str
    at_most: float | None = None
    notes: tuple[str, ...] = ()
    limits: str | None = field(default=None, metadata={LEFT_OUT: True})
    question: str | None = field(default=None, metadata={LEFT_OUT: True})

    @property
    def stated(self) -> str:
        """The sentence that supports it, with the limits that were changed for it."""
        return " ".join(each for each in (self.evidence, self.limits) if each)


def not_asked(question: str, needs: Sequence[str]) -> Verdict:
    """What a report says of a question that nothing was given for."""
    options = " and ".join(f"--{need}" for need in needs)
    return Verdict(NOT_ASKED, f"Not asked: {question}. Add {options}.", None, f"Add {options}.", "")


def not_measurable(reason: str, next_step: str) -> Verdict:
    """A question that this input cannot answer, with the reason."""
    return Verdict("not measurable", reason, None, next_step, "")


def unresolved(reason: str, next_step: str, rule: str = "") -> Verdict:
    """A question of which something was measured, but nothing that bounds a flaw, with the reason."""
    return Verdict("unresolved", reason, None, next_step, rule)
