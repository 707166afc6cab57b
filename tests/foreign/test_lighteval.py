"""Details of the newest lighteval: every metric of every task that its results hold, from our scores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from goldassay.runs.reading import list_runs, read_runs

if TYPE_CHECKING:
    from pathlib import Path


def test_every_metric(written: Path) -> None:
    n_checked = 0
    for file in sorted((written / "results").rglob("results_*.json")):
        told = json.loads(file.read_text())
        model = told["config_general"]["model_config"]["model_name"]
        seed = told["config_general"]["model_config"]["generation_parameters"].get("seed")
        for task, metrics in told["results"].items():
            if task == "all":
                continue
            for metric, printed in metrics.items():
                if metric.endswith("_stderr"):
                    continue
                runs = read_runs(written / "details", model=model, dataset=task, columns={"score": metric})
                names = [str(each) for each in runs.seeds.tolist()]
                at = names.index(str(seed)) if seed is not None else 0
                assert runs.scores[at].mean() == pytest.approx(printed, abs=1e-12), (task, metric)
                n_checked += 1
    assert n_checked >= 9
    assert list_runs(written / "details")["n_runs"].max() == 2
