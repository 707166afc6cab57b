"""Copies of rows, against a plain loop over all pairs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

import goldassay
from goldassay.questions.rows import MOST_COPIES, NEAR, SAME, copies_in_training, copies_within

if TYPE_CHECKING:
    from pathlib import Path

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


def test_training_rows_that_hold_a_row_are_those_that_overlap_found() -> None:
    places = pl.DataFrame(
        {"id": ["7", "7", "7", "8", "9"], "kind": ["whole item", "whole item", "one part", "whole item", "whole item"],
         "place": ["training part", "training part", "training part", "web.jsonl", "training part"],
         "row": [2, 2, 1, 1, 9]}
    )  # fmt: skip
    texts = [pl.Series(["p1", "p2"]), pl.Series(["h1", None])]
    table = copies_in_training(places, texts, pl.Series([100, 200]), pl.Series(["yes", "no"]))
    assert table.rows() == [("7", "training part", "holds it", "200", "no", "p2")]
    assert copies_in_training(None, texts, pl.Series([100, 200]), pl.Series(["yes", "no"])).height == 0


def test_an_audit_names_training_rows_that_hold_a_test_row(tmp_path: Path) -> None:
    nouns = ("dog", "man", "girl", "boat", "tree", "cat", "bus", "clown", "nurse", "king")
    rows = [
        {"premise": f"The {a} near the old {b} looked at the quiet {c} all day long before going home again.",
         "hypothesis": f"A {a} saw the {c} and then the {b}.", "label": ("yes", "no")[(at // 7) % 2], "id": f"r{at}"}
        for at, (a, b, c) in enumerate(itertools.product(nouns, repeat=3))
    ]  # fmt: skip
    train, test = rows[:400], [*rows[700:800], {**rows[3], "id": "copy"}]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"text": "nothing of this"}\n')
    found = goldassay.audit(train, test, corpus=corpus).tables["near_copies"]
    held = found.filter(part="training part", example_id="copy", kind="holds it")
    assert held.select("copy_id", "label").rows() == [("r3", rows[3]["label"])]
