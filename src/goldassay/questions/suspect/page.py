"""The page of suspect labels: which rows to look at, and what scores would be without them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.numbers import count
from goldassay.core.sections import Around, Column, Page, Part, Section, Table, explanation, table_of
from goldassay.questions.rows import EXAMPLES, issue
from goldassay.questions.suspect.result import DEFECT, INVERTED, UNISON, RankedLabels, SuspectResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goldassay.core.document import Issue
    from goldassay.core.sections import Finding


_MEND = "Read these rows, then correct the label or drop the row."
_ISSUES = {DEFECT: "defect in the row", UNISON: "wrong label suspected", INVERTED: "only weaker systems agree"}


def sections(found: SuspectResult, _: Around) -> tuple[Section, ...]:
    """The section "Suspect labels"; none where nothing speaks about labels."""
    if not isinstance(found, RankedLabels):
        return ()
    section = Section(
        key="suspect",
        title=PAGE.title,
        lead=PAGE.heading(found)[1],
        sentences=tuple(sentences(found)),
        parts=tuple(Part(table=table) for table in (_first(found), _scores(found)) if table.rows),
        how=explanation("goldassay.questions.suspect", "how"),
    )
    return (section,)


def _first(found: RankedLabels) -> Table:
    columns = [Column("example_id", "row", "data"), Column("suspect", "suspect")]
    if any(row.suggested is not None for row in found.rows):
        columns += [Column("suggested", "models say", "data"), Column("log_odds", "log odds", "decimal", 1)]
    if any(row.confidence is not None for row in found.rows):
        columns.append(Column("confidence", "confidence in gold", "probability"))
    return table_of("suspects", "The most suspect labels", columns, found.rows, file="suspects")


def _scores(found: RankedLabels) -> Table:
    columns = (
        Column("model", "model", "data"),
        Column("n_first", "most suspect rows", "count"),
        Column("as_is", "score", "points", 2),
        Column("dropped", "without them", "points", 2),
        Column("relabelled", "if they were wrong", "points", 2),
    )
    caption = "What scores would be if the most suspect labels were wrong, in points"
    return table_of("suspect_scores", caption, columns, found.scores, file="suspect_scores")


def sentences(found: SuspectResult) -> list[str]:
    """What speaks against labels; nothing where they were not looked at."""
    if not isinstance(found, RankedLabels):
        return []
    said = []
    if n := found.n_defects:
        said.append(f"{count(n)} rows cannot all be right: the same texts, or most annotators, have another label.")
    if found.n_unanimous is not None:
        said.append(
            f"On {count(found.n_unanimous)} of {count(found.n_answered)} rows all {len(found.strong)} strong families "
            "of models name the same other label; if all labels were right and families erred independently, it "
            "would be "
            f"{found.n_expected:.1f}."
        )
    # Defects alone need no models.
    elif found.n_families or found.confident or not found.n_defects:
        said.append(found.why_not)
    if (found.n_unanimous is not None or found.confident) and found.n_answered < found.n_examples:
        said.append(f"{count(found.n_examples - found.n_answered)} rows are not answered by the runs, and come last.")
    if found.n_inverted:
        said.append(f"{count(found.n_inverted)} rows are solved by weaker families and missed by stronger ones.")
    if found.confident:
        said.append("Models with probabilities order rows by how sure they are of the gold label.")
    return said


def issues(_: SuspectResult, finding: Finding) -> Iterator[Issue]:
    """The rows whose label may be wrong, by what speaks against it."""
    rows = finding.rows
    if rows is None:
        return
    kinds = rows["suspect"] if "suspect" in rows.columns else pl.Series([DEFECT] * rows.height, dtype=pl.String)
    for kind, name in _ISSUES.items():
        own = rows.filter(kinds == kind)
        if own.height:
            first = own.row(0, named=True)
            why = first.get("defect") or f"gold label {first['label']}"
            worst, shown = f"{first['example_id']}: {why}", f"suspect={kind}"
            yield issue(finding, name, own.height, worst, _MEND, table=EXAMPLES, filter=shown)


PAGE = Page(
    SuspectResult,
    title="Suspect labels",
    lead="Which labels may be wrong?",
    sections=sections,
    sentences=sentences,
    issues=issues,
)
