"""Every door keeps runs apart that were asked in different ways."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import goldassay as package
from tests.cli.run_files import goldassay, refused
from tests.stated import states

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.end_to_end.conftest import Outcome

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "refused"]

SHARES = {"plain": 0.4, "cot": 0.75}


def table(path: Path, datasets: tuple[str, ...] = ("mcq",)) -> Path:
    """Two prompts, three seeds each, on each dataset; the seeds differ in nothing but chance."""
    rng = np.random.default_rng(3)
    rows = [
        {"id": f"{name}-{i}", "model": "mock", "dataset": name, "seed": seed, "config_prompt": prompt, "score": score}
        for name in datasets
        for prompt, share in SHARES.items()
        for seed in (1, 2, 3)
        for i, score in enumerate((rng.random(80) < share).astype(float).tolist())
    ]
    pl.DataFrame(rows).write_csv(path)
    return path


def spreads(report: dict[str, Any]) -> dict[str, float]:
    return {row["model"]: row["sd"] for row in report["instability"]["results"]}


def test_instability_measures_each_configuration(goldassay: Command, tmp_path: Path) -> None:
    table(tmp_path / "runs.csv")
    done = goldassay("instability", "runs.csv", "-o", "apart", "--quiet")
    assert done.status == 0, done.err
    apart = json.loads((tmp_path / "apart/report.json").read_text())
    assert sorted(spreads(apart)) == ["mock [prompt=cot]", "mock [prompt=plain]"]
    assert "differ in prompt" in apart["instability"]["note"]
    # Chance alone makes about 5 points of 80 answers; the prompts lie 35 apart.
    assert max(spreads(apart).values()) < 0.12
    done = goldassay("instability", "runs.csv", "-o", "pooled", "--pool-configurations")
    assert done.status == 0, done.err
    assert states(done.out, "different configurations", "pooled", "spread")
    assert "report means over many runs" in done.out
    page = (tmp_path / "pooled/report.md").read_text()
    assert "depend on the run." in page
    assert "depend on the seed" not in page
    pooled = json.loads((tmp_path / "pooled/report.json").read_text())
    assert list(spreads(pooled)) == ["mock"]
    assert spreads(pooled)["mock"] > 0.15
    assert pooled["settings"]["reading"]["pool_configurations"] is True
    # And the same through Python.
    made = package.measure_instability(str(tmp_path / "runs.csv"))
    assert spreads(made.document) == spreads(apart)
    made = package.measure_instability(str(tmp_path / "runs.csv"), pool_configurations=True)
    assert spreads(made.document) == spreads(pooled)


def test_configurations_are_compared_as_models_are(goldassay: Command, refused: Any, tmp_path: Path) -> None:
    table(tmp_path / "runs.csv")
    done = goldassay("compare", "runs.csv")
    assert done.status == 0, done.err
    assert "mock [prompt=cot]" in done.out
    assert "mock [prompt=plain]" in done.out
    said = refused("compare", "runs.csv", "--pool-configurations")
    assert "the runs are all of one model, mock" in said


@pytest.mark.parametrize("command", [("instability",), ("runs", "show")])
def test_the_name_of_the_model_alone_is_refused(refused: Callable[..., str], tmp_path: Path, command: Any) -> None:
    table(tmp_path / "runs.csv")
    said = refused(*command, "runs.csv", "--model", "mock")
    assert states(said, "runs of mock", "2 configurations", "prompt")
    assert "mock [prompt=cot], mock [prompt=plain]" in said
    assert "--pool-configurations" in said


def test_a_pattern_pools_no_configurations(refused: Callable[..., str], tmp_path: Path) -> None:
    table(tmp_path / "runs.csv")
    assert "differ in prompt: they are no repeats" in refused("instability", "runs.csv", "--model", "mo*")


def test_list_and_import_keep_them_apart(goldassay: Command, tmp_path: Path) -> None:
    table(tmp_path / "runs.csv")
    listed = goldassay("runs", "list", "runs.csv")
    assert states(listed.out, "mock", "2 configurations", "prompt")
    done = goldassay("runs", "import", "runs.csv", "-o", "store")
    assert done.status == 0, done.err
    assert len(list((tmp_path / "store").glob("*.parquet"))) == 6
    again = goldassay("runs", "list", "store")
    assert [line.split()[:6] for line in again.out.splitlines()] == [
        line.split()[:6] for line in listed.out.splitlines()
    ]


def test_shift_pairs_each_configuration_with_itself(goldassay: Command, tmp_path: Path) -> None:
    table(tmp_path / "runs.csv", ("own", "far"))
    done = goldassay(
        "shift", "generalization", "--runs", "runs.csv", "--in-distribution", "own", "--metric", "mean",
        "--draws", "50", "-o", "report", "--quiet",
    )  # fmt: skip
    assert done.status == 0, done.err
    report = json.loads((tmp_path / "report/report.json").read_text())
    text = json.dumps(report["shift"])
    assert "mock [prompt=cot]" in text
    assert "mock [prompt=plain]" in text
