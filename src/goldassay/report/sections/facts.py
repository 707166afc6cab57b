"""Facts: what the data are before any question is put to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.report.numbers import decimal_cell, number, percent_cell, whole_cell
from goldassay.report.outline import Cell, Part, Section, Table, data, mapping, records, text, why_absent

if TYPE_CHECKING:
    from collections.abc import Mapping


def section(document: Mapping[str, Any]) -> Section:
    """The section "Facts"."""
    facts = mapping(document, "facts")
    return Section(
        key="facts",
        title="Facts",
        question="What the data are before any question is put to them.",
        parts=(
            Part("facts_labels", _labels(facts), folded=True),
            Part("facts_lengths", _lengths(facts), folded=True),
        ),
        small=(_duplicates(facts), _overlap(facts), _premise_reuse(facts), _dropped(facts)),
        reason=why_absent(document.get("facts"), "no facts were collected"),
    )


def _labels(facts: Mapping[str, Any]) -> Table:
    counts = mapping(facts, "label_counts")
    rows = []
    for split in counts:
        by_label = mapping(counts, split)
        total = sum(number(n) or 0 for n in by_label.values())
        rows += [
            (text(split), data(label), whole_cell(n), percent_cell((number(n) or 0) / total if total else None))
            for label, n in by_label.items()
        ]
    return Table("Labels", ("split", "label", "examples", "share"), tuple(rows))


def _lengths(facts: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            text(row.get("split")),
            text(row.get("role")),
            data(row.get("label")),
            whole_cell(row.get("n")),
            decimal_cell(row.get("mean"), 1),
            decimal_cell(row.get("median"), 0),
            decimal_cell(row.get("p95"), 0),
        )
        for row in records(facts.get("lengths"))
    )
    unit = facts.get("length_unit") or "words"
    return Table(
        f"Lengths in {unit}", ("split", "text", "label", "examples", "mean", "median", "95th percentile"), rows
    )


def _duplicates(facts: Mapping[str, Any]) -> Table:
    duplicates = mapping(facts, "duplicates")
    rows = tuple(
        (
            text(split),
            whole_cell(mapping(duplicates, split).get("exact")),
            whole_cell(mapping(duplicates, split).get("conflicting")),
        )
        for split in duplicates
    )
    return Table("Duplicates", ("split", "same input, same label", "same input, other label"), rows)


def _overlap(facts: Mapping[str, Any]) -> Table:
    overlap = mapping(facts, "overlap")
    rows = tuple(
        (
            text(what.replace("_", " ")),
            whole_cell(mapping(overlap, what).get("n")),
            percent_cell(mapping(overlap, what).get("share")),
        )
        for what in overlap
        if mapping(overlap, what)
    )
    return Table("Test examples also found in training", ("shared", "test examples", "share of test"), rows)


def _premise_reuse(facts: Mapping[str, Any]) -> Table:
    reuse = mapping(facts, "premise_reuse")
    rows = tuple(
        (
            text(split),
            whole_cell(mapping(reuse, split).get("distinct")),
            decimal_cell(mapping(reuse, split).get("mean"), 2),
            whole_cell(mapping(reuse, split).get("max")),
        )
        for split in reuse
        if mapping(reuse, split)
    )
    return Table("Premises used more than once", ("split", "distinct premises", "examples a premise", "at most"), rows)


def _dropped(facts: Mapping[str, Any]) -> Table:
    dropped = mapping(facts, "dropped")
    rows: list[tuple[Cell, ...]] = []
    for split in dropped:
        rows += [(text(split), text(reason), whole_cell(n)) for reason, n in mapping(dropped, split).items()]
    return Table("Rows left out", ("split", "reason", "rows"), tuple(rows))
