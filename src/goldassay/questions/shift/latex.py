"""Tables on shift for papers: gaps of each model and set, and detection by each model, set and score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records
from goldassay.core.numbers import decimal, number
from goldassay.core.tables import Column, Table, with_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping

# Narrow, so that the number and its sign stay together.
_INTERVAL = "95\N{NARROW NO-BREAK SPACE}% interval"


def paper_tables(document: Mapping[str, Any]) -> tuple[Table, ...]:
    """The tables that the document has values for."""
    found = mapping(document, "shift")
    tables = (_gaps(records(found.get("generalization"))), _detection(records(found.get("detection"))))
    return tuple(table for table in tables if table.rows)


def _gaps(found: list[Mapping[str, Any]]) -> Table:
    rows = []
    for model in dict.fromkeys(str(row.get("model")) for row in found):
        same = [row for row in found if str(row.get("model")) == model]
        for place, row in enumerate(same):
            gap = dict.fromkeys(("gap", "gap_low", "gap_high", "relative_gap")) if row.get("own") is True else {}
            rows.append({**row, **gap, "model": model, "named": "" if place else model})
    columns = (
        Column("named", "Model", "data"),
        Column("test", "Set", "data"),
        Column("metric", "Metric", "data"),
        Column("value", "Value", "points", low="low", high="high"),
        Column("gap", "Gap", "difference"),
        Column("", _INTERVAL, "interval", low="gap_low", high="gap_high", absent=""),
        Column("relative_gap", "Relative", "percent"),
    )
    comment = "Metric in points with its 95 % interval; gap = in-distribution (first row of a model) - other."
    return Table("generalization", comment, columns, tuple(rows), grouped_by="model")


def _detection(found: list[Mapping[str, Any]]) -> Table:
    first: Mapping[str, Any] = found[0] if found else {}
    share = decimal(100 * (number(first.get("recall")) or 0.95), 0)
    rows = tuple({**row, "score": str(row.get("score")).replace("_", " ")} for row in found)

    columns = (
        Column("model", "Model", "data"),
        Column("dataset", "Other set", "data"),
        Column("score", "Score"),
        Column("false_alarm_rate", f"FAR{share}", "points"),
        with_bounds("false_alarm_rate", _INTERVAL, "interval"),
        Column("auroc", "AUROC", "points"),
        Column("aupr_out", "AUPR", "points"),
        Column("aupr_out_chance", "chance", "points"),
    )
    comment = (
        f"False alarm rate at {share} % recall (other set positive; threshold: {first.get('rule')}; chance {share}), "
        "AUROC (chance 50), AUPR and its chance, in points."
    )
    return Table("detection", comment, columns, rows)
