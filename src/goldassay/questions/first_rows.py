"""The rows to look at first: those that each question names, in one list under the verdicts."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from goldassay.core.finding import RowToRead
from goldassay.core.tables import Column, Table
from goldassay.core.verdicts import severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goldassay.core.finding import Finding
    from goldassay.data import Dataset

# As many as are read before anything else.
MOST_ROWS = 10


def rows_to_read(dataset: Dataset, reasons: Iterable[tuple[int, str]]) -> tuple[RowToRead, ...]:
    """The examples at some positions of a dataset, each with why it is worth reading."""
    columns = dataset.text_columns
    return tuple(
        RowToRead(
            str(row["example_id"]), "\n".join(str(row[column] or "") for column in columns), str(row["label"]), why
        )
        for position, why in reasons
        for row in [dataset.examples.row(position, named=True)]
    )


def first_rows(findings: Sequence[Finding]) -> tuple[RowToRead, ...]:
    """Ten rows of all questions: in turn one of each, the most severe verdict first; of what is sound none.

    An example that several questions name takes one place, with all their reasons.
    """
    judged = [
        (finding.verdict.verdict, finding.first_rows)
        for finding in findings
        if finding.verdict is not None and finding.verdict.verdict != "sound"
    ]
    ordered = [rows for _, rows in sorted(judged, key=lambda each: -severity(each[0]))]
    named = [row for row in chain.from_iterable(zip_longest(*ordered)) if row is not None]
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for row in named:
        reasons.setdefault((row.example_id, row.text), {})[row.why] = None
    rows = {(row.example_id, row.text): row for row in named}
    return tuple(
        RowToRead(row.example_id, row.text, row.label, " ".join(reasons[key]))
        for key, row in list(rows.items())[:MOST_ROWS]
    )


def table_of_rows(rows: Sequence[RowToRead]) -> Table:
    """The rows as the page shows them."""
    columns = (Column("text", "example", "prose"), Column("label", "label", "data"), Column("why", "why"))
    shown = tuple({"text": row.text, "label": row.label, "why": row.why} for row in rows)
    return Table("first_rows", "Rows to look at first", columns, shown, file="examples")
