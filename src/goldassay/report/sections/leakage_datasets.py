"""Several datasets side by side: what a part of each gives away, and what goes together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import bounds, decimal, decimal_cell, number, percent, points_cell, small_cell, whole_cell
from goldassay.report.outline import Cell, Part, Section, Table, mapping, records, text

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = {
    "paired": "accuracy of the whole",
    "accuracy": "accuracy of the part",
    "recovered": "share recovered",
    "improvement": "improvement over majority",
    "agreement": "decided like the whole",
    "relevance": "token relevance agreement",
    "peco": "outlier score",
}


def section(document: Mapping[str, Any]) -> Section | None:
    """The section "Datasets side by side"; None where one dataset was measured."""
    found = mapping(document, "leakage")
    rows = records(found.get("datasets"))
    if not rows:
        return None
    return Section(
        key="datasets",
        title="Datasets side by side",
        question="Which dataset gives most away by a part of its input, and do the measures agree?",
        findings=tuple(str(sentence) for sentence in found.get("sentences") or ()),
        notes=_notes(found),
        parts=(
            Part("leakage_datasets", _accuracies(rows)),
            Part(None, _agreements(rows)),
            Part(None, _correlations(found)),
        ),
    )


def _notes(found: Mapping[str, Any]) -> tuple[str, ...]:
    notes = ["Each dataset has a page of its own in the folder of its name, beside this one."]
    if records(found.get("correlations")):
        notes.append(
            "Parts of one dataset, and datasets whose models were trained on the same file, are one family: the "
            "intervals of correlations leave out whole families, one after the other."
        )
    if missing := [_pair(row) for row in records(found.get("uncorrelated"))]:
        notes.append(f"Not correlated, since fewer than three parts have both: {'; '.join(missing)}.")
    return tuple(notes)


def _pair(row: Mapping[str, Any]) -> str:
    return f"{NAMES.get(str(row.get('x')))} and {NAMES.get(str(row.get('y')))}"


def _accuracies(rows: list[Mapping[str, Any]]) -> Table:
    cells = tuple(
        (
            text(row.get("dataset")),
            text(row.get("part")),
            whole_cell(row.get("n_examples")),
            points_cell(row.get("paired")),
            points_cell(row.get("majority")),
            points_cell(row.get("accuracy"), row.get("accuracy_low"), row.get("accuracy_high")),
            points_cell(row.get("improvement"), row.get("improvement_low"), row.get("improvement_high")),
            Cell(
                percent(row.get("recovered")),
                sort=number(row.get("recovered")),
                aside=bounds(row.get("recovered_low"), row.get("recovered_high")),
            ),
            Cell(
                decimal(row.get("information"), 3),
                sort=number(row.get("information")),
                aside=bounds(row.get("information_low"), row.get("information_high"), 3, 1.0),
            ),
        )
        for row in rows
    )
    columns = ("dataset", "part", "examples", "whole", "majority", "part alone", "improvement", "recovered", "bits")
    return Table(
        "What a part of each dataset's input gives away, in accuracy points and bits", columns, cells, "datasets"
    )


def _agreements(rows: list[Mapping[str, Any]]) -> Table:
    cells = tuple(
        (
            text(row.get("dataset")),
            text(row.get("part")),
            points_cell(row.get("agreement"), row.get("agreement_low"), row.get("agreement_high")),
            decimal_cell(row.get("kappa")),
            points_cell(row.get("recovery")),
            points_cell(row.get("recovery_paper")),
            points_cell(row.get("relevance")),
            Cell(
                decimal(row.get("peco"), 4),
                sort=number(row.get("peco")),
                aside=bounds(row.get("peco_low"), row.get("peco_high"), 4, 1.0),
            ),
            small_cell(row.get("peco_p")),
            decimal_cell(row.get("peco_paper"), 4),
        )
        for row in rows
    )
    columns = (
        "dataset", "part", "decided like the whole", "kappa", "right where alike", "paper: of the whole's right",
        "token relevance", "outlier score", "p", "outlier score, paper",
    )  # fmt: skip
    return Table("Do models of the part decide and look as those of the whole do?", columns, cells, "datasets")


def _correlations(found: Mapping[str, Any]) -> Table:
    cells = tuple(
        (
            Cell(_pair(row)),
            Cell(
                decimal(row.get("r")), sort=number(row.get("r")), aside=bounds(row.get("low"), row.get("high"), 2, 1.0)
            ),
            whole_cell(row.get("n")),
            whole_cell(row.get("n_families")),
            decimal_cell(row.get("printed")),
            decimal_cell(row.get("recomputed"), 3),
        )
        for row in records(found.get("correlations"))
    )
    columns = ("of", "correlation", "parts", "families", "printed in the paper", "by the paper's tables")
    return Table("What goes together over datasets (Pearson)", columns, cells)
