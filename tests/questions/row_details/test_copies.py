"""Copies of rows, against a plain loop over all pairs."""

from __future__ import annotations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from goldassay.questions.row_details.copies import MOST_COPIES, NEAR, SAME, copies_within

LONG = "The two children in the red boat were rowing over the quiet lake toward the old town"
ROWS = [
    (LONG + ".", "They are on the water."),
    (LONG + " again.", "They are on the water."),
    (LONG.upper() + ".", "They  are on the water."),
    (LONG + ".", "Nobody sleeps."),
    ("A dog barks.", "They are on the water."),
]


def found(rows: list[tuple[str, str]]) -> list[tuple[str, str, str]]:
    frame = pl.DataFrame(rows, schema=["a", "b"], orient="row")
    ids = pl.Series([str(at) for at in range(len(rows))])
    table = copies_within([frame["a"], frame["b"]], ids, pl.Series(["x"] * len(rows)))
    return table.select("example_id", "kind", "copy_id").rows()


def test_each_text_must_be_the_same_or_nearly_so() -> None:
    assert found(ROWS) == [
        ("0", SAME, "2"), ("0", NEAR, "1"), ("1", NEAR, "2"), ("1", NEAR, "0"), ("2", SAME, "0"), ("2", NEAR, "1")
    ]  # fmt: skip


def test_no_row_is_its_own_copy_and_none_is_nothing() -> None:
    assert found([("a", "b")]) == []
    assert found([("a", "b"), ("c", "d")]) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["a", "A ", "b"]), st.sampled_from(["x", "y"])), min_size=1, max_size=12))
def test_exact_copies_are_those_of_a_loop(rows: list[tuple[str, str]]) -> None:
    spelled = [tuple(" ".join(text.lower().split()) for text in row) for row in rows]
    wanted = []
    for at, row in enumerate(spelled):
        others = [(at + step) % len(rows) for step in range(1, len(rows))]
        wanted += [(str(at), SAME, str(each)) for each in others if spelled[each] == row][:MOST_COPIES]
    assert [each for each in found(rows) if each[1] == SAME] == wanted
