"""Small files of predictions, as other people's tools leave them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from goldassay.cli.main import run
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs
from tests.end_to_end.conftest import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LABELS = ("entailment", "neutral", "contradiction")


@pytest.fixture
def refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command that is to be refused, in this process, and give its one line."""

    def running(*arguments: str) -> str:
        monkeypatch.chdir(tmp_path)
        assert run(arguments) == 2
        written = capsys.readouterr()
        assert written.out == ""
        (line,) = written.err.splitlines()
        return line

    return running


@pytest.fixture
def goldassay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """Run a command in a folder of its own, in this process: starting one takes longer than most commands do."""

    def running(*arguments: str | Path) -> Outcome:
        monkeypatch.chdir(tmp_path)
        capsys.readouterr()
        status = run([str(argument) for argument in arguments])
        written = capsys.readouterr()
        return Outcome(status, written.out, written.err)

    return running


def long_table(
    models: tuple[str, ...] = ("m",),
    seeds: tuple[int, ...] = (1, 2, 3),
    n: int = 24,
    steps: tuple[int, ...] = (),
    label: bool = True,
    first: int = 0,
) -> pl.DataFrame:
    """A row a prediction: model, seed, [checkpoint,] dataset, example_id, [label,] prediction."""
    rng = np.random.default_rng(7)
    rows: list[dict[str, Any]] = []
    for model in models:
        for seed in seeds:
            for step in steps or (None,):
                for i in range(first, first + n):
                    row: dict[str, Any] = {"model": model, "seed": seed, "dataset": "toy", "example_id": f"e{i}"}
                    if step is not None:
                        row["checkpoint"] = step
                    gold = i % 3
                    if label:
                        row["label"] = LABELS[gold]
                    row["prediction"] = LABELS[gold if rng.random() < 0.7 else int(rng.integers(3))]
                    rows.append(row)
    return pl.DataFrame(rows)


def write_checkpoints(folder: Path, models: tuple[str, ...] = ("bert", "roberta")) -> None:
    """Five runs of four checkpoints of each model on two datasets, with a group of examples that swings."""
    rng = np.random.default_rng(3)
    for lift, model in enumerate(models):
        for dataset, swing in (("standard", 0.1), ("probe", 1.5)):
            template = np.array(["active", "passive"])[np.arange(60) % 2]
            logit = rng.normal(0.8 + 0.4 * lift, 1.5, 60) + np.arange(4)[:, np.newaxis] * 0.3
            moved = rng.normal(0, swing, (5, 1, 1)) * (template == "passive")
            scores = (rng.random((5, 4, 60)) < 1 / (1 + np.exp(-logit[np.newaxis] - moved))).astype(float)
            write_runs(
                Runs.from_arrays(
                    scores=scores,
                    seeds=np.arange(5),
                    checkpoints=np.array([10, 20, 30, 40]),
                    groups={"template": template},
                    model=model,
                    dataset=dataset,
                ),
                folder,
            )
