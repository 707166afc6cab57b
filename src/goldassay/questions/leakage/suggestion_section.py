"""The section on rows to rewrite first, and what leakage falls to without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, texts
from goldassay.core.numbers import count
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds
from goldassay.data.kinds import CHOICES, PREFERENCES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.data.kinds import ItemKind


def suggestion_sections(leakage: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Rows to rewrite first"; none where none were ranked."""
    found = mapping(leakage, "suggestion")
    if not found:
        return ()
    if found.get("of_items"):
        return (_of_items(leakage, found),)
    part = str(found.get("condition")).removesuffix("_only")
    section = Section(
        key="suggestion",
        title="Rows to rewrite first",
        lead=f"Which rows are given away most by their {part}, and what is dropping them worth?",
        sentences=texts(leakage.get("sentences")),
        caveats=texts(leakage.get("caveats")),
        parts=(Part("leakage_falls", _falls(found)), Part(table=_rows(found, part))),
        small=(_labels(found),),
        how=explanation("goldassay.questions.leakage", "how_suggestion"),
    )
    return (section,)


def _of_items(leakage: Mapping[str, Any], found: Mapping[str, Any]) -> Section:
    kind = PREFERENCES if found.get("kind") == PREFERENCES.name else CHOICES
    return Section(
        key="suggestion",
        title="Items to rewrite first",
        lead=f"Which items are given away most by their {kind.options}, what is to be changed, and what is that worth?",
        sentences=texts(leakage.get("sentences")),
        caveats=texts(leakage.get("caveats")),
        parts=(
            Part(table=_mends(found)),
            Part("leakage_falls", _item_falls(found, kind)),
            Part(table=_items(found, kind)),
        ),
        how=explanation("goldassay.questions.leakage", "how_item_suggestion"),
    )


def _mends(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("rule", "rule that hits beyond chance"),
        Column("effect", "gained over all items", "percent"),
        Column("n_to_change", "items to change", "count"),
        Column("after", "gained in the changed copy", "percent"),
    )
    caption = "How many items are to be changed until a rule is at chance"
    return Table("mends", caption, columns, tuple(records(found.get("mends"))), file="mends")


def _item_falls(found: Mapping[str, Any], kind: ItemKind) -> Table:
    total = {"n_dropped": 0, "n_left": found.get("n_rows")}
    rows = (
        {"rows": "none", **total, **mapping(found, "before")},
        *(
            {"rows": "none, items changed", **total, **each}
            for each in [mapping(found, "changed")]
            if _is_changed(each)
        ),
        *records(found.get("falls")),
    )
    columns = (
        Column("rows", "dropped"),
        Column("n_dropped", "items", "count"),
        Column("n_left", "left", "count"),
        Column("majority", "guessing", "points"),
        with_bounds("improvement", f"reader of the {kind.options} over guessing", "difference"),
        Column("rule", "rule that gains most"),
        Column("rule_effect", "its gain", "percent"),
    )
    caption = f"Rules and reader measured anew, the reader by {count(found.get('n_seeds'))} refits, in accuracy points"
    return Table("falls", caption, columns, rows, file="falls")


def _is_changed(changed: Mapping[str, Any]) -> bool:
    return bool(changed.get("n_lengthened") or changed.get("positions_drawn"))


def _items(found: Mapping[str, Any], kind: ItemKind) -> Table:
    columns = (
        Column("rank", "rank", "count"),
        Column("question", kind.question, "prose"),
        Column("choices", kind.options, "prose"),
        Column("answer", kind.right, "data"),
        Column("bits", "bits given away", "decimal"),
        Column("change", "what to change"),
    )
    rows = tuple({**row, "change": row.get("change") or None} for row in records(found.get("rows")))
    return Table("rows", "The first items; all are in the table beside this page", columns, rows, file="rows")


def _falls(found: Mapping[str, Any]) -> Table:
    before = {"rows": "none", "n_dropped": 0, "n_left": found.get("n_rows"), **mapping(found, "before")}
    rows = (before, *records(found.get("falls")))
    on_test = Column("test_improvement", "improvement on the test set", "difference")
    columns = (
        Column("rows", "dropped"),
        Column("n_dropped", "rows", "count"),
        Column("n_left", "left", "count"),
        Column("majority", "majority of what is left", "points"),
        with_bounds("improvement", "improvement among what is left", "difference"),
        *((on_test,) if "test_improvement" in before else ()),
    )
    caption = f"Leakage measured anew by {count(found.get('n_seeds'))} refits, in accuracy points over the majority"
    return Table("falls", caption, columns, rows, file="falls")


def _rows(found: Mapping[str, Any], part: str) -> Table:
    columns = (
        Column("rank", "rank", "count"),
        Column(part, part, "prose"),
        Column("label", "label"),
        Column("bits", "bits given away", "decimal"),
        Column("patterns", "patterns of its label", "data"),
        Column("example_id", "id"),
    )
    rows = tuple({**row, "patterns": row.get("patterns") or None} for row in records(found.get("rows")))
    return Table("rows", "The first rows; all are in the table beside this page", columns, rows, file="rows")


def _labels(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("label", "label"),
        Column("share", "of all rows", "percent"),
        Column("share_of_first", "of the first tenth", "percent"),
    )
    return Table("labels", "Labels of the first tenth", columns, tuple(records(found.get("labels"))))
