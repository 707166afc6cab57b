"""Tables on leakage for papers: conditions of one dataset, or parts of several side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records
from goldassay.core.tables import Column, Table, with_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping


def paper_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """The tables that the document has values for."""
    found = mapping(document, "leakage")
    # An audit has a table of conditions too, but is no report on leakage alone.
    tables = (_conditions(found), _datasets(found)) if found.get("source") else (_datasets(found),)
    return tuple(table for table in tables if table.rows)


def _conditions(found: Mapping[str, Any]) -> Table:
    bits = {str(row.get("condition")): row for row in records(found.get("information"))}
    rows = tuple(
        {**row, "information": bits.get(str(row.get("condition")), {}).get("information")}
        for row in records(found.get("conditions"))
    )
    columns = (
        Column("condition", "Condition", "data"),
        with_bounds("accuracy", "Accuracy", "points"),
        with_bounds("improvement", "Over majority", "difference"),
        Column("recovered", "Recovered", "percent"),
        Column("information", "Bits", "decimal", 3),
    )
    return Table("conditions", "Accuracy and improvement in points with 95 % intervals.", columns, rows)


def _datasets(found: Mapping[str, Any]) -> Table:
    rows = tuple({**row, "part": str(row.get("part"))[:1].upper()} for row in records(found.get("datasets")))
    columns = (
        Column("dataset", "Set", "data"),
        Column("part", "Part"),
        Column("paired", "Whole", "points"),
        Column("majority", "Majority", "points"),
        Column("accuracy", "Part alone", "points"),
        with_bounds("improvement", "Improvement", "difference"),
        Column("recovered", "Recovered", "percent"),
        Column("agreement", "Agreement", "points"),
        Column("peco", "PECO", "decimal", 3),
    )
    comment = "In points; PECO in the recommended convention, chance taken off."
    return Table("leakage-datasets", comment, columns, rows)
