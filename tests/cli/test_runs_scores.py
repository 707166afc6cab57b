"""`goldassay runs scores`: every score with its intervals, the models compared, and what could not be read."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import goldassay as package
from goldassay.runs import Runs, write_runs
from tests.cli.run_files import goldassay, refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.end_to_end.conftest import Outcome

    Command = Callable[..., Outcome]

__all__ = ["goldassay", "refused"]

LOGS = Path(__file__).parents[1] / "runs" / "fixtures" / "inspect_ai"
N = 60


def write(folder: Path, runs: int = 3, models: tuple[str, ...] = ("large", "small")) -> None:
    rng = np.random.default_rng(0)
    for place, model in enumerate(models):
        for dataset in ("facts", "sums"):
            scores = (rng.random((runs, N)) < 0.8 - 0.3 * place).astype(np.float64)
            write_runs(Runs.from_arrays(scores=scores, model=model, dataset=dataset), folder)


@pytest.mark.parametrize("runs", [1, 3])
def test_figures_are_those_of_instability_and_compare(goldassay: Command, tmp_path: Path, runs: int) -> None:
    write(tmp_path / "runs", runs)
    found = goldassay("runs", "scores", "runs", "--json", "scores.json")
    assert found.status == 0, found.err
    written = json.loads((tmp_path / "scores.json").read_text())
    table = package.measure_instability(tmp_path / "runs").tables
    rows = {(row["model"], row["dataset"]): row for row in table["instability"].to_dicts()}
    assert len(written["sets"]) == len(rows) == 4
    for each in written["sets"]:
        row = rows[each["model"], each["dataset"]]
        assert each["mean"] == row["mean"]
        over = "examples" if runs == 1 else "runs"
        assert (each[f"{over}_low"], each[f"{over}_high"]) == (row["mean_low"], row["mean_high"])
        if runs > 1:
            (drawn,) = (
                row
                for row in table["intervals"].to_dicts()
                if (row["model"], row["dataset"], row["figure"]) == (each["model"], each["dataset"], "mean")
            )
            assert (each["examples_low"], each["examples_high"]) == (drawn["examples_low"], drawn["examples_high"])
    compared = goldassay("compare", "runs", "--json", "compared.json")
    assert written["comparison"] == json.loads((tmp_path / "compared.json").read_text())
    assert found.out.endswith(compared.out)
    assert len(found.out.splitlines()) == 1 + 4 + 1 + len(compared.out.splitlines())


def test_what_cannot_be_read_is_named_and_the_others_are_compared(goldassay: Command, tmp_path: Path) -> None:
    write(tmp_path / "runs")
    for name in ("cancel", "holes"):
        shutil.copy(LOGS / f"{name}.eval", tmp_path / "runs")
    found = goldassay("runs", "scores", "runs", "--json", "scores.json")
    assert found.status == 0, found.err
    left = [line for line in found.out.splitlines() if line.startswith("left out  ")]
    assert (
        "1 of 5 examples of seed fMQyPJYL have no score (the evaluation ended with the status 'cancelled')" in left[0]
    )
    assert "mockllm/model on holes" in left[1]
    written = json.loads((tmp_path / "scores.json").read_text())
    write(tmp_path / "alone")
    goldassay("compare", "alone", "--json", "compared.json")
    assert written["comparison"] == json.loads((tmp_path / "compared.json").read_text())
    kept = goldassay("runs", "scores", "runs", "--align", "intersect")
    assert "left out" not in kept.out


def test_one_model_and_nothing_to_read(goldassay: Command, refused: Callable[..., str], tmp_path: Path) -> None:
    write(tmp_path / "one", models=("large",))
    assert goldassay("runs", "scores", "one").out.endswith("no comparison: the runs are all of one model, large\n")
    shutil.copy(LOGS / "cancel.eval", tmp_path)
    assert "1 of 5 examples" in refused("runs", "scores", "cancel.eval", "--quiet")
