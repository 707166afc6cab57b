"""The fuzzer notices what it is for."""

from __future__ import annotations

import gzip
import io
import json
import sys
import time
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import zstandard

from goldassay.core.bounds import reading, shown
from goldassay.runs.runs import Runs
from goldassay.runs.store import METADATA_KEY, write_runs
from tests.stated import says

from . import fuzz, row_pages
from .mutations import Change
from .seeds import made_seeds, written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

TABLE = pl.DataFrame({"a": ["x", "y", "z"], "b": [1, 2, 3]})
# A child that begins a case, and then does something.
CHILD = """
import json, os, pathlib, signal, sys, time
folder = pathlib.Path("build/fuzz/running")
(folder / "input").write_bytes(b"odd")
(folder / "case").write_text(json.dumps([["split", "a.csv"], "a.csv", 7]))
{}
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_nothing_is_found_in_a_moment() -> None:
    assert fuzz.search(1) == {}


def test_a_crash_is_counted_and_kept_by_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_arguments: Sequence[str]) -> int:
        words: Any = "words"
        return len(shown(words))

    monkeypatch.setattr(fuzz, "run", broken)
    found = fuzz.search(0.3)
    line = shown.__code__.co_firstlineno + 2
    assert set(found) == {f"traceback: TypeError at core/bounds.py:{line}"}
    kept = tmp_path / "build" / "fuzz"
    assert found.total() == len((kept / "findings.jsonl").read_text().splitlines())
    (folder,) = [path for path in kept.iterdir() if path.name.startswith("traceback")]
    assert "command" in {path.name for path in folder.iterdir()}


def test_an_error_behind_the_last_line_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.csv").write_text("id,prediction\n1,x\n")

    def broken(*_: object, **__: object) -> None:
        words: Any = "words"
        shown(words)

    monkeypatch.setattr("goldassay.runs.reading.find_slices", broken)
    line = shown.__code__.co_firstlineno + 2
    assert fuzz.fault(["runs", "list", "a.csv"]) == f"exit status 70: TypeError at core/bounds.py:{line}"


@pytest.mark.parametrize("limit", ["CLOCK_A_CASE", "SECONDS_A_CASE"])
def test_a_hang_is_no_damaged_file(monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    """Whether it waits for something or computes without end."""

    def hanging(_arguments: Sequence[str]) -> int:
        until = time.monotonic() + 60
        with reading("a.csv"):
            while time.monotonic() < until:
                if limit == "CLOCK_A_CASE":
                    time.sleep(20)
        return 2

    monkeypatch.setattr(fuzz, limit, 0.5)
    monkeypatch.setattr(fuzz, "run", hanging)
    assert fuzz.fault(["split", "a.csv"]).startswith("hang at ")


def test_a_busy_machine_is_no_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "SECONDS_A_CASE", 0.5)
    monkeypatch.setattr(fuzz, "run", lambda _arguments: time.sleep(1) or 2)
    assert "hang" not in fuzz.fault(["split", "a.csv"])


@pytest.mark.parametrize(
    ("does", "kind"),
    [("os.kill(os.getpid(), signal.SIGABRT)", says("interpreter", "status -6", "split a.csv .csv")),
     ("time.sleep(60)", says("hang", "split a.csv .csv"))],
)  # fmt: skip
def test_a_child_that_dies_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str, kind: says) -> None:
    monkeypatch.setattr(fuzz, "CLOCK_A_CASE", 0.2)
    n_cases = fuzz.supervise(0.025, [sys.executable, "-c", CHILD.format(does)])
    found = fuzz.Findings(fuzz.KEPT).counted()
    assert list(found) == [kind]
    assert n_cases == 7 * found.total()
    assert found.total() >= (2 if "ABRT" in does else 1)
    assert list((tmp_path / "build" / "fuzz").glob("*status*/a.csv")) or "ABRT" not in does


def test_a_child_that_does_not_begin_ends_the_search() -> None:
    begun = time.monotonic()
    fuzz.supervise(1, [sys.executable, "-c", "import no_such_module"])
    assert time.monotonic() - begun < 10
    assert fuzz.Findings(fuzz.KEPT).counted().total() == 1


@pytest.mark.slow
def test_the_report_has_every_table_that_a_row_is_shown_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (seed,) = [seed for seed in made_seeds(tmp_path) if seed.name == "audited"]
    tables = {name.split("/")[-1]: content for name, content in seed.files.items() if name.endswith(".parquet")}
    for name in ("words", "readers", "pattern_examples", "near_copies", "checkpoints", "suspects"):
        assert pl.read_parquet(tables[f"{name}.parquet"]).height > 0, name
    monkeypatch.chdir(tmp_path)
    for name, content in seed.files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    seed.reseal(tmp_path)
    assert row_pages.show_rows("audited") == 0


@pytest.mark.slow
def test_valid_seeds_are_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A seed that is refused as it is finds nothing but the check that refuses it."""
    found = made_seeds(tmp_path)
    work = tmp_path / "work"
    for seed in found:
        for name, content in {**seed.beside, **seed.files}.items():
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_bytes(content)
    (work / "report.json").write_bytes((tmp_path / "report" / "report.json").read_bytes())
    monkeypatch.chdir(work)
    refused = []
    for seed in found:
        if seed.is_sealed:
            seed.reseal(work)
        status = fuzz.run(seed.arguments(0, seed.files.get(seed.name, b"")))
        refused += [seed.name] if status not in (0, 1) else []
    # Read together with the files beside them, and not alone.
    assert len(found) - len(refused) >= 40, refused


@pytest.mark.parametrize(
    ("kind", "left"), [("flip", b"abbd"), ("bit", b"abad"), ("insert", b"ab!cd"), ("replace", b"ab!d"),
                       ("over", b"ab!d"), ("delete", b"abd"), ("repeat", b"abcccd"), ("cut", b"ab")],
)  # fmt: skip
def test_changes_of_bytes(kind: str, left: bytes) -> None:
    assert Change(kind, 0.5, 1, b"\1" if kind == "flip" else b"!").applied(b"abcd") == left


def changed(kind: str, content: bytes, *, inside: bool = False) -> list[bytes]:
    """What a kind of change makes of a file, where it makes something else of it."""
    found = [Change(kind, i / 60, i, b"!", inside).applied(content) for i in range(60)]
    return [each for each in found if each != content]


@pytest.mark.parametrize("read", [pl.read_parquet, pl.read_ipc, pl.read_ipc_stream, pl.read_ndjson])
def test_a_changed_column_leaves_a_valid_table(read: Callable[[io.BytesIO], pl.DataFrame]) -> None:
    content = written(getattr(TABLE, read.__name__.replace("read", "write")))
    # JSON knows no dates, and numbers without end only where it is not strict.
    found = [each for each in changed("column", content) if each and b"NaN" not in each and b"Infinity" not in each]
    tables = [read(io.BytesIO(each)) for each in found]
    assert len(tables) > 20
    assert len({str(table.schema) for table in tables}) > 6


def test_a_changed_column_of_csv() -> None:
    tables = [pl.read_csv(io.BytesIO(each), infer_schema=False) for each in changed("column", b"a,b\nx,1\ny,2\n")]
    assert len({str(table.to_dict(as_series=False)) for table in tables}) > 15


def test_a_changed_node_leaves_json() -> None:
    lines = TABLE.write_ndjson().encode().strip()
    assert all([json.loads(line) for line in each.split(b"\n") if line] for each in changed("node", lines))
    whole = [json.loads(each) for each in changed("node", json.dumps({"a": [1, {"b": 2}], "c": "d"}).encode())]
    assert len({json.dumps(each) for each in whole}) > 30


def test_a_changed_node_of_metadata(tmp_path: Path) -> None:
    runs = Runs.from_arrays(predictions=np.zeros((1, 4), int), gold=np.zeros(4, int), label_names=("a", "b"))
    content = write_runs(runs, tmp_path)[0].read_bytes()
    found = [pl.read_parquet_metadata(io.BytesIO(each))[METADATA_KEY] for each in changed("node", content)]
    assert len(set(found)) > 20
    assert [json.loads(each) for each in found]
    assert pl.read_parquet(io.BytesIO(changed("node", content)[0])).equals(pl.read_parquet(io.BytesIO(content)))


def test_a_changed_header_keeps_its_length_right() -> None:
    array = written(lambda file: np.save(file, np.arange(6.0)))
    for each in changed("header", array):
        assert each[10 + int.from_bytes(each[8:10], "little") :] == np.arange(6.0).tobytes()


def test_changes_within_what_is_packed() -> None:
    assert {gzip.decompress(each) for each in changed("cut", gzip.compress(b"abcd" * 9), inside=True)} > {b"", b"a"}
    unpack = zstandard.ZstdDecompressor().decompress
    assert {unpack(each, max_output_size=99) for each in changed("insert", zstandard.compress(b"abcd"), inside=True)}
    archive = written(lambda file: np.savez(file, one=np.arange(3), two=np.arange(4)))
    for each in changed("header", archive, inside=True):
        with zipfile.ZipFile(io.BytesIO(each)) as found:
            assert found.namelist() == ["one.npy", "two.npy"]
            assert found.testzip() is None
