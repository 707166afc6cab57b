"""Which rows to rewrite first, and what leakage falls to without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import (
    bounds,
    count,
    decimal_cell,
    number,
    percent,
    points_cell,
    signed_points,
    whole_cell,
)
from goldassay.report.outline import Cell, Part, Section, Table, data, mapping, records, text

if TYPE_CHECKING:
    from collections.abc import Mapping


def section(document: Mapping[str, Any]) -> Section | None:
    """The section "Rows to rewrite first"; None where none were ranked."""
    found = mapping(document, "leakage", "suggestion")
    if not found:
        return None
    part = str(found.get("condition")).removesuffix("_only")
    return Section(
        key="suggestion",
        title="Rows to rewrite first",
        question=f"Which rows are given away most by their {part}, and what is dropping them worth?",
        findings=tuple(str(sentence) for sentence in mapping(document, "leakage").get("sentences") or ()),
        parts=(Part("leakage_falls", _falls(found)), Part(None, _rows(found, part))),
        small=(_labels(found),),
        explained=True,
    )


def _falls(found: Mapping[str, Any]) -> Table:
    rows = []
    for row in [{"rows": "none", "n_dropped": 0, "n_left": found.get("n_rows"), **mapping(found, "before")},
                *records(found.get("falls"))]:  # fmt: skip
        cells = [
            text(row.get("rows")),
            whole_cell(row.get("n_dropped")),
            whole_cell(row.get("n_left")),
            points_cell(row.get("majority")),
            _gain(row.get("improvement"), row.get("improvement_low"), row.get("improvement_high")),
        ]
        if "test_improvement" in row:
            cells.append(_gain(row.get("test_improvement")))
        rows.append(tuple(cells))
    columns: tuple[str, ...] = ("dropped", "rows", "left", "majority of what is left", "improvement among what is left")
    if rows and len(rows[0]) > len(columns):
        columns = (*columns, "improvement on the test set")
    caption = f"Leakage measured anew by {count(found.get('n_seeds'))} refits, in accuracy points over the majority"
    return Table(caption, columns, tuple(rows), "falls")


def _gain(value: Any, low: Any = None, high: Any = None) -> Cell:
    return Cell(signed_points(value, 1), sort=number(value), aside=bounds(low, high))


def _rows(found: Mapping[str, Any], part: str) -> Table:
    rows = tuple(
        (
            whole_cell(row.get("rank")),
            Cell(str(row.get(part)), prose=True),
            text(row.get("label")),
            decimal_cell(row.get("bits")),
            data(row.get("patterns") or None),
            Cell(str(row.get("example_id"))),
        )
        for row in records(found.get("rows"))
    )
    columns = ("rank", part, "label", "bits given away", "patterns of its label", "id")
    return Table("The first rows; all are in the table beside this page", columns, rows, "rows")


def _labels(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            text(row.get("label")),
            Cell(percent(row.get("share")), number(row.get("share"))),
            Cell(percent(row.get("share_of_first")), number(row.get("share_of_first"))),
        )
        for row in records(found.get("labels"))
    )
    return Table("Labels of the first tenth", ("label", "of all rows", "of the first tenth"), rows)
