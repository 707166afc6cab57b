from __future__ import annotations

from dataclasses import replace

import polars as pl

from goldassay.core.results import Headline, Verdict, Word
from goldassay.core.sections import Finding, RowToRead
from goldassay.questions.artifacts.result import PatternsResult
from goldassay.questions.leakage.result import MeasuredLeakage
from goldassay.questions.rows import COPY_SCHEMA, issues_of, issues_of_copies, ranked
from goldassay.stats.effects import ACCURACY
from tests.typed import filled


def judged(word: Word) -> Verdict:
    return Verdict(word, "It is.", Headline("the figure", 0.2, 0.1, 0.3, "points"), "Mend it.", "")


def patterns(n: int, word: Word) -> Finding:
    result = filled(PatternsResult, {"difficulty": {"easy": {"n": n, "share": 0.1}}})
    rows = (RowToRead("a", "A dog runs.\nNobody sleeps.", "no", "Its hypothesis has the pattern “Nobody”."),)
    return Finding("artifacts", judged(word), result=result, first_rows=rows)


def leakage(word: Word) -> Finding:
    effect = {"part": "hypothesis", "reader": "probe", "measure": ACCURACY, "low": 0.2, "caution": 0.1, "unsound": 0.3}
    result = filled(MeasuredLeakage, {"effects": {"effects": [effect]}})
    return Finding(
        "leakage", judged(word), result=result, examples={"right_hypothesis_only": pl.Series([1.0, 0.5, 1.0])}
    )


def test_a_flaw_is_an_issue_with_its_rows_and_its_worst_example() -> None:
    (found,) = issues_of([patterns(7, "unsound")])
    assert (found.kind, found.n_rows, found.worst) == ("pattern names the label", 7, "Nobody sleeps. → no")
    (row,) = patterns(7, "unsound").first_rows
    (found,) = issues_of([replace(patterns(7, "unsound"), first_rows=(replace(row, meant="A dog runs."),))])
    assert found.worst == "A dog runs. → no"
    assert (found.mend, found.table, found.filter) == ("Mend it.", "examples", "difficulty=easy")
    (read,) = issues_of([leakage("caution")])
    assert (read.kind, read.n_rows) == ("label readable from the hypothesis alone", 2)
    assert (read.filter, read.mend) == ("hypothesis_only=always right", "Mend it.")
    (read,) = issues_of([leakage("unsound")])
    assert read.mend.startswith("Rewrite the hypothesis of")


def test_what_is_sound_is_no_issue() -> None:
    assert issues_of([patterns(7, "sound"), leakage("unresolved"), Finding("listed", None)]) == ()


def test_every_flaw_has_an_issue() -> None:
    (found,) = issues_of([Finding("added", judged("caution"))])
    assert (found.kind, found.n_rows, found.mend, found.verdict) == ("the figure", None, "Mend it.", "caution")


def test_the_gravest_come_first_then_those_with_most_rows() -> None:
    copies = pl.DataFrame([("a", "evaluation part", "same texts", "b", "no", None)] * 2, COPY_SCHEMA, orient="row")
    found = [
        *issues_of_copies(copies),
        *issues_of([patterns(3, "caution"), leakage("unsound"), patterns(9, "caution")]),
    ]
    assert [(each.question, each.n_rows) for each in ranked(found)] == [
        ("leakage", 2), ("artifacts", 9), ("artifacts", 3), ("overlap", 1),
    ]  # fmt: skip
