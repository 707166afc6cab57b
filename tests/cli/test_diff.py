"""`goldassay diff` as a command: its lines, its files, and what it refuses."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.run_files import goldassay, refused
from tests.end_to_end.conftest import COMMAND
from tests.gate.test_check import SHIFT
from tests.gate.test_diff import audit, examples_of, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Outcome

__all__ = ["goldassay", "refused"]


@pytest.fixture
def two(tmp_path: Path) -> Path:
    tables = examples_of(1, 0.6, 0.5), examples_of(2, 0.5, 0.4)
    write(audit(tables[0]), tmp_path / "before", tables[0])
    write(audit(tables[1], "sound", "2"), tmp_path / "after", tables[1])
    return tmp_path


def test_what_is_printed_and_written(goldassay: Callable[..., Outcome], two: Path) -> None:
    found = goldassay("diff", "before", "after/report.json", "-o", "out", "--json", "changed.json")
    assert (found.status, found.err) == (0, "")
    lines = found.out.splitlines()
    assert "Artifacts     unsound → sound: " in found.out
    assert any(line.startswith("  better   easy by pattern ") for line in lines)
    assert any(line.startswith("warning: The training data differ") for line in lines)
    assert lines[-1] == "out/diff.html"
    assert (two / "changed.json").read_bytes() == (two / "out" / "diff.json").read_bytes()
    written = {str(path.relative_to(two / "out")) for path in (two / "out").rglob("*") if path.is_file()}
    assert written >= {"diff.html", "diff.md", "figures/diff_changes.svg", "tables/measures.csv"}


def test_quiet(goldassay: Callable[..., Outcome], two: Path) -> None:
    found = goldassay("diff", "before", "after", "-q")
    assert (found.status, found.out, found.err) == (0, "", "")
    assert (two / "goldassay-diff" / "diff.html").exists()


def test_what_is_refused_leaves_nothing(refused: Callable[..., str], two: Path) -> None:
    write(SHIFT, two / "shift")
    assert "shift/report.json: it asks shift" in refused("diff", "before", "shift")
    assert refused("diff", "before", "nowhere").startswith("goldassay: nowhere: there is no such report")
    file = two / "after" / "report.json"
    document = json.loads(file.read_text())
    document["verdicts"]["leakage"]["verdict"] = "sound"
    file.write_text(json.dumps(document))
    assert "after/report.json: was edited" in refused("diff", "before", "after")
    assert not (two / "goldassay-diff").exists()


def test_as_a_process(two: Path) -> None:
    done = subprocess.run([COMMAND, "diff", "before", "after"], cwd=two, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("before  audit 1")
    (two / "blocked").write_text("")
    done = subprocess.run(
        [COMMAND, "diff", "before", "after", "-o", "blocked"], cwd=two, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "cannot be written" in done.stderr
