"""The kinds of items that are read by choices: what their parts are called."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ItemKind:
    """One kind of items.

    Attributes:
        name: Its key in reports.
        items: What several items are called.
        option: What stands to be chosen.
        options: Several of these.
        part: What a reader of these alone sees, as parts are named.
        question: What they answer.
        right: What the one that should be chosen is called.
        two_sided: Whether a rule may as well pick what has least of something as what has most.
    """

    name: str
    items: str
    option: str
    options: str
    part: str
    question: str
    right: str
    two_sided: bool = False

    @property
    def alone(self) -> str:
        """The condition that shows options without their question."""
        return f"{self.part}_only"

    @property
    def asked(self) -> str:
        """The condition that shows the question without options."""
        return f"{self.question}_only"


CHOICES = ItemKind("choices", "items with choices", "choice", "choices", "choices", "question", "right")
PREFERENCES = ItemKind(
    "preference", "preferences", "response", "responses", "response", "prompt", "preferred", two_sided=True
)
