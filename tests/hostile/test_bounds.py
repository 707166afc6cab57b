"""Files that unpack, claim or nest more than they may are refused by one line that names what lifts the bound."""

from __future__ import annotations

import gzip
import os
import resource
import subprocess
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
import zstandard

from goldassay.cli.main import run
from goldassay.core import bounds
from goldassay.core.bounds import BYTES, Bound, check_depth, check_keys
from goldassay.core.errors import InputError
from tests.end_to_end.conftest import COMMAND
from tests.stated import in_order, says, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROW = b'{"premise": "a b", "hypothesis": "c d", "label": "x", "pad": "' + b" " * 900 + b'"}\n'
COMMANDS = [("split",), ("audit",), ("runs", "list"), ("artifacts", "mine", "--memory", "8GB")]


def zst(path: Path, content: bytes, times: int) -> None:
    with path.open("wb") as file, zstandard.ZstdCompressor().stream_writer(file) as packed:
        for _ in range(times):
            packed.write(content)


def gz(path: Path, content: bytes, times: int) -> None:
    with gzip.open(path, "wb") as packed:
        for _ in range(times):
            packed.write(content)


@pytest.fixture
def line(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The one line by which a command refuses its input."""
    monkeypatch.chdir(tmp_path)

    def refused(*arguments: str) -> str:
        capsys.readouterr()
        assert run(arguments) == 2
        lines = [each for each in capsys.readouterr().err.splitlines() if each.startswith("goldassay: ")]
        assert len(lines) == 1
        assert not (tmp_path / "out").exists()
        return lines[0].removeprefix("goldassay: ")

    return refused


@pytest.mark.parametrize("packed", [gz, zst])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_what_unpacks_to_too_much_is_refused(
    line: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...],
    packed: Callable[..., None],
) -> None:  # fmt: skip
    monkeypatch.setattr(bounds, "_HARMLESS", 1 << 20)
    file = tmp_path / f"bomb.jsonl.{packed.__name__}"
    packed(file, ROW * 100, 100)
    monkeypatch.setenv("GOLDASSAY_MAX_RATIO", "50")
    out = () if command[0] == "runs" else ("-o", "out")
    found = line(*command, file.name, *out)
    assert found == says(f"{file.name}:", "50 times", "GOLDASSAY_MAX_RATIO")


@pytest.mark.parametrize(
    "command", [("audit",), ("leakage", "suggest"), ("overlap", "--corpus", "bomb.jsonl")], ids=" ".join
)
def test_what_is_too_large_is_unpacked_once(
    line: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """It is not read again in the hope that it holds items, beside what is left of the first time."""
    monkeypatch.setattr(bounds, "_HARMLESS", 1 << 20)
    gz(tmp_path / "bomb.jsonl", ROW * 100, 100)
    monkeypatch.setenv("GOLDASSAY_MAX_RATIO", "50")
    begun, begin = [], bounds.Unpacking.__init__

    def counted(self: bounds.Unpacking, path: Path, *, held: bool) -> None:
        begun.append(path.name)
        begin(self, path, held=held)

    monkeypatch.setattr(bounds.Unpacking, "__init__", counted)
    assert "more than 50 times its size" in line(*command, "bomb.jsonl", "-o", "out")
    assert begun == ["bomb.jsonl"]


@pytest.mark.parametrize("packed", [gz, zst])
def test_what_is_in_memory_is_bounded(
    line: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: Callable[..., None]
) -> None:
    file = tmp_path / "large.jsonl"
    packed(file, ROW * 1000, 2)
    monkeypatch.setenv("GOLDASSAY_MAX_BYTES", "1MB")
    end = "; if that is meant, set GOLDASSAY_MAX_BYTES higher"
    assert line("split", file.name, "-o", "out") == f"{file.name}: the file unpacks to more than 1 MB{end}"
    (tmp_path / "plain.jsonl").write_bytes(ROW * 2000)
    found = line("split", "plain.jsonl", "-o", "out")
    assert found == says("plain.jsonl:", "1.84 MB of memory", "1 MB", end)
    os.truncate(tmp_path / "plain.jsonl", 1 << 40)
    monkeypatch.delenv("GOLDASSAY_MAX_BYTES")
    assert "it takes 1.02e+03 GB of memory, more than 4 GB" in line("split", "plain.jsonl", "-o", "out")


@pytest.mark.slow
@pytest.mark.parametrize("packed", [gz, zst])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_bomb_takes_little_memory(tmp_path: Path, command: tuple[str, ...], packed: Callable[..., None]) -> None:
    """Of 3 GB no command takes more than 2."""
    packed(tmp_path / "bomb.jsonl", ROW * 1000, 3200)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    done = subprocess.run(
        [COMMAND, *command, "bomb.jsonl", *(() if command[0] == "runs" else ("-o", "out"))], cwd=tmp_path,
        capture_output=True, text=True, check=False, timeout=240,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30)),
    )  # fmt: skip
    assert done.returncode == 2
    assert "GOLDASSAY_MAX_RATIO" in done.stderr
    assert max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) < 2 << 20


def test_an_archive_of_large_arrays_is_refused(
    line: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez_compressed(tmp_path / "bomb.npz", predictions=np.zeros((10, 300_000)))
    assert (tmp_path / "bomb.npz").stat().st_size < 50_000
    monkeypatch.setenv("GOLDASSAY_MAX_BYTES", "20MB")
    assert states(line("runs", "list", "bomb.npz"), "bomb.npz:", "22.9 MB of memory", "20 MB")


def test_an_archive_of_many_members_is_refused(
    line: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez(tmp_path / "many.npz", **{f"a{i}": np.zeros(1) for i in range(12)}, predictions=np.zeros((2, 3)))
    monkeypatch.setenv("GOLDASSAY_MAX_MEMBERS", "12")
    assert states(line("runs", "list", "many.npz"), "many.npz:", "13 members", 12)


@pytest.mark.parametrize("command", [("split",), ("audit",), ("runs", "list")], ids=" ".join)
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_a_table_of_too_many_columns_is_refused(
    line: Callable[..., str], tmp_path: Path, command: tuple[str, ...], kind: str
) -> None:
    table = pl.DataFrame({f"c{i}": ["a", "b"] for i in range(10_001)})
    file = tmp_path / f"wide.{kind}"
    if kind == "jsonl":
        table.write_ndjson(file)
    elif kind == "parquet":
        table.write_parquet(file)
    else:
        table.write_csv(file, separator="," if kind == "csv" else "\t")
    found = line(*command, file.name)
    assert found == says(f"{file.name}:", "10,001 columns", 10_000, "GOLDASSAY_MAX_COLUMNS")


@pytest.mark.parametrize("command", [*COMMANDS, ("runs", "show")], ids=" ".join)
def test_lines_with_keys_of_their_own_are_refused(
    line: Callable[..., str], tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Each key would be a column: the cells grow with the square of the lines."""
    row = '{{"premise": "a", "hypothesis": "b", "label": "x", "id": {0}, "prediction": "x", "key{0}": 1}}\n'
    (tmp_path / "keys.jsonl").write_text("".join(row.format(i) for i in range(20_000)))
    assert states(line(*command, "keys.jsonl"), "columns", 10_000, "GOLDASSAY_MAX_COLUMNS")


def test_keys_of_large_files_are_counted_in_pieces(tmp_path: Path) -> None:
    def lines(n_keys: int) -> bytes:
        return b"".join(b'{"text": "%s", "key%d": 1}\n' % (b"word " * 100, i % n_keys) for i in range(40_000))

    assert len(lines(1)) > 20_000_000
    check_keys(lines(9), tmp_path, 40_000)
    check_keys(lines(90), tmp_path, 40_000)
    with pytest.raises(InputError, match=r"the table has 4\d,\d{3} columns, more than 10,000"):
        check_keys(lines(40_000), tmp_path, 40_000)
    with pytest.raises(InputError, match=r"it takes 13\.4 GB of memory"):
        check_keys(lines(900), tmp_path, 2_000_000)


def test_brackets_and_colons_of_texts_are_no_keys(tmp_path: Path) -> None:
    check_keys(b"".join(b'{"text": "he said \\"word%d\\": yes"}\n' % i for i in range(20_000)), tmp_path, 20_000)


def test_parquet_that_repeats_one_value_is_refused(
    line: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pl.DataFrame({"premise": ["a"], "hypothesis": ["b"], "label": ["c"]})
    pl.concat([rows] * 1000).rechunk().write_parquet(tmp_path / "small.parquet")
    monkeypatch.setenv("GOLDASSAY_MAX_BYTES", "20KB")
    for command in (("split",), ("runs", "list")):
        assert "of memory, more than 0.0195 MB" in line(*command, "small.parquet")


@pytest.mark.parametrize("kind", [pl.String, pl.Categorical, pl.List(pl.String)], ids=str)
def test_texts_that_repeat_are_counted_each(
    line: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: pl.DataType
) -> None:
    """A dictionary holds a long text once, and each row refers to it."""
    texts = pl.Series(["word " * 2000] * 300)
    texts = texts.reshape((300, 1)).arr.to_list() if kind == pl.List(pl.String) else texts.cast(kind)
    rows = pl.DataFrame({"premise": texts, "hypothesis": "b", "label": ["x", "y"] * 150, "prediction": "x"})
    rows.with_columns(id=pl.int_range(300)).write_parquet(tmp_path / "small.parquet")
    assert (tmp_path / "small.parquet").stat().st_size < 20_000
    monkeypatch.setenv("GOLDASSAY_MAX_BYTES", "1MB")
    for command in (("split", "-o", "out"), ("runs", "show")):
        assert "it takes 2.86 MB of memory, more than 1 MB" in line(*command, "small.parquet")


@pytest.mark.parametrize("write", [pl.DataFrame.write_ipc, pl.DataFrame.write_parquet], ids=["arrow", "parquet"])
def test_a_small_file_of_one_long_text_is_no_table_of_thousands(
    line: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[..., None]
) -> None:
    """Each row is far below what memory may hold; together they are a thousand times the file."""
    monkeypatch.setattr(bounds, "_HARMLESS", 1 << 20)
    texts = pl.Series(["word " * 9000] * 300, dtype=pl.Categorical)
    write(pl.DataFrame({"text": texts, "label": ["x", "y"] * 150}), tmp_path / "bomb.data")
    assert line("split", "bomb.data", "-o", "out") == says("bomb.data:", "200 times", "GOLDASSAY_MAX_RATIO")


def test_deep_json_is_refused_by_line(line: Callable[..., str], tmp_path: Path) -> None:
    deep = ROW + b'{"premise": "[[[", "label": ' + b"[" * 201 + b"]" * 201 + b"}\n"
    (tmp_path / "deep.jsonl").write_bytes(deep)
    assert line("split", "deep.jsonl", "-o", "out") == says("deep.jsonl, line 2:", "nested", 200, "GOLDASSAY_MAX_DEPTH")


@pytest.mark.parametrize("small", [-1, 1 << 20], ids=["by keys", "whole"])
@pytest.mark.parametrize("command", ["list", "show"])
def test_deep_json_of_runs_is_refused_by_line(
    line: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, small: int
) -> None:
    """The table engine took 8 seconds and 3 GB for a value nested 500 deep."""
    monkeypatch.setattr("goldassay.runs.key_columns._SMALL", small)
    row = b'{"id": 1, "prediction": "a", "seed": 0}\n'
    (tmp_path / "deep.jsonl").write_bytes(row * 2 + row.replace(b"0", b"[" * 201 + b"]" * 201) + row)
    assert states(line("runs", command, "deep.jsonl"), "deep.jsonl, line 3:", "nested", 200)


@pytest.mark.parametrize("value", [b"a", [b"a"]], ids=["bytes", "lists"])
def test_bytes_are_not_written_as_json(line: Callable[..., str], tmp_path: Path, value: object) -> None:
    texts = [f"text {i}" for i in range(30)]
    rows = pl.DataFrame({"premise": texts, "hypothesis": texts, "label": ["x", "y"] * 15, "picture": [value] * 30})
    rows.write_parquet(tmp_path / "a.parquet")
    assert states(line("split", "a.parquet", "-o", "out"), "column 'picture'", "bytes", "JSON lines")


def test_brackets_in_texts_are_not_nested(tmp_path: Path) -> None:
    check_depth(b'{"a": "' + b"[" * 500 + b'"}\n' + b'{"a": "\\"' + b"{" * 500 + b'"}', tmp_path)
    check_depth(b'{"a": [' + b"[]," * 500 + b"[]]}", tmp_path)
    with pytest.raises(InputError):
        check_depth(b"{" * 201, tmp_path)


def test_lines_with_few_brackets_are_not_taken_to_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One text in ten thousand with many of them must not make the others slow to read."""
    seen: list[bytes] = []
    monkeypatch.setattr(bounds, "_depth", lambda line: seen.append(line) or 0)
    lines = [b'{"a": "b"}'] * 300
    lines[7] = b'{"a": "' + b"[" * 500 + b'"}'
    check_depth(b"\n".join(lines), tmp_path)
    assert seen == [lines[7]]
    monkeypatch.setattr(bounds, "_depth", lambda line: 999)
    with pytest.raises(InputError, match=r"line 8:"):
        check_depth(b"\n".join(lines), tmp_path)


def test_a_pipe_is_bounded(tmp_path: Path) -> None:
    done = subprocess.run(
        f"yes | {COMMAND} split /dev/stdin -o out", shell=True, cwd=tmp_path, capture_output=True, text=True,
        check=False, timeout=60, env={**os.environ, "GOLDASSAY_MAX_BYTES": "20MB"},
    )  # fmt: skip
    assert done.stderr == says("goldassay: /dev/stdin:", "20 MB", "GOLDASSAY_MAX_BYTES")
    assert done.returncode == 2


@pytest.mark.parametrize(("text", "limit"), [("", 7), ("20000", 20000), ("3 kb", 3072), ("8GB", 8 << 30)])
def test_bounds_are_lifted_by_the_environment(monkeypatch: pytest.MonkeyPatch, text: str, limit: int) -> None:
    monkeypatch.setenv("GOLDASSAY_MAX_THIS", text)
    assert Bound("GOLDASSAY_MAX_THIS", 7).limit() == limit


@pytest.mark.parametrize("text", ["0", "-1", "many", "1e9", "8 XB", "9" * 40])
def test_what_is_no_bound_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(BYTES.variable, text)
    with pytest.raises(InputError, match=in_order("GOLDASSAY_MAX_BYTES", "no bound", 20_000, "8GB")):
        BYTES.limit()
