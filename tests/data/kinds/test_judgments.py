"""Judgments in each shape: who won, what was shown first, and what cannot be used."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data.kinds.judgments import Judgments, read_judgments
from goldassay.data.reading import read_table
from goldassay.data.table import Table
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path


def read(rows: list[dict[str, Any]], **more: Any) -> Judgments:
    found = read_judgments(Table(pl.DataFrame(rows, infer_schema_length=None), ""), "set", **more)
    assert found is not None
    return found


def told(judgments: Judgments) -> list[tuple[str, bool, float]]:
    """(item, whether a was shown first, what a got)."""
    return judgments.rows.select("item", "a_first", "win").rows()


BOTH = [("q", True, 1.0), ("q", False, 0.0)]
SHAPES: dict[str, list[dict[str, Any]]] = {
    "sides in two columns": [{"item": "q", "winner_unswapped": 1, "winner_swapped": 2}],
    "seats in two columns": [{"pair_id": "q", "decision_1": "A>B", "decision_2": "A>B"}],
    "order and seats": [
        {"item": "q", "judge": "j", "order": "original", "verdict": "A"},
        {"item": "q", "judge": "j", "order": "swapped", "verdict": "A"},
    ],
    "order and sides": [
        {"item": "q", "judge": "j", "order": "ab", "winner": "a"},
        {"item": "q", "judge": "j", "order": "ba", "winner": "b"},
    ],
    "a flag of swapping": [
        {"item": "q", "judge": "j", "swapped": False, "verdict": 1},
        {"item": "q", "judge": "j", "swapped": True, "verdict": 1},
    ],
    "models as shown": [
        {"question_id": "q", "judge": "j", "model_a": "x", "model_b": "y", "winner": "model_a"},
        {"question_id": "q", "judge": "j", "model_a": "y", "model_b": "x", "winner": "model_a"},
    ],
    "a column for each winner": [
        {
            "question_id": "q",
            "judge": "j",
            "model_a": "x",
            "model_b": "y",
            "winner_a": 1,
            "winner_b": 0,
            "winner_tie": 0,
        },
        {
            "question_id": "q",
            "judge": "j",
            "model_a": "y",
            "model_b": "x",
            "winner_a": 1,
            "winner_b": 0,
            "winner_tie": 0,
        },
    ],
    "both games of FastChat": [
        {
            "question_id": "q",
            "model_1": "x",
            "model_2": "y",
            "g1_winner": "model_1",
            "g2_winner": "model_2",
            "judge": ["j", "pair-v2"],
            "turn": 1,
        },
    ],
    "names as shown": [
        {"item": "q", "judge": "j", "first": "x", "second": "y", "winner": "first"},
        {"item": "q", "judge": "j", "first": "y", "second": "x", "winner": "first"},
    ],
    "the name of what was shown first": [
        {"item": "q", "judge": "j", "model_a": "x", "model_b": "y", "first": "x", "winner": "model_a"},
        {"item": "q", "judge": "j", "model_a": "x", "model_b": "y", "first": "y", "winner": "model_b"},
    ],
    "names of the sides": [
        {"item": "q", "judge": "j", "a": "x", "b": "y", "order": "ab", "verdict": "x"},
        {"item": "q", "judge": "j", "a": "x", "b": "y", "order": "ba", "verdict": "y"},
    ],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_recognized_unaided(shape: str) -> None:
    assert told(read(SHAPES[shape])) == BOTH


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_files_are_read_unaided(ending: str, tmp_path: Path) -> None:
    frame, path = pl.DataFrame(SHAPES["order and seats"]), tmp_path / f"set.{ending}"
    if ending == "csv":
        frame.write_csv(path)
    elif ending == "parquet":
        frame.write_parquet(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in frame.iter_rows(named=True)))
    found = read_judgments(read_table(path, "auto"), "set")
    assert found is not None
    assert told(found) == BOTH


LENGTHS: dict[str, Any] = {"item": "q", "judge": "j", "order": "original", "winner": "A", "len_b": 10}


@pytest.mark.parametrize("length", [20, 20.0, "20", " 20"])
def test_lengths_are_numbers_also_where_a_file_has_only_texts(length: Any) -> None:
    assert read([{**LENGTHS, "len_a": length}]).rows["length"].to_list() == [pytest.approx(math.log(2))]


@pytest.mark.parametrize("length", [None, "", 0, -5, math.inf, math.nan])
def test_what_is_no_length_of_a_text_is_left_out(length: Any) -> None:
    assert read([{**LENGTHS, "len_a": length}]).rows["length"].to_list() == [None]


@pytest.mark.parametrize("length", ["long", True, [20], {"n": 20}])
def test_a_length_that_is_no_number_is_named(length: Any) -> None:
    with pytest.raises(InputError, match="a length is a number") as refused:
        read([{**LENGTHS, "len_a": length}])
    assert (refused.value.column, refused.value.row) == ("len_a", 1)


def test_lengths_people_and_groups_are_read() -> None:
    rows = [
        {"id": 7, "subset": "s", "judge": "j", "order": order, "verdict": "A", "model_a": "y", "model_b": "x",
         "response_a": "four words are here", "response_b": "none here at all of it", "human": 2}
        for order in ("ab", "ba")
    ] * 3  # fmt: skip
    found = read(rows)
    row = found.rows.row(0, named=True)
    # The sides are told by their names, whichever stands first: a is x here, the column b.
    assert (row["item"], row["a"], row["b"], row["a_first"], row["win"], row["people"]) == (
        "s/7",
        "x",
        "y",
        False,
        0,
        1,
    )
    assert row["length"] > 0


def test_most_people_decide_and_whether_all_agree_is_kept() -> None:
    rows = [
        {"item": item, "winner_ab": "A", "winner_ba": "A", "cmp_key": "one_other",
         **{f"annotator{at}": who for at, who in enumerate(said)}}
        for item, said in (("q", (1, 1, 2)), ("r", (0, 0, 0)))
    ]  # fmt: skip
    found = read(rows).rows.select("item", "people", "agreed").unique(maintain_order=True).rows()
    assert found == [("q", 1.0, False), ("r", 0.5, True)]


def test_codes_of_people_that_may_be_read_two_ways_are_asked_for() -> None:
    """0 is the tie in PandaLM's files, which have `cmp_key`; 2 is in others."""
    rows = [
        {"item": str(at), "winner_ab": "A", "winner_ba": "A", "annotator1": at % 3, "annotator2": at % 3}
        for at in range(6)
    ]
    with pytest.raises(InputError, match="first, second and tie") as caught:
        read(rows)
    assert caught.value.mend.count("map='annotator1+annotator2=") == 6
    assert "=0:first,1:second,2:tie'" in caught.value.mend
    sides = {0: "first", 1: "second", 2: "tie"}
    named = [{**row, "annotator1": sides[row["annotator1"]], "annotator2": sides[row["annotator2"]]} for row in rows]
    assert read(named).rows["people"].unique(maintain_order=True).to_list() == [1.0, 0.0, 0.5]


def test_an_order_has_two_values() -> None:
    rows = [{"item": "q", "judge": "j", "order": order, "verdict": "A"} for order in ("ab", "ba", "cd")]
    with pytest.raises(InputError, match=in_order("two values", "3: 'ab', 'ba', 'cd'")) as caught:
        read(rows)
    assert "\n" not in str(caught.value)


def test_what_cannot_be_used_is_listed() -> None:
    rows = [
        {"item": "q", "judge": "j", "order": "ab", "verdict": "A"},
        {"item": "q", "judge": "j", "order": None, "verdict": "A"},
        {"item": "q", "judge": "j", "order": "ba", "verdict": None},
        {"item": "q", "judge": "j", "order": "ba", "verdict": "no idea"},
    ]
    found = read(rows)
    assert len(found) == 1
    assert found.n_unused == 3
    assert found.problems["reason"].to_list() == [
        "nothing says which side was shown first",
        "there is no verdict",
        "the verdict names neither side",
    ]


def test_verdicts_that_name_neither_side_are_refused_in_one_line() -> None:
    rows = [{"item": "q", "judge": "j", "order": "ab", "verdict": "maybe"}] * 3
    with pytest.raises(InputError, match="the verdict names neither side") as caught:
        read(rows)
    assert "\n" not in str(caught.value)


def test_roles_that_are_named_are_taken() -> None:
    rows = [{"nr": 1, "one": "B", "two": "B", "who": "x"}]
    as_seats = read(rows, roles={"seat": "one+two", "item": "nr", "judge": "who"})
    assert [row[2] for row in told(as_seats)] == [0.0, 1.0]
    assert as_seats.judges == ["x"]
    assert as_seats.named
    as_sides = read(rows, roles={"winner": "one+two", "item": "nr"})
    assert [row[2] for row in told(as_sides)] == [0.0, 0.0]
    with pytest.raises(InputError, match="there is no column 'three'"):
        read(rows, roles={"winner": "one+three"})


def pairs_judged_twice(n: int, *, turned: bool) -> list[dict[str, Any]]:
    """Texts in both orders by one judge for whom the first seat always wins; `turned`: as they were shown."""
    rows = []
    for item in range(n):
        one, other = f"the first text of number {item} has some words", f"and so has the second one of {item}"
        for place in (0, 1):
            shown = (other, one) if place and turned else (one, other)
            rows.append({"prompt": f"What of {item}?", "response_a": shown[0], "response_b": shown[1], "judge_id": "j",
                         "winner": "AB"[place and not turned], "shown": ("x", "y")[place]})  # fmt: skip
    return rows


def test_texts_in_both_orders_are_taken_as_shown() -> None:
    found = read(pairs_judged_twice(30, turned=True))
    assert found.judges == ["j"]
    assert found.knows_order
    # The side whose text comes first in alphabetical order is a.
    assert told(found)[:2] == [("What of 0?", False, 0.0), ("What of 0?", True, 1.0)]
    assert any("are taken to stand in the order shown" in said for said in found.decisions)


def test_pairs_judged_twice_of_which_nobody_knows_the_order_are_refused_with_the_column_to_name() -> None:
    rows = pairs_judged_twice(30, turned=False)
    with pytest.raises(InputError, match="judged the same pairs more than once") as caught:
        read(rows)
    assert "shown" in str(caught.value)
    assert "\n" not in str(caught.value)
    found = read(rows, roles={"order": "shown", "winner": "winner"})
    assert [row[1:] for row in told(found)[:2]] == [(True, 1.0), (False, 0.0)]
    assert any("'x' is taken for the order as given" in said for said in found.decisions)


def test_names_of_seats_beside_verdicts_on_columns_are_refused() -> None:
    rows = [
        {**row, "first": one, "second": other}
        for row, (one, other) in zip(pairs_judged_twice(30, turned=False), [("x", "y"), ("y", "x")] * 30, strict=True)
    ]
    with pytest.raises(InputError, match=in_order("'first' and 'second'", "shown first")):
        read(rows)


def test_preferences_with_an_annotator_are_no_judgments() -> None:
    once = pairs_judged_twice(30, turned=False)[::2]
    short = [{**row, "response_a": "yes", "response_b": "no"} for row in pairs_judged_twice(30, turned=False)[::2]]
    for rows in (once, once * 2, short):
        assert read_judgments(Table(pl.DataFrame(rows), ""), "set") is None


def test_other_tables_are_no_judgments() -> None:
    for columns in (
        {"premise": ["a b"], "hypothesis": ["c d"], "label": ["yes"]},
        {"text": ["a b c d"], "label": [1]},
        {"prompt": ["p"], "chosen": ["c"], "rejected": ["r"]},
        {"input": ["p"], "output_1": ["c"], "output_2": ["r"], "label": [1]},
        {"question": ["p"], "choices": [["a", "b"]], "answer": [1]},
        {"text": ["a"], "decision": ["A"]},
        {"text": ["a"], "annotator": ["x"], "choice": ["A"]},
    ):
        assert read_judgments(Table(pl.DataFrame(columns), ""), "none") is None


@pytest.mark.parametrize("order", [["ab"], {"first": "a"}])
def test_an_order_is_no_list(order: object) -> None:
    rows = [{"item": item, "judge": "j", "order": order, "verdict": "A"} for item in "pq"]
    with pytest.raises(InputError, match="holds lists or objects"):
        read(rows)
