"""A test run of the newest DeepEval: what its evaluate returned, from our scores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from goldassay.runs.reading import read_runs

if TYPE_CHECKING:
    from pathlib import Path


def test_success_and_the_metric(written: Path) -> None:
    told = json.loads((written / "printed.txt").read_text())
    runs = read_runs(written)
    assert (runs.model, runs.configuration["hyperparameters.temperature"]) == ("mock", "0.5")
    assert dict(zip(runs.example_ids.tolist(), runs.scores[0].tolist(), strict=True)) == {
        name: float(each["success"]) for name, each in told.items()
    }
    assert runs.status[0].tolist() == ["scored", "scored", "empty", "scored", "error"]
    own = read_runs(written, columns={"score": "Match"}, missing="leave-out")
    assert own.scores[0].tolist() == [told[name]["score"][0] for name in own.example_ids.tolist()]
