"""What runs answer on each test row, against a loop over the files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from scipy.special import softmax

from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.questions.evidence import Evidence
from goldassay.questions.instability.answers import answers_of_runs
from goldassay.runs import Runs, write_runs

if TYPE_CHECKING:
    from pathlib import Path

LABELS = ("no", "yes", "maybe")


@pytest.fixture
def evidence(tmp_path: Path) -> Evidence:
    rng = np.random.default_rng(0)
    rows = pl.DataFrame(
        {"id": [f"e{i}" for i in range(40)], "text": [f"text {i}" for i in range(40)],
         "label": [LABELS[i % 3] for i in range(40)]}
    )  # fmt: skip
    order = rng.permutation(40)
    gold = np.arange(40) % 3
    logits = rng.normal(size=(3, 40, 3))
    runs = Runs.from_arrays(
        logits=logits[:, order], gold=gold[order], label_names=LABELS, seeds=[5, 6, 7], model="m", dataset="test",
        example_ids=[f"e{i}" for i in order],
    )  # fmt: skip
    write_runs(runs, tmp_path / "runs")
    train = pl.DataFrame({"id": ["a", "b", "c"], "text": ["one", "two", "three"], "label": list(LABELS)})
    found = Evidence(train, rows, [str(tmp_path / "runs")], settings=Settings(), steps=Steps(quiet=True))
    found.load()
    self = found
    self.wanted = (logits, gold)  # type: ignore[attr-defined]
    return self


def test_columns_are_those_of_the_files(evidence: Evidence) -> None:
    logits, gold = evidence.wanted  # type: ignore[attr-defined]
    found = answers_of_runs(evidence)
    predicted = logits.argmax(-1)
    right = np.take_along_axis(softmax(logits, axis=-1), gold[np.newaxis, :, np.newaxis], axis=-1)[..., 0]
    assert found["runs_scores"].to_list() == (predicted == gold).T.astype(float).tolist()
    assert found["runs_answers"].to_list() == [[LABELS[i] for i in row] for row in predicted.T]
    assert found["runs_right"].to_numpy() == pytest.approx((predicted == gold).mean(axis=0))
    assert found["confidence"].to_numpy() == pytest.approx(right.mean(axis=0), abs=1e-6)
    assert found["variability"].to_numpy() == pytest.approx(right.std(axis=0), abs=1e-6)
    n_right = (predicted == gold).sum(axis=0)
    wanted = ["all right" if n == 3 else "all wrong" if n == 0 else "differ" for n in n_right]
    assert found["runs"].to_list() == wanted
