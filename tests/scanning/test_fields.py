"""Which texts of a document are read: of lists and objects all below a name or a path, in JSON lines and Parquet."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.scanning.fields import USUAL_FIELDS, Pairs, fields_in, keys_of, text_of, texts_below
from tests.scanning.corpora import sought
from tests.scanning.test_scan import ITEMS, found_by, rows, same, write_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def halves(text: str) -> tuple[str, str]:
    words = text.split(" ")
    return " ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])


def chat(text: str) -> list[dict[str, Any]]:
    first, second = halves(text)
    return [{"role": "1", "content": first, "n": 1}, {"role": "1", "content": second, "n": None}]


NESTED: list[tuple[Callable[[str], dict[str, Any]], Sequence[str]]] = [
    (lambda text: {"messages": chat(text)}, ("messages.content",)),
    (lambda text: {"messages": chat(text)}, USUAL_FIELDS),
    (lambda text: {"conversations": [{"value": each} for each in halves(text)]}, USUAL_FIELDS),
    (lambda text: {"turns": list(halves(text))}, USUAL_FIELDS),
    (lambda text: {"text": list(halves(text))}, ("text",)),
    (lambda text: {"data": {"id": 1, "text": text}}, ("data.text",)),
    (lambda text: {"data": {"id": 1, "text": text}}, ("data",)),
    (lambda text: {"a": {"b": [{"c": [each]} for each in halves(text)]}}, ("a.b.c",)),
    (lambda text: dict(zip(("q", "data"), (halves(text)[0], {"a": halves(text)[1]}), strict=True)), ("q", "data.a")),
    (lambda text: {"data.text": text, "data": 1}, ("data.text",)),
]


@pytest.mark.parametrize(("form", "fields"), NESTED, ids=range(len(NESTED)))
def test_nested_texts_are_found_as_the_same_texts_in_one_field(
    form: Callable[[str], dict[str, Any]], fields: Sequence[str], tmp_path: Path
) -> None:
    known, texts = sought(ITEMS), rows(40)
    joined = [text_of(Pairs(json.loads(json.dumps(form(text)), object_pairs_hook=Pairs)), fields) for text in texts]
    plain = found_by(known, write_jsonl(tmp_path / "plain.jsonl", joined))
    assert plain.matches.height > 3
    lines = "".join(json.dumps(form(text)) + "\n" for text in texts)
    (tmp_path / "a.jsonl").write_text(lines)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    pl.DataFrame([form(text) for text in texts]).write_parquet(tmp_path / "a.parquet", row_group_size=10)
    for name in ("a.jsonl", "a.jsonl.gz", "a.parquet"):
        found = found_by(known, tmp_path / name, fields=fields)
        assert same(found, plain, without=["offset"])
        assert (found.n_with.sum(0) == [40 * (name in form("a") or "." in name) for name in fields]).all()
    assert same(found_by(known, tmp_path / "a.jsonl", fields=fields, shard_size=500), plain, without=["offset"])


def test_texts_below() -> None:
    value = {"b": ["x", "", {"c": "y", "d": [1, None, b"z"]}], "a": "z"}
    assert list(texts_below(value)) == ["x", "y", "z"]
    assert list(texts_below(Pairs(value.items()))) == ["x", "y", "z"]
    assert list(texts_below(value, ("b", "c"))) == ["x", "y"]
    assert list(texts_below(value, ("b", "e"))) == ["x"]
    assert list(texts_below(1)) == []


def test_names_and_paths() -> None:
    assert keys_of(["a.b", "a.c", "text"]) == ("a.b", "a", "a.c", "text")
    row = Pairs([("a", {"b": "x"}), ("c.d", "y"), ("c", {"d": "z"})])
    assert fields_in(row, ["a.b", "a.e", "c.d", "a"]) == [True, False, False, False]


def test_a_path_that_leads_nowhere(tmp_path: Path) -> None:
    records = [{"messages": chat(text)} for text in ITEMS]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    pl.DataFrame(records).write_parquet(tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        with pytest.raises(InputError, match=r"text in 'messages\.body'; the (fields|columns) are 'messages'.*field"):
            found_by(sought(ITEMS), tmp_path / name, fields=["messages.body"])


def test_how_many_documents_have_each_field(tmp_path: Path) -> None:
    lines = ['{"a": "x"}', '{"a": "", "b": 1}', '{"a": ["x"], "c": {"d": "x"}}', '{"c": {"e": "x"}}', "{broken", ""]
    (tmp_path / "a.jsonl").write_text("\n".join(lines * 50))
    for size in (100, 1 << 20):
        found = found_by(sought(ITEMS), tmp_path / "a.jsonl", fields=["a", "b", "c.d", "f"], shard_size=size)
        assert found.n_with.tolist() == [[150, 50, 50, 0]]
        assert found.names[0][:1] == ("a",)
