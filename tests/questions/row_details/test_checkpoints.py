"""Runs at their checkpoints, against the arrays that they were written from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy.special import softmax

from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.questions.evidence import Evidence
from goldassay.questions.instability.examples import answers_of_runs
from goldassay.questions.matching import MOST_CHECKPOINTS, MOST_RUNS, curves_of_runs
from goldassay.questions.run_choice import RunChoice
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("no", "yes", "maybe")
N = 30
GOLD = np.arange(N) % 3


def evidence(folder: Path, logits: np.ndarray, checkpoints: list[int], **given: Any) -> Evidence:
    """Runs with logits (R, T, N, K), their rows in another order than the test part's."""
    order = np.random.default_rng(1).permutation(N)
    rows = pl.DataFrame(
        {"id": [f"e{i}" for i in range(N)], "text": [f"text {i}" for i in range(N)],
         "label": [LABELS[i] for i in GOLD]}
    )  # fmt: skip
    runs = Runs.from_arrays(
        gold=GOLD[order], label_names=LABELS, seeds=list(range(logits.shape[0])), checkpoints=checkpoints, model="m",
        dataset="test", example_ids=[f"e{i}" for i in order], **(given or {"logits": logits[:, :, order]}),
    )  # fmt: skip
    write_runs(runs, folder / "runs")
    train = pl.DataFrame({"id": ["a", "b", "c"], "text": ["one", "two", "three"], "label": list(LABELS)})
    found = Evidence(
        train, rows, [str(folder / "runs")], choice=RunChoice(checkpoint="last"), settings=Settings(),
        steps=Steps(quiet=True),
    )  # fmt: skip
    found.load()
    return found


def test_means_are_those_of_the_runs_at_each_checkpoint(tmp_path: Path) -> None:
    logits = np.random.default_rng(0).normal(size=(3, 4, N, 3))
    found = evidence(tmp_path, logits, [5, 10, 100, 1000])
    curves = curves_of_runs(found.test, found.run_sets)
    assert curves is not None
    right = softmax(logits, axis=-1)[..., np.arange(N), GOLD]
    assert curves.checkpoints == ("5", "10", "100", "1000")
    assert curves.values == pytest.approx(right.mean(axis=0), abs=1e-6)
    columns = answers_of_runs(found, curves).columns
    assert np.array(columns["runs_over_checkpoints"].to_list()) == pytest.approx(right.mean(axis=0).T, abs=1e-6)
    # Over checkpoints and runs together (Swayamdipta et al. 2020, of one run).
    together = right.reshape(-1, N)
    assert columns["confidence"].to_numpy() == pytest.approx(together.mean(axis=0), abs=1e-6)
    assert columns["variability"].to_numpy() == pytest.approx(together.std(axis=0), abs=1e-5)
    # The score is that of the last checkpoint all the same.
    assert columns["runs_right"].to_numpy() == pytest.approx((logits[:, -1].argmax(-1) == GOLD).mean(axis=0))


def test_many_checkpoints_and_runs_are_bounded(tmp_path: Path) -> None:
    logits = np.random.default_rng(0).normal(size=(MOST_RUNS + 2, 20, N, 3))
    found = evidence(tmp_path, logits, list(range(20)))
    curves = curves_of_runs(found.test, found.run_sets)
    assert curves is not None
    assert len(curves.checkpoints) == MOST_CHECKPOINTS
    assert (curves.checkpoints[0], curves.checkpoints[-1], curves.n_runs) == ("0", "19", MOST_RUNS)


def test_one_checkpoint_is_no_curve(tmp_path: Path) -> None:
    found = evidence(tmp_path, np.random.default_rng(0).normal(size=(2, 1, N, 3)), [7])
    assert curves_of_runs(found.test, found.run_sets) is None
    assert "runs_over_checkpoints" not in answers_of_runs(found).columns
