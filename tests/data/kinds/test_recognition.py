"""Which kind a table is of: by what speaks for each, never by which of them can be read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.data.column_names import ROLES, names_of, normalized
from goldassay.data.kinds import DATA_KINDS
from goldassay.data.kinds.choices import Choices
from goldassay.data.kinds.kind import Kind, Match, Strength
from goldassay.data.kinds.recognition import recognize
from goldassay.data.table import Table
from goldassay.runs.kinds.opening import ALL_KINDS
from tests.stated import in_order

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

N = 40
PAIR = {"premise": "one text", "hypothesis": "another text", "label": "yes"}
CHOICES: dict[str, Any] = {"question": "What is it then?", "choices": ["a", "b"], "answer": 0}
PREFERENCE = {"chosen": "this is a better text", "rejected": "that is a worse one"}
JUDGMENT = {"item": "i", "judge": "j", "order": "ab", "winner": "A"}


def table(row: Mapping[str, Any], **varied: list[Any]) -> Table:
    rows = [{**row, **{name: each[at % len(each)] for name, each in varied.items()}} for at in range(N)]
    return Table(pl.DataFrame(rows), "jsonl")


def kind_of(of: Table, columns: Mapping[str, str] | None = None) -> str:
    return recognize(of, columns or {}, DATA_KINDS, "data.jsonl").best().kind.name


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (PAIR, "labelled texts"),
        ({"text": "one text", "label": "yes"}, "labelled texts"),
        (CHOICES, "choices"),
        ({"prompt": "What?", **PREFERENCE}, "preferences"),
        (JUDGMENT, "judgments"),
        # What is judged are pairs of responses: the judge says more of these columns.
        ({**JUDGMENT, "response_a": "this is one text", "response_b": "that is another"}, "judgments"),
        # All that a labelled text would be read by is a part of an item, whose choices nobody would read.
        ({"question": "What is it then?", "a": "red", "b": "blue", "label": "yes"}, "choices"),
        ({**JUDGMENT, "question": "What?", "a": "x", "b": "y", "label": "yes"}, "judgments"),
    ],
)
def test_each_kind_is_known_by_its_columns(row: dict[str, Any], name: str) -> None:
    varied = {"label": ["yes", "no"]} if "label" in row else {}
    assert kind_of(table(row, **varied)) == name


def test_a_match_says_what_speaks_for_it() -> None:
    answers = {"answer_a": ["x y", "z a", "b c"], "answer_b": ["d e", "f g", "h i"]}
    match = recognize(table(PAIR, label=["yes", "no"], **answers), {}, DATA_KINDS).best()
    assert match.roles == {"premise": "premise", "hypothesis": "hypothesis", "label": "label"}
    assert match.strength == Strength.PARTLY
    assert "'answer_a', 'answer_b' look like choices" in match.against[0]
    assert recognize(table({"text": "one text"}), {}, DATA_KINDS).best().lacking == ("label",)


@pytest.mark.parametrize(
    ("row", "varied", "said"),
    [
        ({"text": "t", "label": "a"}, {}, "1 class"),
        ({"text": "t", "label": 0.5}, {"label": [0.5, 1.5]}, "scores with fractions"),
        ({"text": "t", "label": "a", "id": "x"}, {"label": ["a", "b"]}, "are missing or repeat"),
        ({"text": "t", "gold": "a", "gold_label": "b"}, {}, "could both be the label"),
    ],
)
def test_what_keeps_texts_from_being_read_speaks_against_them(
    row: dict[str, Any], varied: dict[str, list[Any]], said: str
) -> None:
    match = recognize(table(row, **varied), {}, DATA_KINDS).best()
    assert match.strength == Strength.PARTLY
    assert said in " ".join(match.against)


def test_two_kinds_that_fit_equally_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    table({**CHOICES, **PREFERENCE}, question=[f"What is {at}?" for at in range(N)]).frame.write_ndjson(path)
    for ask in (goldassay.audit, goldassay.measure_leakage):
        with pytest.raises(InputError) as caught:
            ask(path)
        line = str(caught.value)
        assert re.search(in_order("two kinds", "preferences", "'chosen', 'rejected'"), line)
        assert "items with choices in 'choices'" in line
        assert f"goldassay.look({str(path)!r})" in line
        assert "\n" not in line
    assert kind_of(Table(pl.read_ndjson(path), ""), {"chosen": "chosen", "rejected": "rejected"}) == "preferences"


def test_no_kind_is_one_line_that_says_what_each_lacks() -> None:
    with pytest.raises(InputError) as caught:
        kind_of(Table(pl.DataFrame({"x": [1, 2], "y": [3, 4]}), ""))
    line = str(caught.value)
    assert "data.jsonl: the columns 'x', 'y' are of no kind" in line
    for kind in DATA_KINDS:
        assert f"{kind.rows} lack {kind.wants}" in line
    assert "goldassay.look('data.jsonl')" in line


def test_a_role_of_one_kind_leaves_the_others_out() -> None:
    assert kind_of(table({**CHOICES, **PREFERENCE}), {"choices": "choices"}) == "choices"
    with pytest.raises(InputError, match=in_order("labelled texts", "no role 'rejected'", "items with choices")):
        kind_of(table({"x": "y"}), {"rejected": "x"})


class _Raising(Choices):
    """A kind whose reader fails while it looks at the columns."""

    name: ClassVar[str] = "raising"

    def recognize(self, table: Table, columns: Mapping[str, str]) -> Match | None:
        raise InputError(f"the first of {table.frame.height} cells is damaged, whatever {columns} say")


def test_a_reader_that_raises_is_an_error_and_no_other_kind_is_taken() -> None:
    kinds: tuple[Kind, ...] = (*DATA_KINDS, _Raising())
    with pytest.raises(InputError, match=r"data\.jsonl: the first of 40 cells is damaged"):
        recognize(table(PAIR, label=["yes", "no"]), {}, kinds, "data.jsonl")


def test_a_kind_that_fails_ends_the_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "pairs.jsonl"
    table(PAIR, label=["yes", "no"]).frame.write_ndjson(path)
    monkeypatch.setattr(Choices, "recognize", _Raising.recognize)
    with pytest.raises(InputError, match="the first of 40 cells is damaged"):
        goldassay.audit(path)


def test_each_kind_is_asked_once() -> None:
    asked: list[str] = []

    class _Counting(Choices):
        def recognize(self, table: Table, columns: Mapping[str, str]) -> Match | None:
            asked.append(self.name)
            return super().recognize(table, columns)

    found = recognize(table(CHOICES), {}, (_Counting(),))
    assert found.best() is found.best()
    assert asked == ["choices"]


def test_every_role_of_every_kind_stands_in_one_table() -> None:
    assert {role for kind in ALL_KINDS for role in kind.roles} <= ROLES.keys()
    assert {"configuration", "weight", "date", "tie", "status", "trial"} <= ROLES.keys()
    assert names_of("winner", "judgments")[0] == "winner"
    names = [name for role in ROLES.values() for each in role.names.values() for name in each.split()]
    assert names == list(map(normalized, names))
