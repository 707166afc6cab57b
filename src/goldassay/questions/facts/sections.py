"""The section of facts: labels, lengths, duplicates, overlap of the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, why_absent
from goldassay.core.numbers import number
from goldassay.core.sections import Part, Section
from goldassay.core.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Facts"."""
    facts = mapping(document, "facts")
    section = Section(
        key="facts",
        title="Facts",
        lead="What the data are before any question is put to them.",
        parts=(Part("facts_labels", _labels(facts)), Part("facts_lengths", _lengths(facts))),
        small=(_duplicates(facts), _overlap(facts), _premise_reuse(facts), _dropped(facts)),
        reason=why_absent(document.get("facts"), "no facts were collected"),
    )
    return (section,)


def _labels(facts: Mapping[str, Any]) -> Table:
    counts = mapping(facts, "label_counts")
    rows = []
    for split in counts:
        by_label = mapping(counts, split)
        total = sum(number(n) or 0 for n in by_label.values())
        rows += [
            {"split": split, "label": label, "n": n, "share": (number(n) or 0) / total if total else None}
            for label, n in by_label.items()
        ]
    columns = (
        Column("split", "split"),
        Column("label", "label", "data"),
        Column("n", "examples", "count"),
        Column("share", "share", "percent"),
    )
    return Table("labels", "Labels", columns, tuple(rows), folded=True)


def _lengths(facts: Mapping[str, Any]) -> Table:
    columns = (
        Column("split", "split"),
        Column("role", "text"),
        Column("label", "label", "data"),
        Column("n", "examples", "count"),
        Column("mean", "mean", "decimal", 1),
        Column("median", "median", "decimal", 0),
        Column("p95", "95th percentile", "decimal", 0),
    )
    caption = f"Lengths in {facts.get('length_unit') or 'words'}"
    return Table("lengths", caption, columns, tuple(records(facts.get("lengths"))), folded=True)


def _duplicates(facts: Mapping[str, Any]) -> Table:
    duplicates = mapping(facts, "duplicates")
    columns = (
        Column("split", "split"),
        Column("exact", "same input, same label", "count"),
        Column("conflicting", "same input, other label", "count"),
    )
    rows = tuple({"split": split, **mapping(duplicates, split)} for split in duplicates)
    return Table("duplicates", "Duplicates", columns, rows)


def _overlap(facts: Mapping[str, Any]) -> Table:
    overlap = mapping(facts, "overlap")
    columns = (
        Column("shared", "shared"),
        Column("n", "test examples", "count"),
        Column("share", "share of test", "percent"),
    )
    rows = tuple(
        {"shared": what.replace("_", " "), **mapping(overlap, what)} for what in overlap if mapping(overlap, what)
    )
    return Table("overlap", "Test examples also found in training", columns, rows)


def _premise_reuse(facts: Mapping[str, Any]) -> Table:
    reuse = mapping(facts, "premise_reuse")
    columns = (
        Column("split", "split"),
        Column("distinct", "distinct premises", "count"),
        Column("mean", "examples a premise", "decimal"),
        Column("max", "at most", "count"),
    )
    rows = tuple({"split": split, **mapping(reuse, split)} for split in reuse if mapping(reuse, split))
    return Table("premise_reuse", "Premises used more than once", columns, rows)


def _dropped(facts: Mapping[str, Any]) -> Table:
    dropped = mapping(facts, "dropped")
    columns = (Column("split", "split"), Column("reason", "reason"), Column("n", "rows", "count"))
    rows = tuple(
        {"split": split, "reason": reason, "n": n} for split in dropped for reason, n in mapping(dropped, split).items()
    )
    return Table("dropped", "Rows left out", columns, rows)
