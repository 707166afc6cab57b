"""A kind of rows, and what speaks for it: the columns that play its roles, and those that nobody would read.

Of kinds that are read by choices, what their parts are called.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from goldassay.data.table import Table


class Strength(IntEnum):
    """How sure a kind is of a table."""

    GUESSED = 0
    """Texts with a label each, by what columns hold and not by their names: where nothing else speaks for any kind."""
    PARTLY = 1
    """A role is missing, or something speaks against it."""
    TABLE = 2
    """All roles of a table of scores or predictions, which other tables may have besides."""
    SHAPE = 3
    """All roles of rows that are known by their shape, as lists of choices are."""
    FULL = 4
    """Texts with a label each, and nothing speaks against them."""
    OWN_FORMAT = 5
    """A format that holds nothing else."""


@dataclass(frozen=True)
class Match:
    """Why a table may be of a kind.

    Attributes:
        kind: The kind.
        strength: How sure it is.
        roles: Role to column; several columns are joined by "+".
        core: The columns that make a row one of this kind: a row that has none of them filled is of another.
        covered: All columns that are read.
        unread: Columns that nobody reads and that may be part of the task.
        against: What speaks against it, in clauses.
        lacking: Roles that no column plays.
        found: Where everything is, as the kind's own reader wants to know it.
    """

    kind: Kind
    strength: Strength
    roles: Mapping[str, str]
    core: frozenset[str] = frozenset()
    covered: frozenset[str] = frozenset()
    unread: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    found: Any = field(default=None, repr=False)

    def explains(self, other: Match) -> bool:
        """Whether it reads all that makes the rows of the other kind, and the other does not read what makes these.

        A table of numbers explains nothing: it takes any column of numbers for a system.
        """
        is_sure = self.strength >= Strength.SHAPE and bool(other.core)
        return is_sure and other.core <= self.covered and not self.core <= other.covered

    def shares_columns(self, other: Match) -> bool:
        """Whether one of two kinds reads columns that make the rows of the other."""
        return bool(self.core & other.covered or other.core & self.covered)


class Kind(Protocol):
    """What the rows of a table are.

    Attributes:
        name: What it is called.
        rows: What several of its rows are called.
        wants: The roles that it needs, in words.
        roles: The roles that a user may name.
        aliases: Roles by other names that a user may give them.
        rank: Of two kinds that read the same columns the one that says more about them has the higher rank.
    """

    name: ClassVar[str]
    rows: ClassVar[str]
    wants: ClassVar[str]
    roles: ClassVar[tuple[str, ...]]
    aliases: ClassVar[Mapping[str, str]]
    rank: ClassVar[int]

    def recognize(self, table: Table, columns: Mapping[str, str]) -> Match | None:
        """Say why a table is of this kind; None where nothing speaks for it.

        Args:
            table: As it was read.
            columns: The column of each role that a user named, all of them among the roles of this kind.
        """


class AddedKind(Kind, Protocol):
    """A kind that another distribution adds; its rows are read as those of a kind of this package."""

    def read(self, table: Table, match: Match) -> pl.DataFrame:
        """The same rows, in the same order, in the columns of a kind of this package."""


def aside(columns: Mapping[str, str]) -> list[str]:
    """The columns that a user named and that are no part of an item: what weighs it, dates it, or is to be ignored."""
    return [each for role in ("ignore", "weight", "date", "tie") for each in columns.get(role, "").split("+") if each]


def joined(roles: Mapping[str, str | tuple[str, ...] | None]) -> dict[str, str]:
    """Role to column without those that no column plays; several columns are joined by a plus sign."""
    said = {role: column if isinstance(column, str) else "+".join(column or ()) for role, column in roles.items()}
    return {role: column for role, column in said.items() if column}


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
