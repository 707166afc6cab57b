"""The tables on leakage, as LaTeX: conditions of one dataset, or parts of several side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import bounds, decimal, percent, points, signed_points
from goldassay.report.outline import mapping, records
from goldassay.report.paper.latex import escape, small, tabular

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def write_leakage_tables(document: Mapping[str, Any]) -> dict[str, str]:
    """The tables that the document has values for, by name."""
    found = mapping(document, "leakage")
    tables = {
        # An audit has a table of conditions too, but is no report on leakage alone.
        "conditions": _conditions(found) if found.get("source") else "",
        "leakage-datasets": _datasets(records(found.get("datasets"))),
    }
    return {name: text for name, text in tables.items() if text}


def _conditions(found: Mapping[str, Any]) -> str:
    rows = records(found.get("conditions"))
    if not rows:
        return ""
    bits = {str(row.get("condition")): row for row in records(found.get("information"))}
    block = [
        [
            escape(row.get("condition")),
            _with(points(row.get("accuracy")), bounds(row.get("accuracy_low"), row.get("accuracy_high"))),
            _with(
                signed_points(row.get("improvement"), 1),
                bounds(row.get("improvement_low"), row.get("improvement_high")),
            ),
            escape(percent(row.get("recovered"))),
            escape(decimal(bits.get(str(row.get("condition")), {}).get("information"), 3)),
        ]
        for row in rows
    ]
    head = [["Condition", "Accuracy", "Over majority", "Recovered", "Bits"]]
    return tabular("Accuracy and improvement in points with 95 % intervals.", "lrrrr", head, [block])


def _datasets(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    block = [
        [
            escape(row.get("dataset")),
            escape(str(row.get("part"))[:1].upper()),
            escape(points(row.get("paired"))),
            escape(points(row.get("majority"))),
            escape(points(row.get("accuracy"))),
            _with(
                signed_points(row.get("improvement"), 1),
                bounds(row.get("improvement_low"), row.get("improvement_high")),
            ),
            escape(percent(row.get("recovered"))),
            escape(points(row.get("agreement"))),
            escape(decimal(row.get("peco"), 3)),
        ]
        for row in rows
    ]
    head = [["Set", "Part", "Whole", "Majority", "Part alone", "Improvement", "Recovered", "Agreement", "PECO"]]
    return tabular("In points; PECO in the recommended convention, chance taken off.", "llrrrrrrr", head, [block])


def _with(value: str, interval: str) -> str:
    return f"{escape(value)} {small(escape(interval))}"
