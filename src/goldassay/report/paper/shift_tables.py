"""The tables on shift, as LaTeX: gaps a model and set, and detection a model, set and score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import bounds, decimal, percent, points, signed_points
from goldassay.report.outline import mapping, records
from goldassay.report.paper.latex import escape, small, tabular

if TYPE_CHECKING:
    from collections.abc import Mapping


def write_shift_tables(document: Mapping[str, Any]) -> dict[str, str]:
    """The tables that the document has values for, by name."""
    found = mapping(document, "shift")
    tables = {
        "generalization": _gaps(records(found.get("generalization"))),
        "detection": _detection(records(found.get("detection"))),
    }
    return {name: text for name, text in tables.items() if text}


def _gaps(rows: list[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    models = dict.fromkeys(str(row.get("model")) for row in rows)
    blocks = [
        [_gap_line(row, first=i == 0) for i, row in enumerate(each for each in rows if str(each.get("model")) == model)]
        for model in models
    ]
    head = [["Model", "Set", "Metric", "Value", "Gap", "95\\,\\% interval", "Relative"]]
    comment = "Metric in points with its 95 % interval; gap = in-distribution (first row of a model) - other."
    return tabular(comment, "lllrrlr", head, blocks)


def _gap_line(row: Mapping[str, Any], *, first: bool) -> list[str]:
    own = row.get("own") is True
    return [
        escape(row.get("model")) if first else "",
        escape(row.get("test")),
        escape(row.get("metric")),
        f"{escape(points(row.get('value')))} {small(escape(bounds(row.get('low'), row.get('high'))))}",
        "---" if own else escape(signed_points(row.get("gap"), 1)),
        "" if own else small(escape(bounds(row.get("gap_low"), row.get("gap_high")))),
        "---" if own else escape(percent(row.get("relative_gap"))),
    ]


def _detection(rows: list[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    lines = [
        [
            escape(row.get("model")),
            escape(row.get("dataset")),
            escape(str(row.get("score")).replace("_", " ")),
            escape(points(row.get("false_alarm_rate"))),
            small(escape(bounds(row.get("false_alarm_rate_low"), row.get("false_alarm_rate_high")))),
            escape(points(row.get("auroc"))),
            escape(points(row.get("aupr_out"))),
            escape(points(row.get("aupr_out_chance"))),
        ]
        for row in rows
    ]
    share = decimal(100 * (rows[0].get("recall") or 0.95), 0)
    head = [["Model", "Other set", "Score", f"FAR{share}", "95\\,\\% interval", "AUROC", "AUPR", "chance"]]
    comment = (
        f"False alarm rate at {share} % recall (other set positive; threshold: {rows[0].get('rule')}; chance {share}), "
        "AUROC (chance 50), AUPR and its chance, in points."
    )
    return tabular(comment, "lllrlrrr", head, [lines])
