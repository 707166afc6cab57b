"""A run of the newest HELM: means of its own statistics, over trials and with perturbed instances, from our scores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from goldassay.runs.reading import list_runs, read_runs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("metric", ["exact_match", "quasi_exact_match", "prefix_exact_match"])
def test_means_over_trials(written: Path, metric: str) -> None:
    (file,) = written.rglob("stats.json")
    n_checked = 0
    for stat in json.loads(file.read_text()):
        name, about = stat["name"], stat["name"].get("perturbation")
        if name["name"] != metric or (about and about.get("computed_on") != "perturbed"):
            continue
        sets = [each for each in list_runs(file.parent)["dataset"] if ("/" in each) == bool(about)]
        runs = read_runs(file.parent, dataset=sets[0], split=name["split"], columns={"score": metric})
        assert runs.n_runs == 3
        assert runs.scores.mean() == pytest.approx(stat["mean"], abs=1e-9), name
        n_checked += 1
    assert n_checked >= 2
