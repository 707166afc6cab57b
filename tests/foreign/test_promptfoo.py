"""Results of the newest promptfoo: what it counts of each provider and prompt, from our scores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from goldassay.runs.reading import list_runs, read_runs

if TYPE_CHECKING:
    from pathlib import Path


def test_what_passed_and_failed(written: Path) -> None:
    file = written / "results.json"
    columns = json.loads(file.read_text())["results"]["prompts"]
    assert list_runs(written)["n_runs"].to_list() == [2] * len(columns) == [2] * 4
    for column in columns:
        told = column["metrics"]
        counts = [told[f"test{what}Count"] for what in ("Pass", "Fail", "Error")]
        runs = read_runs(file, model=f"{column['provider']} [prompt={column['label']}]", missing="wrong")
        assert runs.scores.mean() == pytest.approx(counts[0] / sum(counts))
        assert runs.scores.shape == (2, 3)
        assert int((runs.status == "error").sum()) == counts[2]
        assert runs.trials
        scores = read_runs(file, model=runs.model, columns={"score": "score"}, missing="wrong").scores
        assert scores.sum() == pytest.approx(told["score"])
