"""Rows of the user's data: those to look at first, those behind a verdict, and what is wrong with them, ranked."""

from __future__ import annotations

from collections import Counter
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.document import Issue
from goldassay.core.escaping import one_line
from goldassay.core.finding import Finding, RowToRead
from goldassay.core.sections import Column, Table
from goldassay.core.verdicts import severity
from goldassay.questions.checks import question_pages
from goldassay.questions.row_details import EVALUATION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from goldassay.data.dataset import Dataset


KEYS = ("dataset", "example_id")


def beside_data(found: pl.DataFrame, datasets: Mapping[str, Dataset]) -> pl.DataFrame:
    """Join what was measured to the rows of the datasets, in the order of the former.

    Args:
        found: A row an example: `dataset`, `example_id` and what was measured of it.
        datasets: {name: dataset}, as far as they are at hand; of others there is what was measured alone.

    Returns:
        `dataset`, `example_id`, what was measured, then every column of the data. Where both have a column, it is that
        of the data.
    """
    tables = [
        dataset.examples.with_columns(pl.col("example_id").cast(pl.String), pl.lit(name).alias("dataset"))
        for name, dataset in datasets.items()
        if name in set(found["dataset"].to_list())
    ]
    if not tables:
        return found
    data = pl.concat(tables, how="diagonal_relaxed").unique(KEYS, keep="first", maintain_order=True)
    measured = found.select(*KEYS, pl.exclude(*data.columns))
    return measured.join(data, on=KEYS, how="left", maintain_order="left")


def first_to_read(
    rows: pl.DataFrame, datasets: Mapping[str, Dataset], why: Callable[[dict[str, Any]], str], most: int
) -> tuple[RowToRead, ...]:
    """The first examples of a table of `beside_data` whose texts are at hand, each with why it is worth reading.

    Args:
        rows: The most telling ones first; an example that stands there several times counts once.
        datasets: {name: dataset}.
        why: A sentence on a row.
        most: How many at most.
    """
    known = rows.filter(pl.col("dataset").is_in(list(datasets))).unique(KEYS, keep="first", maintain_order=True)
    return tuple(
        RowToRead(
            row["example_id"],
            "\n".join(str(row[column] or "") for column in datasets[row["dataset"]].text_columns),
            str(row["label"]),
            why(row),
        )
        for row in known.head(most).iter_rows(named=True)
    )


# As many as are read before anything else, and of these with one and the same reason.
MOST_ROWS = 10
_MOST_ALIKE = 3


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
    """The rows as the page shows them: of those with the same reason the first three."""
    columns = (Column("text", "example", "prose"), Column("label", "label", "data"), Column("why", "why"))
    alike = Counter[str]()
    kept = []
    for row in rows:
        alike[row.why] += 1
        if alike[row.why] <= _MOST_ALIKE:
            kept.append(row)
    shown = tuple({"text": row.text, "label": row.label, "why": row.why} for row in kept)
    return Table("first_rows", "Rows to look at first", columns, shown, file="examples")


def examples_read(examples: pl.DataFrame) -> list[tuple[int, float, str]]:
    """(position, bits, part) of the rows that every reader of a part gets right, most bits first, each row once."""
    found = [
        (bits, position, part.replace("_only", ""))
        for part in (name.removeprefix("pvi_") for name in examples.columns if name.startswith("pvi_"))
        # Of the right label's probability alone nobody knows what was named.
        if part.endswith("_only") and f"right_{part}" in examples.columns
        for position, (bits, right) in enumerate(examples.select(f"pvi_{part}", f"right_{part}").iter_rows())
        if bits is not None and bits > 0 and right == 1
    ]
    best: dict[int, tuple[float, str]] = {}
    for bits, position, part in sorted(found, key=lambda each: (-each[0], each[1])):
        best.setdefault(position, (bits, part))
    return [(position, bits, part) for position, (bits, part) in best.items()]


EXAMPLES = "examples"
_LONGEST = 90


def issues_of(findings: Sequence[Finding]) -> tuple[Issue, ...]:
    """What each question found to be wrong; of a verdict that names a flaw at least one issue."""
    issues: list[Issue] = []
    for finding in findings:
        own = [*finding.issues, *_of_page(finding)]
        if not own and is_flaw(finding):
            assert finding.verdict is not None
            headline = finding.verdict.headline
            own = [issue(finding, finding.question if headline is None else headline.label, None, "")]
        issues += own
    return tuple(issues)


def issues_of_copies(copies: pl.DataFrame) -> tuple[Issue, ...]:
    """That rows of the evaluation part are copies of each other.

    Args:
        copies: As `row_details.copies_within` gives them.
    """
    own = copies.filter(pl.col("part") == EVALUATION)
    if not own.height:
        return ()
    first = own.row(0, named=True)
    worst = f"{first['example_id']} and {first['copy_id']}: {first['kind']}"
    n, mend = own["example_id"].n_unique(), "Keep one of each, or count the copies as one cluster."
    return (Issue("overlap", "near copies", n, "rows", worst, mend, table="near_copies"),)


def ranked(issues: Iterable[Issue]) -> tuple[Issue, ...]:
    """The gravest verdict first, then the most rows; what no verdict judges stands above what is sound."""
    order = {"": severity("unresolved"), "unsound": severity("unsound"), "caution": severity("caution")}
    return tuple(sorted(issues, key=lambda each: (-order.get(each.verdict, 0), -(each.n_rows or 0))))


def is_flaw(finding: Finding) -> bool:
    """Whether the verdict names a flaw."""
    return finding.verdict is not None and severity(finding.verdict.verdict) >= severity("caution")


def _of_page(finding: Finding) -> Iterable[Issue]:
    page = question_pages().get(finding.question)
    return () if page is None or finding.result is None else page.issues(finding.result, finding)


def issue(
    finding: Finding, kind: str, n: int | None, worst: str, mend: str = "", of: str = "rows", **where: str
) -> Issue:
    """An issue of a question: with its verdict, and its next step where no other mend is given."""
    verdict = finding.verdict
    word, step = ("", "") if verdict is None else (verdict.verdict, verdict.next_step)
    return Issue(finding.question, kind, n, of, _short(worst), mend or step, word, **where)


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1].rstrip()}…"


def row_saying(finding: Finding, words: str) -> str:
    """The first row to read whose reason has these words: what is asked, without choices, and its label."""
    row = next((each for each in finding.first_rows if words in each.why), None)
    if row is None:
        return ""
    asked = row.text.partition("\n– ")[0].splitlines()[-1:] or [row.example_id]
    return f"{asked[0]} → {row.label}"


def issue_of_rows(finding: Finding, kind: str) -> tuple[Issue, ...]:
    """The rows behind a verdict that names a flaw."""
    if not is_flaw(finding) or finding.rows is None:
        return ()
    n = finding.rows.select("dataset", "example_id").n_unique()
    return (issue(finding, kind, n, row_saying(finding, "")),)
