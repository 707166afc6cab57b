"""Leakage: what a model gets right from a part of the input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import bounds, number, percent, points_cell, whole_cell
from goldassay.report.outline import QUESTIONS, Cell, Part, Section, Table, mapping, records, text, why_absent

if TYPE_CHECKING:
    from collections.abc import Mapping


def section(document: Mapping[str, Any]) -> Section:
    """The section "Leakage"."""
    found = mapping(document, "leakage")
    seeds = found.get("seeds") or ()
    notes = []
    if found.get("probe"):
        times = f" It was trained with {len(seeds)} seeds a condition." if seeds else ""
        notes.append(f"{str(found['probe']).rstrip('.')}.{times}")
    if found.get("note"):
        notes.append(str(found["note"]))
    title, question = QUESTIONS["leakage"]
    return Section(
        key="leakage",
        title=title,
        question=question,
        verdict=mapping(document, "verdicts", "leakage"),
        notes=tuple(notes),
        parts=(
            Part("leakage_conditions", _conditions(found)),
            Part("leakage_difficulty", _difficulty(found), folded=True),
        ),
        reason=why_absent(document.get("leakage")),
        explained=True,
    )


def _conditions(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            Cell(str(row.get("condition")), aside=str(row.get("reason") or "")),
            whole_cell(row.get("n_runs")),
            points_cell(row.get("accuracy"), row.get("accuracy_low"), row.get("accuracy_high")),
            points_cell(row.get("sd"), digits=2),
            points_cell(row.get("majority")),
            points_cell(row.get("improvement"), row.get("improvement_low"), row.get("improvement_high")),
            Cell(
                percent(row.get("recovered")),
                sort=number(row.get("recovered")),
                aside=bounds(row.get("recovered_low"), row.get("recovered_high")),
            ),
        )
        for row in records(found.get("conditions"))
    )
    columns = ("condition", "runs", "accuracy", "SD", "majority", "improvement over majority", "share recovered")
    return Table("What each part of the input is worth, in accuracy points", columns, rows, "leakage")


def _difficulty(found: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            text(row.get("condition")),
            text(row.get("subset")),
            whole_cell(row.get("n")),
            points_cell(row.get("accuracy"), row.get("low"), row.get("high")),
        )
        for row in records(found.get("difficulty"))
    )
    columns = ("condition", "subset", "examples", "accuracy")
    return Table("Accuracy on easy and hard examples", columns, rows, "leakage_by_difficulty")
