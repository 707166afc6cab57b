"""`goldassay runs summarize`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

from goldassay.cli.main import run
from goldassay.runs.reading import read_runs
from tests.cli.run_files import refused, write_checkpoints
from tests.stated import says, states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest

__all__ = ["refused"]


def test_prints_the_last_checkpoint_and_writes_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store, out, file = tmp_path / "runs", tmp_path / "out", tmp_path / "all.json"
    write_checkpoints(store)
    assert run(["runs", "summarize", str(store), "-o", str(out), "--json", str(file), "--model", "bert"]) == 0
    runs = read_runs(store, model="bert", dataset="standard")
    last = runs.final().scores.mean(axis=1)
    said = capsys.readouterr().out.splitlines()
    assert said[4] == says("bert on standard, paired:", "5 runs x 4 checkpoints", runs.n_examples, "examples")
    assert said[5].startswith(
        f"  at {runs.checkpoints[-1]}: mean {100 * last.mean():.2f} points, SD {100 * last.std(ddof=1):.2f} ["
    )
    (note,) = [line for line in said if line.startswith("note: ")]
    assert states(note, "note: With 5 runs the spread", "0.6 to 2.9")
    assert said[-1] == f"{2 * runs.scores.size:,} predictions read"
    table = pl.read_parquet(out / "checkpoints.parquet")
    assert table.height == 8
    written = json.loads(file.read_text())["sets"]
    assert [each["dataset"] for each in written] == ["probe", "standard"]
    assert written[1]["scores"]["run_means"] == runs.scores.mean(axis=-1).tolist()


def test_a_checkpoint_that_a_run_lacks_is_refused(tmp_path: Path, refused: Callable[..., str]) -> None:
    write_checkpoints(tmp_path / "runs")
    min((tmp_path / "runs").rglob("*.parquet")).unlink()
    line = refused("runs", "summarize", "runs", "--quiet")
    assert "runs have different checkpoints" in line
    assert "--checkpoint" in line
