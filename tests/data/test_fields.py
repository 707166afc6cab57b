"""Columns by other names: fields within objects by dots, columns by their place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import goldassay
from goldassay.core.errors import InputError
from goldassay.data.fields import name_fields, with_keys
from goldassay.data.table import unnested
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

N = 40
OBJECTS = pl.DataFrame(
    {
        "labels": [{"label": 1.5, "real-label": 2, "deep": {"er": "x"}}, {"label": 0.5, "real-label": 3, "deep": None}],
        "as_json": ['{"a": 1, "b": {"c": "d"}}', '{"a": 2}'],
        "messages": [[{"content": "one"}, {"content": "two"}], [{"content": "three"}]],
        "a.b": ["exact", "name"],
        "a+b": ["one", "column"],
    }
)


@pytest.mark.parametrize(
    ("named", "values"),
    [
        ("labels.label", [1.5, 0.5]),
        ("labels.real-label", [2, 3]),
        ("labels.deep.er", ["x", None]),
        ("as_json.a", [1, 2]),
        ("as_json.b.c", ["d", None]),
        ("messages.content", ["one\ntwo", "three"]),
        ("a.b", ["exact", "name"]),
        ("a+b", ["one", "column"]),
    ],
)
def test_a_field_is_a_column(named: str, values: list[Any]) -> None:
    frame, columns = name_fields(OBJECTS, {"text": named})
    assert columns == {"text": named}
    assert frame[named].to_list() == values
    assert frame.columns[: OBJECTS.width] == OBJECTS.columns


def test_a_place_is_a_column_and_several_are_joined() -> None:
    assert name_fields(OBJECTS, {"id": "#2+labels.label", "text": "#5"})[1] == {
        "id": "as_json+labels.label", "text": "a+b",
    }  # fmt: skip
    with pytest.raises(InputError, match=in_order("column #6", "#5")):
        name_fields(OBJECTS, {"text": "#6"})


def test_a_field_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match=in_order("'nope'", "label, real-label, deep.er")):
        name_fields(OBJECTS, {"text": "labels.nope"})


def write(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def test_every_reader_takes_fields(tmp_path: Path) -> None:
    texts = [{"text": f"a text {at}", "of": {"label": "ab"[at % 2], "n": at}} for at in range(N)]
    path = write(tmp_path / "t.jsonl", texts)
    dataset = goldassay.read_dataset(path, columns={"label": "of.label", "id": "of.n"})
    assert dataset.label_names == ("a", "b")
    assert dataset.examples["example_id"].to_list() == [str(at) for at in range(N)]
    asked = [{"q": {"stem": f"What is {at}?"}, "choices": ["a", "b"], "key": {"at": at % 2}} for at in range(N)]
    found = goldassay.look(write(tmp_path / "c.jsonl", asked), columns="question=q.stem,answer=key.at")
    assert (found.kind, found.roles["question"]) == ("choices", "q.stem")
    solved = [{"id": at, "m1": {"right": at % 2 == 0}, "m2": {"right": at % 3 == 0}} for at in range(N)]
    runs = goldassay.read_runs(write(tmp_path / "s.jsonl", solved), columns={"example_id": "id", "score": "m1.right"})
    assert runs.scores.mean() == 0.5


def test_labels_that_are_objects_or_lists_are_refused_with_the_fields(tmp_path: Path) -> None:
    path = write(tmp_path / "o.jsonl", [{"text": f"t {at}", "label": {"a": at % 2, "b": "x"}} for at in range(N)])
    with pytest.raises(InputError, match=r"column 'label': .*objects.* label\.a, label\.b"):
        goldassay.audit(path)
    assert goldassay.read_dataset(path, columns={"label": "label.a"}).label_names == ("0", "1")
    path = write(tmp_path / "l.jsonl", [{"text": f"t {at}", "label": [at % 2, 1 + at % 3]} for at in range(N)])
    with pytest.raises(InputError, match="the column holds lists, not one label per row"):
        goldassay.audit(path)


def test_a_key_of_several_columns_is_missing_where_one_is() -> None:
    frame = pl.DataFrame({"a": ["x", "x", None, " "], "b": [1, 2, 1, 1], "o": [{"c": n % 2} for n in range(4)]})
    keyed = with_keys(frame, ["a + b", "o.c", "o.c+b", "a", "#2", "gone", "a+gone"])
    assert keyed.columns == ["a", "b", "o", "a + b", "o.c", "o.c+b"]
    assert keyed["a + b"].to_list() == ["x + 1", "x + 2", None, None]
    assert keyed["o.c"].to_list() == [0, 1, 0, 1]
    assert keyed["o.c+b"].to_list() == ["0 + 1", "1 + 2", "0 + 1", "1 + 1"]
    with pytest.raises(InputError, match="its fields are c"):
        with_keys(frame, ["o.d"])


def test_objects_in_lists_are_rows_where_each_row_has_a_list() -> None:
    rows = pl.DataFrame({"a": [1, 2], "items": ['[{"b": 3}, {"b": 4}]', '[{"b": 5}]']})
    within = unnested(rows)
    assert within is not None
    assert within[0].to_dicts() == [{"a": 1, "b": 3}, {"a": 1, "b": 4}, {"a": 2, "b": 5}]
    assert unnested(rows.with_columns(items=pl.lit(None, pl.String))) is None
