"""Inputs that were refused by a line that named another cause, or after all the work was done."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from goldassay.cli.main import run
from tests.end_to_end.conftest import COMMAND
from tests.stated import says
from tests.view.made import rows as made_rows
from tests.view.made import save_report

from .cases import jsonl, predictions, rows

if TYPE_CHECKING:
    from collections.abc import Sequence


def line_of(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The line by which a command refuses its input."""
    capsys.readouterr()
    assert run(list(arguments)) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1, err
    return err


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data.jsonl").write_bytes(jsonl(rows(40)))


def test_a_file_whose_name_is_no_utf8_is_split() -> None:
    name = os.fsdecode(b"n\xff.jsonl")
    Path(name).write_bytes(jsonl(rows(40)))
    assert run(["split", name, "-q", "-o", "out"]) == 0
    assert json.loads(Path("out/split.json").read_bytes())


def test_keys_of_thousands_of_parts_take_no_memory(capsys: pytest.CaptureFixture[str]) -> None:
    """The parser would take gigabytes: 4.8 for 50,000 parts."""
    for key in (".".join("a" * 50_000), " . ".join('"a"' for _ in range(50_000)), "x = {" + ".".join("a" * 50_000)):
        Path("goldassay.toml").write_text(f"{key} = 1")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert "nested too deeply" in line_of(["split", "data.jsonl", "-q", "-o", "out"], capsys)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 100_000


def test_rows_of_dots_are_no_keys() -> None:
    dots = "." * 500
    words = "a.b" * 300
    Path("goldassay.toml").write_text(f"# {dots}\n# {words}\nseed = 1 # {dots}\n")
    assert run(["split", "data.jsonl", "-q", "-o", "out"]) == 0


@pytest.mark.parametrize(
    ("value", "said"),
    [("inf", ("first is inf", "leave the cell empty")), ("7", ("first is 7", "--grades")), ("x", ("no numbers",))],
)
def test_scores_beyond_the_scale_name_their_value(
    value: str, said: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [f"{system},{item},{(system + item) % 2}" for system in range(3) for item in range(4)]
    Path("board.csv").write_text("\n".join(["system,item,score", *cells, f"9,0,{value}"]) + "\n")
    line = line_of(["board", "board.csv", "-q"], capsys)
    assert all(each in line for each in said)
    assert "line 1" not in line


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (jsonl(predictions()).decode().encode("utf-16"), "UTF-16"),
        (jsonl(predictions()).replace(b"e0", b"\0"), "NUL byte"),
        (jsonl(predictions()).replace(b'"e3"', b"9" * 5000, 1), "PYTHONINTMAXSTRDIGITS"),
        (jsonl(predictions()).replace(b'"e3"', b'[{"a":' * 50_000, 1), "nested more than 200 deep"),
        (jsonl(predictions()).replace(b'"e3"', b"{", 1), "line 4"),
    ],
    ids=["utf-16", "nul", "digits", "deep", "broken"],
)
def test_runs_that_cannot_be_read_say_why(content: bytes, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("runs.jsonl").write_bytes(content)
    assert said in line_of(["runs", "list", "runs.jsonl"], capsys)


def test_an_archive_is_no_text(capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("arrays.npz", a=np.arange(9))
    assert "zip archive" in line_of(["split", "arrays.npz", "-q", "-o", "out"], capsys)


def test_an_infinite_label_is_not_called_missing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("data.jsonl").write_bytes(jsonl(rows(9)).replace(b'"entailment"', b"1e999").replace(b'"neutral"', b"1e999"))
    Path("data.jsonl").write_bytes(
        b"\n".join(line.replace(b'"contradiction"', b"1e999") for line in Path("data.jsonl").read_bytes().splitlines())
    )
    assert "infinite" in line_of(["split", "data.jsonl", "-q", "-o", "out"], capsys)


@pytest.mark.parametrize("out", ["data.jsonl", "data.jsonl/deeper", "a" * 300])
def test_a_folder_that_cannot_be_is_refused_before_the_work(out: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The data are not even looked at."""
    line = line_of(["split", "nowhere.jsonl", "-o", out], capsys)
    assert "nowhere" not in line
    assert "-o" in line


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_standard_output_is_named() -> None:
    Path("runs.jsonl").write_bytes(jsonl(predictions()))
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([COMMAND, "runs", "list", "runs.jsonl"], stdout=full, stderr=subprocess.PIPE, text=True,
                              timeout=300, check=False)  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith("goldassay: standard output")
    assert done.stderr.count("\n") == 1


def test_a_traceback_that_was_asked_for_leaves_the_status(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 means that a policy is violated."""
    environment = {**os.environ, "GOLDASSAY_DEBUG": "1"}
    done = subprocess.run([COMMAND, "split", "nope.jsonl", "-o", "out"], capture_output=True, text=True, timeout=300,
                          env=environment, check=False)  # fmt: skip
    assert done.returncode == 2
    assert "Traceback" in done.stderr


@pytest.mark.parametrize("goal", ["beside.jsonl", "nowhere"])
@pytest.mark.parametrize("command", [["split"], ["audit"], ["runs", "list"], ["overlap", "data.jsonl", "--corpus"]])
def test_a_link_that_leads_nowhere_is_said_to_be_one(
    command: list[str], goal: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("link.jsonl").symlink_to(goal)
    # A loop, where it is looked for.
    Path("beside.jsonl").symlink_to("link.jsonl")
    line = line_of([*command, "link.jsonl"], capsys)
    assert line == says("goldassay: link.jsonl:", f"({goal})", "link")


@pytest.mark.parametrize("command", ["view report --decisions loop", "mend data.jsonl --decisions loop -o out.jsonl",
                                     "split data.jsonl -o loop", "look loop", "check report --policy loop",
                                     "audit data.jsonl --test loop", "audit data.jsonl --corpus loop"])  # fmt: skip
def test_a_link_that_leads_to_itself_is_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    save_report(Path("report"), made_rows(20))
    Path("loop").symlink_to("loop")
    assert line_of(command.split(), capsys).startswith("goldassay: loop: ")


def test_an_export_replaces_a_link_that_leads_to_itself() -> None:
    save_report(Path("report"), made_rows(20))
    Path("loop").symlink_to("loop")
    assert run(["view", "report", "--export", "loop", "-q"]) == 0
    assert Path("loop").is_file()


@pytest.mark.parametrize("command", ["look shut", "runs list shut", "split shut/data.jsonl -o out"])
def test_a_folder_that_may_not_be_looked_into_is_named_with_what_opens_it(command: str) -> None:
    """Not a file that was only looked for in it. Who tests as root gives up the right to look everywhere."""
    Path("shut").mkdir()
    Path("data.jsonl").rename("shut/data.jsonl")
    Path("shut").chmod(0)
    dropped = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        pytest.skip("root may look into every folder, and there is no setpriv")
    try:
        done = subprocess.run([*(dropped if os.geteuid() == 0 else []), COMMAND, *command.split()], capture_output=True,
                              text=True, timeout=300, check=False)  # fmt: skip
    finally:
        Path("shut").chmod(0o700)
    assert done.returncode == 2
    assert done.stderr.startswith("goldassay: shut")
    assert done.stderr.endswith("chmod u+rX shut\n")
