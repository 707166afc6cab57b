"""Which texts of a document are read: of lists and objects all below a name or a path, in JSON lines and Parquet."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from goldassay.core.errors import InputError
from goldassay.kernels import json_lines
from goldassay.kernels.ngram_search import NOTHING
from goldassay.questions.overlap.search.reading import (
    USUAL_FIELDS,
    Pairs,
    Wanted,
    text_of,
    texts_below,
    texts_of_column,
)
from tests.overlap.search.corpora import sought
from tests.overlap.search.test_scan import ITEMS, found_by, rows, same, write_jsonl
from tests.stated import in_order

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


@njit
def _spans(
    data: Any, names: Any, starts: Any, paths: Any, fields: Any, spans: Any, has: Any
) -> Any:  # fmt: skip
    """What `parse_line` finds of one line."""
    stack, active = np.zeros(256, np.uint8), np.zeros((256, fields.size + 1), np.int64)
    return json_lines.parse_line(
        data, 0, data.size - 1, names, starts, paths, fields, spans, has, stack, active, np.zeros(fields.size, np.int64)
    )


@pytest.mark.parametrize(
    ("text", "is_long"),
    [
        ("a b c d e f g h", True),
        ("a b c d e f g", False),
        ("  a  b\nc\td e\r\nf g   ", False),
        ("one\ntwo\nthree\nfour five six seven eight", True),
        ("\u6771" * 16, True),
        ("\u6771" * 13, False),
        ("https://a.example/" + "x" * 90, False),
        ("", False),
    ],
)
@pytest.mark.parametrize("in_ascii", [True, False])
def test_texts_of_eight_words_in_other_fields(text: str, is_long: bool, in_ascii: bool, tmp_path: Path) -> None:
    rows = [{"text": f"{n} words of its own", "a": {"b": [text]}, "c": 1} for n in range(300)]
    lines = [json.dumps(row, ensure_ascii=in_ascii) for row in rows]
    (tmp_path / "a.jsonl").write_text("".join(f"{line}\n" for line in lines))
    pl.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    size = len(text.encode())
    for name in ("a.jsonl", "a.parquet"):
        found = found_by(sought(ITEMS), tmp_path / name)
        assert found.unread == ({"a": 300 * size} if is_long else {})
    assert found_by(sought(ITEMS), tmp_path / "a.jsonl", shard_size=999).unread == found.unread
    # What the text holds, too, is read.
    (tmp_path / "b.jsonl").write_text(json.dumps({"text": f"so {text} on", "a": text}))
    assert found_by(sought(ITEMS), tmp_path / "b.jsonl").unread == {}


NAMES = st.sampled_from(["a", "b", "c", "a.b", "\u00e9", '"'])
VALUES = st.recursive(
    st.none() | st.just(1) | st.sampled_from(["", "x", "\u00e9 y", '"z"', "line\nbreak"]),
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(NAMES, inner), max_size=3).map(Pairs),
    max_leaves=12,
)
FIELDS = st.lists(
    st.sampled_from(["a", "b", "a.b", "a.b.c", "b.c", "a.\u00e9", "\u00e9", "a.a", '".a']),
    min_size=1,
    max_size=4,
    unique=True,
)


def _as_json(value: Any, *, in_ascii: bool) -> str:
    """JSON in which a name may stand twice."""
    if isinstance(value, Pairs):
        said = [(json.dumps(name, ensure_ascii=in_ascii), _as_json(below, in_ascii=in_ascii)) for name, below in value]
        return "{" + ", ".join(map(": ".join, said)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_as_json(below, in_ascii=in_ascii) for below in value) + "]"
    return json.dumps(value, ensure_ascii=in_ascii)


@given(st.lists(st.tuples(NAMES, VALUES), max_size=5).map(Pairs), FIELDS, st.booleans())
def test_the_look_at_bytes_reads_the_same_texts(row: Pairs, fields: list[str], in_ascii: bool) -> None:
    line = _as_json(row, in_ascii=in_ascii).encode()
    assert json.loads(line, object_pairs_hook=Pairs) == row
    spans, has = np.zeros((64, 4), np.int64), np.zeros(len(fields), np.int64)
    status, n, _ = _spans(np.frombuffer(line + b"\n", np.uint8), *Wanted.of(fields), spans, has)
    texts = [
        json.loads(b'"' + line[begin:end] + b'"')
        for number in range(len(fields))
        for begin, end, _, field in spans[:n].tolist()
        if field == number
    ]
    assert "\n".join(texts) == text_of(row, fields)
    assert (status == NOTHING) == bool(texts)
    assert [bool(spans[k, 2]) for k in range(n)] == [b"\\" in line[begin:end] for begin, end, *_ in spans[:n].tolist()]
    own = {name for name, _ in row}
    assert has.tolist() == [name in own or ("." in name and text_of(row, [name]) != "") for name in fields]


def test_any_number_of_texts_is_read(tmp_path: Path) -> None:
    words = ITEMS[0].split(" ")
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"turns": ["other"] * 1000 + words}) + "\n" + json.dumps({"turns": words}) + "\n")
    assert found_by(sought(ITEMS), path, fields=["turns"]).n_found.tolist()[0] == 2


KINDS = st.recursive(
    st.sampled_from([pl.String(), pl.Int64(), pl.Categorical()]),
    lambda inner: st.one_of(
        inner.map(pl.List),
        inner.map(lambda kind: pl.Array(kind, 2)),
        st.lists(st.tuples(st.sampled_from("abc"), inner), min_size=1, max_size=3, unique_by=lambda each: each[0]).map(
            lambda each: pl.Struct(dict(each))
        ),
    ),
    max_leaves=4,
)


def _values(kind: Any) -> st.SearchStrategy[Any]:
    if isinstance(kind, pl.Array):
        return st.none() | st.lists(_values(kind.inner), min_size=2, max_size=2)
    if isinstance(kind, pl.List):
        return st.none() | st.lists(_values(kind.inner), max_size=3)
    if isinstance(kind, pl.Struct):
        return st.none() | st.fixed_dictionaries({field.name: _values(field.dtype) for field in kind.fields})
    return st.none() | (st.integers(0, 9) if kind == pl.Int64 else st.sampled_from(["", "x", "y z"]))


COLUMNS = KINDS.flatmap(lambda kind: st.tuples(st.just(kind), st.lists(_values(kind), max_size=4)))


@given(COLUMNS, st.sampled_from(["", "a", "a.b"]))
def test_columns_have_the_same_texts(column: tuple[Any, list[Any]], path: str) -> None:
    kind, values = column
    names = tuple(path.split(".")) if path else ()
    texts = texts_of_column(pl.col("x"), kind, names)
    expected = ["\n".join(texts_below(value, names)) or None for value in values]
    if texts is None:
        assert not any(expected)
    else:
        frame = pl.DataFrame({"x": pl.Series(values, dtype=kind)})
        assert frame.select(texts.alias("x"))["x"].to_list() == expected
        assert frame[1:].lazy().select(texts.alias("x")).collect()["x"].to_list() == expected[1:]


def test_a_path_that_leads_nowhere(tmp_path: Path) -> None:
    records = [{"messages": chat(text)} for text in ITEMS]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    pl.DataFrame(records).write_parquet(tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        with pytest.raises(InputError, match=in_order("'messages.body'", "are 'messages'", "field")):
            found_by(sought(ITEMS), tmp_path / name, fields=["messages.body"])


def test_how_many_documents_have_each_field(tmp_path: Path) -> None:
    lines = ['{"a": "x"}', '{"a": "", "b": 1}', '{"a": ["x"], "c": {"d": "x"}}', '{"c": {"e": "x"}}', "{broken", ""]
    (tmp_path / "a.jsonl").write_text("\n".join(lines * 50))
    for size in (100, 1 << 20):
        found = found_by(sought(ITEMS), tmp_path / "a.jsonl", fields=["a", "b", "c.d", "f"], shard_size=size)
        assert found.n_with.tolist() == [[150, 50, 50, 0]]
        assert found.names[0][:1] == ("a",)


def test_maps_are_refused(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    kind = pa.struct([("content", pa.string()), ("meta", pa.map_(pa.string(), pa.string()))])
    values = pa.array([{"content": "x", "meta": [("k", text)]} for text in ITEMS], kind)
    parquet.write_table(pa.table({"messages": values}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"'messages\.meta' holds binary or a map"):
        found_by(sought(ITEMS), tmp_path / "a.parquet", fields=USUAL_FIELDS)
    assert found_by(sought(ITEMS), tmp_path / "a.parquet", fields=["messages.content"]).n_documents == len(ITEMS)
