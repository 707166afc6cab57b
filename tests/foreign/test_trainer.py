"""Folders of the newest Trainer: the accuracy that it printed, at the end and at each checkpoint, from our scores."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from goldassay.runs.reading import list_runs, read_runs

if TYPE_CHECKING:
    from pathlib import Path


def test_accuracies_at_every_checkpoint(written: Path) -> None:
    runs = read_runs(written / "tiny-bert", dataset="plain")
    assert (runs.n_runs, runs.n_checkpoints) == (3, 4)
    assert runs.label_names == ("entailment", "neutral", "contradiction")
    steps = [str(step) for step in runs.checkpoints.tolist()]
    for at, seed in enumerate(runs.seeds.tolist()):
        folder = written / "tiny-bert" / f"seed_{seed}"
        history = json.loads((folder / "trainer_state.json").read_text())["log_history"]
        key = "eval_plain_accuracy"
        logged = {str(entry["step"]): entry[key] for entry in history if key in entry}
        last = json.loads((folder / "eval_results.json").read_text())["eval_accuracy"]
        for step, scores in zip(steps, runs.scores[at], strict=True):
            printed = last if step == "final" else logged[step]
            assert scores.mean() == pytest.approx(printed, abs=1e-9), (seed, step)


def test_predictions_as_the_example_scripts_write_them(written: Path) -> None:
    assert set(list_runs(written / "tiny-bert")["dataset"]) == {"plain", "easy", "hard"}
    hard = read_runs(written / "tiny-bert", dataset="hard", gold=written / "hard_gold.tsv")
    assert (hard.n_runs, hard.n_examples) == (3, 30)
