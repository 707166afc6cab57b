"""The command as its users run it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.cli.main import run

from .conftest import Outcome, pairs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.slow
def test_specimen_then_audit(goldassay: Callable[..., Outcome], tmp_path: Path) -> None:
    made = goldassay("specimen", "-o", "specimen", "--size", "4000", "--test-size", "400")
    assert made.status == 0, made.err
    assert made.out.split() == [
        f"specimen/{name}"
        for name in ("train.jsonl", "dev.jsonl", "test.jsonl", "elsewhere.jsonl", "runs", "certificate.json")
    ]
    arguments = ("audit", "specimen/train.jsonl", "--test", "specimen/test.jsonl", "-o")
    done = goldassay(*arguments, "report", "--json", "copy.json")
    assert done.status == 0, done.err
    lines = done.out.rstrip("\n").split("\n")
    assert len(lines) <= 16
    assert lines[-1] == "report/report.html"
    assert "UNSOUND" in done.out
    assert "mining patterns" in done.err
    report = tmp_path / "report"
    assert {path.name for path in report.iterdir()} == {
        "report.html", "report.json", "timing.json", "report.md", "badge.svg", "tables", "figures", "runs",
    }  # fmt: skip
    document = json.loads((report / "report.json").read_text())
    assert (tmp_path / "copy.json").read_text() == (report / "report.json").read_text()
    assert len(document["inputs"][0]["sha256"][0]) == 64
    timing = json.loads((report / "timing.json").read_text())
    assert set(timing) == {"started", "finished", "seconds"}
    assert set(timing["seconds"]) >= {"mining patterns", "training quick probes"}
    assert (report / "report.html").stat().st_size < 1_500_000
    for table in (report / "tables").glob("*.parquet"):
        assert pl.read_parquet(table).columns
        assert table.with_suffix(".csv").exists()

    again = goldassay(*arguments, "again", "--quiet")
    assert (again.out, again.err) == ("", "")
    assert (tmp_path / "again" / "report.json").read_bytes() == (report / "report.json").read_bytes()


def test_columns_labels_and_settings_reach_the_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [{"a": r["premise"], "b": r["hypothesis"], "c": r["label"]} for r in pairs(200)]
    pl.DataFrame(rows).write_csv(tmp_path / "mine.csv")
    (tmp_path / "other.toml").write_text("seed = 5\n[leakage]\nseeds = 2\n")
    words = [
        "audit", "mine.csv", "--test", "held-out=mine.csv",
        "--columns", "premise=a,hypothesis=b,label=c", "--settings", "other.toml",
        "--label-names", "entailment,neutral,contradiction", "-o", "report", "-q",
    ]  # fmt: skip
    assert run(words) == 0
    document = json.loads((tmp_path / "report" / "report.json").read_text())
    assert document["settings"]["seed"] == 5
    assert document["inputs"][1]["name"] == "held-out"
    assert document["facts"]["overlap"]["rows"]["share"] == 1
    assert document["leakage"]["seeds"] == ["5", "6"]
    assert document["inputs"][0]["roles"]["premise"] == "a"


def test_help_explains_itself(goldassay: Callable[..., Outcome], capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (("--help",), ("audit", "--help"), ("specimen", "--help")):
        assert run(arguments) == 0
        assert "Usage: goldassay" in capsys.readouterr().out
    shown = goldassay()
    assert shown.status == 0
    assert "Usage: goldassay" in shown.out
    assert "artifacts     which surface patterns" in shown.out
    assert goldassay("--version").out.startswith("goldassay 0.")


def test_shell_completion(goldassay: Callable[..., Outcome]) -> None:
    # Which shell asks is seen from the parent process, whatever shell the tests were started from.
    script = goldassay("--show-completion", prefix=("bash", "-c", '"$0" "$@"; exit $?'))
    assert script.status == 0
    assert "_GOLDASSAY_COMPLETE" in script.out
