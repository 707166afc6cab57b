"""What a sentence states: its figures, names and a few words that say which sentence it is.

Other words of a sentence may change, and no test with it; a figure, a name or their order may not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import EllipsisType

# Numbers are whole: 19 is not found in 119 or 19.5. Facts may be given as one tuple. An ellipsis lets a sentence end.
Fact = str | int | EllipsisType | tuple["Fact", ...]

_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


def numbers_in(text: str) -> list[str]:
    """The numbers of a text in their order, without the commas between thousands."""
    return [each.replace(",", "") for each in _NUMBER.findall(text)]


def _flat(facts: tuple[Fact, ...]) -> list[str | int | EllipsisType]:
    return [one for fact in facts for one in (_flat(fact) if isinstance(fact, tuple) else [fact])]


def _pattern(fact: str | int) -> str:
    written = re.escape(fact) if isinstance(fact, str) else f"(?:{fact}|{fact:,})"
    text = str(fact)
    before = r"(?<!\d)(?<!\d[.,])" if text[:1].isdigit() else ""
    after = r"(?!\d|[.,]\d)" if text[-1:].isdigit() else ""
    return before + written + after


def in_order(*facts: Fact) -> str:
    """A regular expression that finds the facts in one sentence of one line, in their order."""
    found, gap = "", ""
    for fact in _flat(facts):
        if isinstance(fact, EllipsisType):
            gap = r"[^\n]*?"
        else:
            found += gap + _pattern(fact)
            gap = r"(?:(?!\.\s+[A-Z])[^\n])*?"
    return found


def states(text: str | list[str] | tuple[str, ...], *facts: Fact) -> bool:
    """Whether a sentence of the text, or of one of the texts, has the facts in their order."""
    return any(re.search(in_order(*facts), each) for each in ([text] if isinstance(text, str) else text))


class says:  # noqa: N801 - read as a word: text == says(...)
    """Equals a text of one line that has the facts in their order, and no other number than they have."""

    def __init__(self, *facts: Fact) -> None:
        self.facts = _flat(facts)

    def __eq__(self, text: object) -> bool:
        told = [str(fact) for fact in self.facts if not isinstance(fact, EllipsisType)]
        apart: list[Fact] = [part for fact in self.facts for part in (..., fact)][1:]
        return (
            isinstance(text, str)
            and "\n" not in text.strip("\n")
            and numbers_in(text) == numbers_in(" ".join(told))
            and states(text, *apart)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"says({', '.join(map(repr, self.facts))})"


def stated_by(verdict: object) -> str:
    """The headline of a verdict and its notes, of a `Verdict` or of its plain form."""
    held = verdict if isinstance(verdict, Mapping) else vars(verdict)
    return " ".join([held["evidence"], *held.get("notes", ())])
