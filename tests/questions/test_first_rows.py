"""The rows to look at first: of every question that found a flaw, the worst question first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.core.results import Verdict
from goldassay.core.sections import Finding, RowToRead
from goldassay.data.dataset import Dataset
from goldassay.questions.rows import MOST_ROWS, first_rows, rows_to_read, table_of_rows

if TYPE_CHECKING:
    from goldassay.core.results import Word


def finding(question: str, word: Word, *ids: str) -> Finding:
    rows = tuple(RowToRead(each, f"text {each}", "yes", f"{question} says so.") for each in ids)
    return Finding(question, Verdict(word, "", None, "", ""), first_rows=rows)


def test_the_most_severe_first_and_in_turn() -> None:
    found = first_rows([finding("mild", "caution", "a", "b"), finding("grave", "unsound", "c", "d", "e")])
    assert [row.example_id for row in found] == ["c", "a", "d", "b", "e"]


def test_what_is_sound_has_none() -> None:
    assert first_rows([finding("clean", "sound", "a"), Finding("listed", None)]) == ()


def test_a_row_that_two_name_has_both_reasons_and_one_place() -> None:
    found = first_rows([finding("one", "unsound", "a", "b"), finding("two", "unsound", "b", "c")])
    assert [(row.example_id, row.why) for row in found] == [
        ("a", "one says so."), ("b", "two says so. one says so."), ("c", "two says so."),
    ]  # fmt: skip


def test_there_are_ten_at_most_and_three_of_a_reason() -> None:
    found = first_rows([finding("long", "unsound", *map(str, range(30)))])
    assert [row.example_id for row in found] == list(map(str, range(MOST_ROWS)))
    assert [row["text"] for row in table_of_rows(found).rows] == ["text 0", "text 1", "text 2"]


def test_rows_have_their_texts() -> None:
    data = Dataset.from_frame([{"premise": "It rains.", "hypothesis": "It is wet.", "label": "yes", "id": "r1"}])
    (row,) = rows_to_read(data, [(0, "premise", "Because.")])
    assert row == RowToRead("r1", "It rains.\nIt is wet.", "yes", "Because.", meant="It rains.")
    assert rows_to_read(data, [(0, "all texts", "Because.")])[0].meant == ""
