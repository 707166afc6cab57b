"""Items of whatever kind a table holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.doors import option
from goldassay.core.errors import InputError
from goldassay.data.items.choice_shapes import ROLES, find_shape
from goldassay.data.items.choices import check_columns, read_choices
from goldassay.data.items.preference_shapes import PREFERENCE_ROLES
from goldassay.data.items.preferences import read_preferences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data.items.choices import ChoiceItems
    from goldassay.data.table import Table


def item_roles(columns: Mapping[str, str]) -> dict[str, str] | None:
    """The columns by role; None where roles of labelled texts are named, so that no items are meant."""
    named = dict(columns)
    if "label" in named and "answer" not in named:
        named["answer"] = named.pop("label")
    return named if named.keys() <= {*ROLES, *PREFERENCE_ROLES, "ignore"} else None


def read_items(
    table: Table, name: str, roles: Mapping[str, str], *, dependent: Sequence[str] = (), source: str = ""
) -> ChoiceItems | None:
    """The preferences of a table, else its items with choices; None where it holds neither.

    Args:
        table: As it was read.
        name: What to call the items.
        roles: See `item_roles`.
        dependent: Columns whose equal values make items depend on each other.
        source: The file, for messages.

    Raises:
        InputError: A column that was named is not there, or holds no choices, or no item can be used.
    """
    if "choices" in roles and roles.keys() <= {*ROLES, "ignore"}:
        check_columns(table.frame, [*roles.values(), *dependent], source)
        if find_shape(table.frame, roles) is None:
            raise InputError(
                f"the column {roles['choices']!r} holds neither lists nor objects of choices", file=source,
                mend=f"name one that does, or a column for each choice: {option('columns', 'choices=A+B')}",
            )  # fmt: skip
    found = read_preferences(table, name, roles=roles, dependent=dependent, source=source)
    if found is not None:
        return found
    if roles.keys() - {*ROLES, "ignore"} or find_shape(table.frame, roles) is None:
        return None
    return read_choices(table, name, roles=roles, dependent=dependent, source=source)
