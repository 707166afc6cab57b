"""The section on discounted scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, texts
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE, LEAD = "Scores without the shortcut", "How much of each score, and of each lead, does no shortcut give away?"
_MOST_PAIRS = 30


def heading(_: Mapping[str, Any]) -> tuple[str, str]:
    """Title and question."""
    return TITLE, LEAD


def meanings(_: Mapping[str, Any]) -> Mapping[str, str]:
    """No verdict is given."""
    return {}


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Scores without the shortcut"; none where no report was given to discount by."""
    found = mapping(document, "discount")
    if not found:
        return ()
    parts = [Part(table=_systems(found))]
    if found.get("pairs"):
        parts.append(Part(table=_pairs(found)))
    section = Section(
        key="discount",
        title=TITLE,
        lead=LEAD,
        sentences=texts(found.get("sentences")),
        parts=tuple(parts),
        how=explanation("goldassay.questions.discount", "how"),
    )
    return (section,)


def _systems(found: Mapping[str, Any]) -> Table:
    columns = [Column("system", "system", "data"), with_bounds("score", "score", "points", 2)]
    if not found.get("reason"):
        columns.append(with_bounds("discounted", "discounted", "points", 2))
    columns += [
        with_bounds("ungiven", "where it does not point to the label", "points", 2),
        with_bounds("slope", "points gained per bit of it", "difference", 2),
    ]
    caption = f"Scores with the {found.get('part')} discounted, in points"
    return Table("discount", caption, tuple(columns), tuple(records(found.get("systems"))), file="discount")


def _pairs(found: Mapping[str, Any]) -> Table:
    columns = [Column("pair", "difference of", "data"), with_bounds("lead", "as scored", "difference", 2)]
    if not found.get("reason"):
        columns.append(with_bounds("discounted_lead", "discounted", "difference", 2))
    columns.append(Column("earned_upper", "earned on the third that is given away most", "percent"))
    rows = tuple(
        {**row, "pair": f"{row.get('a')} - {row.get('b')}"} for row in records(found.get("pairs"))[:_MOST_PAIRS]
    )
    return Table("discounted_leads", "Leads with and without the shortcut, each pair by itself", tuple(columns), rows,
                 file="discounted_leads")  # fmt: skip
