"""Items of the kind that a table was recognized to hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.data.kinds.choices import read_choices
from goldassay.data.kinds.preferences import Preferences, read_preferences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data.kinds.choices import ChoiceItems
    from goldassay.data.kinds.kind import Match
    from goldassay.data.table import Table


def read_items(
    match: Match, table: Table, name: str, columns: Mapping[str, str], dependent: Sequence[str] = (), source: str = ""
) -> ChoiceItems:
    """The items with choices or the preferences of a table.

    Args:
        match: Which of them it holds.
        table: As it was read.
        name: What to call the items.
        columns: The column of each role, as a user named them.
        dependent: Columns whose equal values make items depend on each other.
        source: The file, for messages.

    Raises:
        InputError: A column that was named is not there, or no item can be used.
    """
    read = read_preferences if match.kind.name == Preferences.name else read_choices
    roles = {match.kind.aliases.get(role, role): column for role, column in columns.items()}
    items = read(table, name, roles=roles, dependent=dependent, source=source)
    assert items is not None
    return items
