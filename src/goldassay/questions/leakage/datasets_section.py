"""The section on several datasets side by side: what a part of each gives away, and what goes together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, texts
from goldassay.core.sections import Part, Section
from goldassay.core.tables import Column, Table, with_bounds
from goldassay.questions.effect_tables import effects_of

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


def datasets_sections(found: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Datasets side by side"; none where one dataset was measured."""
    rows = tuple(records(found.get("datasets")))
    if not rows:
        return ()
    section = Section(
        key="datasets",
        title="Datasets side by side",
        lead="Which dataset gives most away by a part of its input, and do the measures agree?",
        sentences=texts(found.get("sentences")),
        notes=_notes(found),
        caveats=texts(found.get("caveats")),
        parts=(
            Part("leakage_datasets", _accuracies(rows)),
            Part(table=_agreements(rows)),
            Part(table=_correlations(found)),
            *(Part(table=_effects(name, effects)) for name, effects in mapping(found, "effects_by_dataset").items()),
        ),
    )
    return (section,)


def _effects(name: str, effects: Mapping[str, Any]) -> Table:
    table = effects_of({"effects": effects})
    return replace(table, name=f"effects of {name}", caption=f"{name}: {table.caption}", folded=True)


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


def _accuracies(rows: tuple[Mapping[str, Any], ...]) -> Table:
    columns = (
        Column("dataset", "dataset"),
        Column("part", "part"),
        Column("n_examples", "examples", "count"),
        Column("paired", "whole", "points"),
        Column("majority", "majority", "points"),
        with_bounds("accuracy", "part alone", "points"),
        with_bounds("improvement", "improvement", "points"),
        with_bounds("recovered", "recovered", "percent"),
        with_bounds("information", "bits", "decimal", 3),
    )
    caption = "What a part of each dataset's input gives away, in accuracy points and bits"
    return Table("accuracies", caption, columns, rows, file="datasets")


def _agreements(rows: tuple[Mapping[str, Any], ...]) -> Table:
    columns = (
        Column("dataset", "dataset"),
        Column("part", "part"),
        with_bounds("agreement", "decided like the whole", "points"),
        Column("kappa", "kappa", "decimal"),
        Column("recovery", "right where alike", "points"),
        Column("recovery_paper", "paper: of the whole's right", "points"),
        Column("relevance", "token relevance", "points"),
        with_bounds("peco", "outlier score", "decimal", 4),
        Column("peco_p", "p", "probability"),
        Column("peco_paper", "outlier score, paper", "decimal", 4),
    )
    caption = "Do models of the part decide and look as those of the whole do?"
    return Table("agreements", caption, columns, rows, file="datasets")


def _correlations(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("of", "of"),
        Column("r", "correlation", "decimal", low="low", high="high"),
        Column("n", "parts", "count"),
        Column("n_families", "families", "count"),
        Column("printed", "printed in the paper", "decimal"),
        Column("recomputed", "by the paper's tables", "decimal", 3),
    )
    rows = tuple({**row, "of": _pair(row)} for row in records(found.get("correlations")))
    return Table("correlations", "What goes together over datasets (Pearson)", columns, rows)
