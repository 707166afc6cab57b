"""The section on suspect labels: which rows to look at, and what scores would be without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, texts
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE, LEAD = "Suspect labels", "Which labels may be wrong?"


def heading(_: Mapping[str, Any]) -> tuple[str, str]:
    """Title and question."""
    return TITLE, LEAD


def meanings(_: Mapping[str, Any]) -> Mapping[str, str]:
    """No verdict is given."""
    return {}


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Suspect labels"; none where nothing speaks about labels."""
    found = mapping(document, "suspect")
    if not found.get("sentences"):
        return ()
    parts = [Part(table=_first(found))] if found.get("rows") else []
    if found.get("scores"):
        parts.append(Part(table=_scores(found)))
    section = Section(
        key="suspect",
        title=TITLE,
        lead=LEAD,
        sentences=texts(found.get("sentences")),
        parts=tuple(parts),
        how=explanation("goldassay.questions.suspect", "how"),
    )
    return (section,)


def _first(found: Mapping[str, Any]) -> Table:
    rows = records(found.get("rows"))
    columns = [Column("example_id", "row", "data"), Column("suspect", "suspect")]
    if any("suggested" in row for row in rows):
        columns += [Column("suggested", "models say", "data"), Column("log_odds", "log odds", "decimal", 1)]
    if any("confidence" in row for row in rows):
        columns.append(Column("confidence", "confidence in gold", "probability"))
    return Table("suspects", "The most suspect labels", tuple(columns), tuple(rows), file="suspects")


def _scores(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("model", "model", "data"),
        Column("n_first", "most suspect rows", "count"),
        Column("as_is", "score", "points", 2),
        Column("dropped", "without them", "points", 2),
        Column("relabelled", "if they were wrong", "points", 2),
    )
    caption = "What scores would be if the most suspect labels were wrong, in points"
    return Table("suspect_scores", caption, columns, tuple(records(found.get("scores"))), file="suspect_scores")
