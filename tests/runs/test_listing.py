"""A list of runs reads headers and key columns, and says what reading the whole files says."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import zstandard

from goldassay.core.errors import InputError
from goldassay.runs.adapters import long_table, numpy_arrays, squad
from goldassay.runs.key_columns import key_columns
from goldassay.runs.reading import list_runs
from goldassay.runs.runs import Runs
from goldassay.runs.store import METADATA_KEY, write_runs
from tests.stated import in_order

if TYPE_CHECKING:
    from collections.abc import Callable

FIXTURES = Path(__file__).parent / "fixtures"
TABLE = pl.DataFrame(
    [
        {"id": f"e{i}", "model": model, "seed": seed, "step": step, "label": "b", "prediction": "a", "text": "x, y"}
        for model in ("small", "large")
        for seed in (7, 1)
        for step in (20, 10)
        for i in range(5 if model == "small" else 4)
    ]
)  # fmt: skip


WIDE = pl.DataFrame(
    {
        "id": [f"e{i}" for i in range(6)],
        "label": ["a", "b"] * 3,
        "pred_bert_seed_1": ["a"] * 6,
        "pred_bert_seed_2": [None, *["b"] * 5],
        "correct_bert-hypothesis": [0, 1] * 3,
    }
)
NUMBERED = WIDE.select("id", "label", seed_1="pred_bert_seed_1", seed_7=pl.lit("b"))
BY_VALUE = WIDE.select("id", "label", bert="pred_bert_seed_1", esim=pl.lit("b"), other=pl.lit("words"))


def packed(write: Callable[[pl.DataFrame], bytes], pack: Callable[[bytes], bytes]) -> Callable[[pl.DataFrame], bytes]:
    return lambda table: pack(write(table))


def as_parquet(table: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    table.write_parquet(file)
    return file.getvalue()


WRITERS: dict[str, Callable[[pl.DataFrame], bytes]] = {
    "csv": lambda table: table.write_csv().encode(),
    "tsv": lambda table: table.write_csv(separator="\t").encode(),
    "jsonl": lambda table: table.write_ndjson().encode(),
    "parquet": as_parquet,
    "csv.gz": packed(lambda table: table.write_csv().encode(), gzip.compress),
    "csv.zst": packed(lambda table: table.write_csv().encode(), zstandard.compress),
    "jsonl.gz": packed(lambda table: table.write_ndjson().encode(), gzip.compress),
}


@pytest.fixture(params=["small", "large"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether files count as small, which are read as a whole, or as large."""
    monkeypatch.setattr("goldassay.runs.key_columns._SMALL", -1 if request.param == "large" else 1 << 40)
    return str(request.param)


def unread(*_: object, **__: object) -> Any:
    raise AssertionError("the whole file is read")


@pytest.mark.parametrize("kind", WRITERS)
def test_runs_of_a_table(tmp_path: Path, size: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"runs.{kind}").write_bytes(WRITERS[kind](TABLE))
    if size == "large":
        monkeypatch.setattr(long_table, "read_table", unread)
        monkeypatch.setattr("goldassay.runs.key_columns.read_table", unread)
    found = list_runs(tmp_path)
    assert found.select("model", "n_runs", "n_checkpoints", "n_examples", "format").rows() == [
        ("large", 2, 2, 4, "long"), ("small", 2, 2, 5, "long"),
    ]  # fmt: skip
    assert found["seeds"].to_list() == [["1", "7"]] * 2


@pytest.mark.parametrize("kind", WRITERS)
def test_runs_named_by_columns_are_listed_unread(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"runs.{kind}").write_bytes(WRITERS[kind](WIDE))
    monkeypatch.setattr("goldassay.runs.key_columns._SMALL", -1)
    for module in ("key_columns", "adapters.long_table", "adapters.wide_table"):
        monkeypatch.setattr(f"goldassay.runs.{module}.read_table", unread)
    found = list_runs(tmp_path)
    assert found.select("model", "condition", "n_runs", "n_examples", "format").rows() == [
        ("bert", "paired", 2, 6, "wide"), ("bert-hypothesis", "hypothesis_only", 1, 6, "wide"),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize(
    "table",
    [TABLE.drop("model", "seed", "step"), TABLE.drop("step"), TABLE.with_columns(seed=pl.col("seed") / 2),
     TABLE.with_columns(seed=pl.when(pl.col("seed") == 1).then(None).otherwise(pl.col("seed"))),
     TABLE.rename({"seed": "Run", "id": "UID"}), TABLE.rename({"prediction": "score"}).with_columns(score=0.5),
     WIDE, WIDE.rename({"id": "key"}), NUMBERED, BY_VALUE, WIDE.with_columns(pred_list=pl.lit("['a', 'b']"))],
    ids=["no keys", "no steps", "halves", "missing", "other names", "scores",
         "wide", "wide, no ids", "numbered", "by value", "with lists"],
)  # fmt: skip
def test_large_files_are_listed_as_small_ones(
    tmp_path: Path, kind: str, table: pl.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / f"runs.{kind}").write_bytes(WRITERS[kind](table))
    whole = list_runs(tmp_path)
    monkeypatch.setattr("goldassay.runs.key_columns._SMALL", -1)
    assert list_runs(tmp_path).equals(whole)


@pytest.mark.parametrize(
    "tool", sorted(path.name for path in FIXTURES.iterdir() if path.is_dir() and path.name[0] != "_")
)
def test_logs_are_listed_alike(tool: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = list_runs(FIXTURES / tool)
    monkeypatch.setattr("goldassay.runs.key_columns._SMALL", -1)
    assert list_runs(FIXTURES / tool).equals(whole)


def test_keys_of_mixed_types(tmp_path: Path, size: str) -> None:
    """1 and 1.0 are one seed of a column of numbers, as they are where the whole table is read."""
    lines = [{"id": i, "seed": [1, 1.0, 2, True][i % 4], "prediction": "a"} for i in range(8)]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert list_runs(tmp_path / "runs.jsonl")["seeds"].to_list() == [["1", "2"]], size


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.jsonl", b'{"id": 1, "prediction": "a"}\n{"id": 2', r"a\.jsonl, line 2: the line is not JSON"),
        ("a.jsonl", b'{"id": 1, "prediction": "a"}\n3', r"a\.jsonl, line 2: the line is not a JSON object"),
        ("a.csv", b"prediction,label\na,b\n", "no column says which example a row is of"),
        ("a.csv", b"id,prediction\n", "there are no examples in the table"),
        ("a.csv", b"id,prediction,id\n1,a,2\n", "the column is there twice"),
        ("a.csv", b"id,prediction\n1,\xff\n", "the text is not UTF-8"),
        ("a.csv", b"", "the file is empty"),
    ],
)
def test_what_is_wrong_is_said_alike(tmp_path: Path, size: str, name: str, content: bytes, problem: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=problem):
        list_runs(tmp_path / name)
    assert size


def test_a_summary_beside_the_runs_is_passed_over(tmp_path: Path, size: str) -> None:
    (tmp_path / "runs.csv").write_bytes(WRITERS["csv"](TABLE))
    (tmp_path / "summary.csv").write_text("seed,acc\n1,0.5\n2,0.75\n")
    assert list_runs(tmp_path).height == 2, size


def test_what_is_no_table_has_no_keys(tmp_path: Path) -> None:
    for content in (b"[1]", b"PK\x03\x04", b"words\n", b"a\0,b\n", b"{nothing\n"):
        (tmp_path / "a").write_bytes(content)
        assert key_columns(tmp_path / "a", lambda _: True) is None


def test_arrays_are_listed_by_their_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "a.npz", logits=np.zeros((3, 2, 50, 4)), gold=np.zeros(50, int), seeds=[5, 6, 7],
             checkpoints=["x", "y"])  # fmt: skip
    np.savez_compressed(tmp_path / "b.npz", preds=np.zeros(9, int))
    read = numpy_arrays.read_members

    def small(path: Path, wanted: dict[str, str]) -> Any:
        assert not set(wanted) - {"seeds", "checkpoints"}
        return read(path, wanted)

    monkeypatch.setattr(numpy_arrays, "read_members", small)
    found = list_runs(tmp_path)
    columns = ("dataset", "n_runs", "n_checkpoints", "n_examples", "seeds")
    assert found.select(columns).rows() == [("a", 3, 2, 50, ["5", "6", "7"]), ("b", 1, 1, 9, ["0"])]


def test_damaged_headers_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", scores=np.zeros((2, 5)))
    whole = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(whole.replace(b"(2, 5)", b"(2, -)"))
    with pytest.raises(InputError, match="damaged"):
        list_runs(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", scores=np.array([{}, {}], dtype=object))
    with pytest.raises(InputError, match="pickles"):
        list_runs(tmp_path / "a.npz")


def test_lines_are_not_read_as_one_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(squad, "unpacked", unread)
    (tmp_path / "runs.jsonl").write_bytes(b'{"id": "1", "prediction": "a"}\n{"id": "2", "prediction": "b"}\n')
    assert list_runs(tmp_path)["format"].to_list() == ["long"]


@pytest.mark.parametrize(
    ("name", "value"), [("seed", [1]), ("seed", None), ("model", 3), ("checkpoint", {}), ("n_examples", "x"),
                        ("n_parameters", [1])],
)  # fmt: skip
def test_metadata_that_name_no_run_are_refused(tmp_path: Path, name: str, value: Any) -> None:
    runs = Runs.from_arrays(predictions=np.zeros((1, 4), int), gold=np.zeros(4, int), label_names=("a", "b"))
    (path,) = write_runs(runs, tmp_path)
    metadata = json.loads(pl.read_parquet_metadata(path)[METADATA_KEY])
    pl.read_parquet(path).write_parquet(path, metadata={METADATA_KEY: json.dumps({**metadata, name: value})})
    with pytest.raises(InputError, match=in_order(f"the {name} of a run", "cannot be")):
        list_runs(tmp_path)


@pytest.mark.parametrize(("name", "n_parsed"), [("letters", 0), ("error", 1)])
def test_a_log_is_listed_with_its_directory_parsed_once(
    monkeypatch: pytest.MonkeyPatch, name: str, n_parsed: int
) -> None:
    """Of logs with many samples the directory takes longest; that of a whole log is not parsed at all."""
    import zipfile

    opened: list[str] = []
    parse = zipfile.ZipFile._RealGetContents  # type: ignore[attr-defined]

    def counted(archive: zipfile.ZipFile) -> None:
        opened.append(str(archive.filename))
        parse(archive)

    monkeypatch.setattr(zipfile.ZipFile, "_RealGetContents", counted)
    (row,) = list_runs(FIXTURES / "inspect_ai" / f"{name}.eval").to_dicts()
    assert len(opened) == n_parsed
    assert row["n_examples"] > 1


@pytest.mark.parametrize("folder", ["inspect_ai", "lm_eval", "lm_eval_suite"])
def test_lists_are_those_of_what_is_read(folder: str) -> None:
    """What a list leaves out of logs changes none of its rows."""
    from goldassay.runs.finding import find_slices
    from goldassay.runs.reading import list_slices
    from goldassay.runs.run_parts import Request

    place = FIXTURES / folder
    assert list_runs(place).equals(list_slices(find_slices(place, "auto", Request())))
