"""Conditions: which parts of its input a model may see, in training and in test alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

PAIRED = "paired"
TEXT = "text"


def conditions_of(text_columns: Sequence[str]) -> tuple[str, ...]:
    """The conditions that a dataset's text roles allow.

    Of several roles: "paired", which is all of them, then "<role>_only" for each; of ("premise", "hypothesis")
    thus paired, premise_only, hypothesis_only. A single text has no parts: its one condition is "text".
    """
    if len(text_columns) == 1:
        return (TEXT,)
    return (PAIRED, *(f"{role}_only" for role in text_columns))


def roles_of(condition: str, text_columns: Sequence[str]) -> tuple[str, ...]:
    """The text roles that a condition shows.

    Raises:
        InputError: The dataset has no such condition.
    """
    allowed = conditions_of(text_columns)
    if condition not in allowed:
        raise InputError(
            f"condition {condition!r} does not apply to texts with the roles {', '.join(text_columns)}",
            mend=f"choose from {', '.join(allowed)}",
        )
    if condition in (PAIRED, TEXT):
        return tuple(text_columns)
    return (condition.removesuffix("_only"),)
