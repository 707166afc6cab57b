"""What is wrong with the rows, in a ranked list: a kind, how many rows, the worst example, and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goldassay.core.document import Issue
from goldassay.core.escaping import one_line
from goldassay.core.verdicts import severity
from goldassay.questions.checks import question_pages
from goldassay.questions.row_details import EVALUATION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from goldassay.core.finding import Finding

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
