"""The section on judges: what a seat adds, what else verdicts follow, and how far people agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, texts
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE, LEAD = "Judgments", "Does the judge prefer a seat?"
_JUDGE = Column("judge", "judge", "data")


def heading(_: Mapping[str, Any]) -> tuple[str, str]:
    """Title and question of the verdict card."""
    return TITLE, LEAD


def meanings(_: Mapping[str, Any]) -> Mapping[str, str]:
    """What each verdict means, in one sentence without figures."""
    return {
        "sound": "What is shown first hardly matters to the judge.",
        "caution": "What is shown first moves the verdicts.",
        "unsound": "What is shown first decides many verdicts.",
    }


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Judgments"; none where there are none."""
    found = mapping(document, "judgments")
    if not found.get("results"):
        return ()
    tables = [_seats(found), *(table for table in (_models(found), _agreement(found)) if table.rows)]
    parts = (Part("judgments_position", tables[0]), *(Part(table=table) for table in tables[1:]))
    return (
        Section(
            key="judgments",
            title=TITLE,
            lead=LEAD,
            sentences=(),
            notes=texts(found.get("remarks")),
            parts=parts,
            how=explanation("goldassay.questions.judgments", "how"),
        ),
    )


def _seats(found: Mapping[str, Any]) -> Table:
    columns = (
        _JUDGE,
        Column("n_items", "items", "count"),
        Column("n_both", "in both orders", "count"),
        with_bounds("changed", "verdict changes", "percent"),
        Column("first_share", "verdicts for the first seat", "percent"),
        with_bounds("effect", "the first seat adds, points", "points"),
        Column("n_ties", "ties", "count"),
    )
    rows = tuple({**row, "effect_low": row.get("low"), "effect_high": row.get("high")}
                 for row in records(found.get("results")))  # fmt: skip
    return Table("judges", "What the order does to the verdicts of each judge", columns, rows, file="judges")


def _models(found: Mapping[str, Any]) -> Table:
    columns = (
        _JUDGE,
        Column("n", "verdicts", "count"),
        Column("n_models", "models", "count"),
        with_bounds("position", "first seat", "decimal"),
        with_bounds("length", "length e times as large", "decimal"),
        with_bounds("own", "the judge's own model", "decimal"),
    )
    caption = "What verdicts follow together, in log odds of winning"
    return Table("verdict_models", caption, columns, tuple(records(found.get("models"))), file="verdict_models")


def _agreement(found: Mapping[str, Any]) -> Table:
    columns = (
        _JUDGE,
        Column("n_items", "items", "count"),
        with_bounds("accuracy", "as people", "percent"),
        Column("right_in_both", "in both orders", "percent"),
        Column("kappa", "kappa", "decimal"),
        Column("n_agreed", "items where people agree", "count"),
        Column("accuracy_agreed", "as people there", "percent"),
    )
    rows = tuple({**row, "accuracy_low": row.get("low"), "accuracy_high": row.get("high")}
                 for row in records(found.get("agreement")))  # fmt: skip
    return Table("agreement", "How far verdicts agree with people", columns, rows, file="agreement")
