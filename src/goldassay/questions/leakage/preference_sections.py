"""Tables of the section on leakage that preferences alone have: pairs of like length, and subsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import records
from goldassay.core.sections import Part
from goldassay.core.tables import Column, Table
from goldassay.questions.leakage.preference_tables import LIKE_LENGTH, SUBSETS

if TYPE_CHECKING:
    from collections.abc import Mapping


def preference_parts(found: Mapping[str, Any]) -> tuple[Part, ...]:
    """What rules and readers get right where length tells nothing, and on each subset; nothing of other kinds."""
    return tuple(
        Part(table=table) for table in (_like_length(found), _subsets(found)) if table.rows
    )  # fmt: skip


def _like_length(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("reader", "rule or reader"),
        Column("n_items", "pairs of like length", "count"),
        Column("accuracy", "right there", "percent"),
        Column("all_items", "of all pairs", "count"),
        Column("all_accuracy", "right there", "percent"),
    )
    caption = "What is left where length tells nothing: pairs whose lengths differ by less than a tenth"
    return Table("like_length", caption, columns, tuple(records(found.get(LIKE_LENGTH))), file=LIKE_LENGTH)


def _subsets(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("subset", "subset", "data"),
        Column("reader", "reader"),
        Column("n_items", "items", "count"),
        Column("accuracy", "right", "percent"),
        Column("effect", "gained", "percent"),
        Column("z", "z", "decimal"),
        Column("p_adjusted", "q (Benjamini-Hochberg)", "decimal", 4),
    )
    caption = "What readers gain on each subset"
    return Table("subsets", caption, columns, tuple(records(found.get(SUBSETS))), file=SUBSETS)
