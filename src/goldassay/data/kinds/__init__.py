"""What the rows of a table are, one file a kind: how it is recognized, its parts, its right answers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from goldassay.core.errors import InputError, option
from goldassay.core.extensions import extensions
from goldassay.data.kinds.choices import ChoiceItems, Choices, read_choices
from goldassay.data.kinds.judgments import JudgedPairs
from goldassay.data.kinds.kind import AddedKind, Kind, Match, Strength
from goldassay.data.kinds.labelled_texts import ExtractiveAnswers, LabelledTexts
from goldassay.data.kinds.preferences import Preferences, read_preferences
from goldassay.data.kinds.recognition import recognize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data.table import Table

DATA_KINDS: tuple[Kind, ...] = (LabelledTexts(), Choices(), Preferences(), JudgedPairs(), ExtractiveAnswers())
# Those of what was answered are kinds of `goldassay.runs`.
_NAMES = (*(kind.name for kind in DATA_KINDS), "runs", "board", "grades")


@cache
def added_kinds() -> tuple[AddedKind, ...]:
    """The kinds that other distributions add.

    Raises:
        GoldassayError: One cannot be loaded.
    """
    return tuple(extensions("goldassay.kinds", "name", _NAMES).values())


def known_rows(table: Table, source: str, columns: Mapping[str, str] | str | None) -> Table:
    """The rows in the columns of a kind of this package, where they are of a kind that another distribution adds.

    Args:
        table: As it was read.
        source: What messages call it.
        columns: As a user named them: of two kinds that fit equally that of this package is taken then.

    Raises:
        InputError: As much speaks for one kind as for another, or what was read has not a row for each.
    """
    added = added_kinds()
    found = recognize(table, {}, (*DATA_KINDS, *added), source) if added else None
    if found is None or not any(_fits(found.matches[kind.name]) for kind in added):
        return table
    try:
        match = found.best()
    except InputError as error:
        if columns:
            return table
        mend = f"name the columns of one kind with {option('columns')}, or uninstall the distribution of the other"
        raise InputError(error.problem, file=source, mend=mend) from error
    kind = next((kind for kind in added if kind is match.kind), None)
    if kind is None:
        return table
    frame = kind.read(table, match)
    if frame.height != table.frame.height:
        raise InputError(
            f"{kind.name} gives {frame.height} rows of {table.frame.height}", file=source,
            mend="let the kind's distribution read a row as a row, with empty cells where it holds nothing",
        )  # fmt: skip
    decisions = (*table.decisions, f"The rows are {kind.rows}, which a kind of another distribution reads.")
    return replace(table, frame=frame, format=f"{table.format}, {kind.name}", decisions=decisions, roles={})


def _fits(match: Match | None) -> bool:
    return match is not None and match.strength > Strength.PARTLY


def read_items(
    match: Match,
    table: Table,
    name: str,
    columns: Mapping[str, str],
    dependent: Sequence[str] = (),
    source: str = "",
    first: int | None = None,
) -> ChoiceItems:
    """The items with choices or the preferences of a table.

    Args:
        match: Which of them it holds.
        table: As it was read.
        name: What to call the items.
        columns: The column of each role, as a user named them.
        dependent: Columns whose equal values make items depend on each other.
        source: The file, for messages.
        first: From where positions of right choices count, where another part of the data says so.

    Raises:
        InputError: A column that was named is not there, or no item can be used.
    """
    roles = {match.kind.aliases.get(role, role): column for role, column in columns.items()}
    if match.kind.name == Preferences.name:
        items = read_preferences(table, name, roles=roles, dependent=dependent, source=source)
    else:
        items = read_choices(table, name, roles=roles, dependent=dependent, source=source, first=first)
    assert items is not None
    return items
