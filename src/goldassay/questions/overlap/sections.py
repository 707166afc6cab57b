"""The section on overlap: kinds of hits, files, and the worst items beside the place where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.documents import mapping, records, texts
from goldassay.core.numbers import count, number
from goldassay.core.sections import Part, Section, explanation
from goldassay.core.tables import Column, Table, with_bounds

if TYPE_CHECKING:
    from collections.abc import Mapping

TITLE, LEAD = "Overlap", "Was the test set seen in training?"


def heading(_: Mapping[str, Any]) -> tuple[str, str]:
    """Title and question of the verdict card."""
    return TITLE, LEAD


def meanings(_: Mapping[str, Any]) -> Mapping[str, str]:
    """What each verdict means, in one sentence without figures."""
    return {
        "sound": "Hardly any item stands in the corpus that was searched; paraphrases and translations are not seen.",
        "caution": "Some items, or parts of many, stand in the corpus.",
        "unsound": "Many items stand in the corpus with their answers.",
    }


def sections(document: Mapping[str, Any]) -> tuple[Section, ...]:
    """The section "Overlap"; none where there is none."""
    found = mapping(document, "overlap")
    if not found.get("kinds"):
        return ()
    others = (_scores(found), _worst(found), _files(found))
    parts = (Part("overlap_coverage", _kinds(found)), *(Part(table=each) for each in others if each.rows))
    return (
        Section(
            key="overlap",
            title=TITLE,
            lead=LEAD,
            sentences=texts(found.get("sentences")),
            notes=texts(found.get("notes")),
            parts=parts,
            how=explanation("goldassay.questions.overlap", "how"),
        ),
    )


def _kinds(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("kind", "what one document has of an item"),
        Column("n", "items", "count"),
        Column("share", "share", "percent"),
    )
    n_documents = number(found.get("n_documents")) or 0
    caption = f"{count(found.get('n_searched'))} items by the worst kind of hit in {count(n_documents)} "
    caption += "document" if n_documents == 1 else "documents"
    if found.get("with_training"):
        caption += " and the training part"
    rows = tuple(row for row in records(found.get("kinds")) if row.get("n"))
    return Table("overlap_kinds", caption, columns, rows, file="overlap_items")


def _scores(found: Mapping[str, Any]) -> Table:
    has_board = any("n_systems" in row for row in records(found.get("scores")))
    columns = (
        Column("model", "model", "data"),
        with_bounds("all", "all items", "points"),
        with_bounds("dirty", "in the corpus", "points"),
        Column("n_dirty", "items", "count"),
        with_bounds("clean", "not in it", "points"),
        Column("n_clean", "items", "count"),
        with_bounds("difference", "difference", "difference"),
        *([with_bounds("adjusted", "at equal difficulty", "difference")] if has_board else []),
    )
    caption = "Scores on items that stand in the corpus (80 % or more), and on such of which it has less than 20 %"
    return Table("overlap_scores", caption, columns, tuple(records(found.get("scores"))), file="overlap_scores")


def _worst(found: Mapping[str, Any]) -> Table:
    columns = (
        Column("item", "item", "data", aside="kind"),
        Column("text", "in the test set", "prose", marks="marks"),
        Column("excerpt", "in the corpus", "prose", marks="excerpt_marks", aside="place"),
        Column("coverage", "coverage", "percent"),
        *([Column("near", "similarity of a near copy", "percent")] if found.get("near_copies") else []),
        Column("longest", "longest match, words", "count"),
    )
    rows = tuple(records(found.get("worst")))
    caption = "The items of which most stands in one document, as they are compared; matched words are marked"
    return Table("overlap_worst", caption, columns, rows, file="overlap_places")


def _files(found: Mapping[str, Any]) -> Table:
    columns = (Column("place", "file", "data"), Column("n", "items found with their answers", "count"))
    return Table("overlap_files", "Files in which most items stand", columns, tuple(records(found.get("files"))))
