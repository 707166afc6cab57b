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
from goldassay.questions.instability.examples import _run_names, answers_of_runs
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs

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


def test_a_run_without_a_number_goes_by_its_name() -> None:
    runs = Runs.from_arrays(
        np.zeros((2, 3), np.int64), gold=[0, 1, 2], label_names=LABELS, seeds=["first", "2"], model="m"
    )
    assert _run_names([(3, runs)], 3)["run"].to_list() == ["m first", "m seed 2"]


def test_columns_are_those_of_the_files(evidence: Evidence) -> None:
    logits, gold = evidence.wanted  # type: ignore[attr-defined]
    answers = answers_of_runs(evidence)
    found = answers.columns
    assert answers.runs is not None
    assert answers.runs["run"].to_list() == ["m seed 5", "m seed 6", "m seed 7"]
    assert answers.runs["answers_all"].to_list() == [True] * 3
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


def test_runs_that_lack_rows_have_lists_of_their_own(tmp_path: Path) -> None:
    rows = pl.DataFrame({"id": [f"e{i}" for i in range(40)], "text": [f"text {i}" for i in range(40)],
                         "label": [LABELS[i % 3] for i in range(40)]})  # fmt: skip
    gold = np.arange(40) % 3
    kept = [at for at in range(40) if at % 7]
    for model, at in (("whole", range(40)), ("part", kept[::-1])):
        runs = Runs.from_arrays(
            predictions=np.array([[(gold[i] + (i % 2)) % 3 for i in at]]), gold=gold[list(at)], label_names=LABELS,
            seeds=[1], model=model, dataset="test", example_ids=[f"e{i}" for i in at],
        )  # fmt: skip
        write_runs(runs, tmp_path / "runs")
    train = pl.DataFrame({"id": ["a", "b", "c"], "text": ["one", "two", "three"], "label": list(LABELS)})
    evidence = Evidence(train, rows, [str(tmp_path / "runs")], settings=Settings(), steps=Steps(quiet=True))
    evidence.load()
    answers = answers_of_runs(evidence)
    assert answers.runs is not None
    assert answers.runs.select("run", "n_answered", "answers_all").rows() == [("whole", 40, True), ("part", 34, False)]
    assert answers.columns["runs_scores"].to_list() == [[float(i % 2 == 0)] for i in range(40)]
    assert answers.columns["partial_scores"].to_list() == [[float(i % 2 == 0) if i % 7 else None] for i in range(40)]
    named = [[LABELS[(i % 3 + i % 2) % 3] if i % 7 else None] for i in range(40)]
    assert answers.columns["partial_answers"].to_list() == named
    # Rows are classed by the runs that answer all.
    assert answers.columns["runs"].to_list() == ["all wrong" if i % 2 else "all right" for i in range(40)]


@pytest.mark.parametrize(
    ("sets", "wanted"),
    [
        ([("a", "test", [1]), ("b", "test", [1, 2])], ["a", "b seed 1", "b seed 2"]),
        ([("a", "one", [1]), ("a", "two", [1])], ["a on one", "a on two"]),
        ([("a", "one", [1]), ("a", "one", [1]), ("a on one (2)", "x", [1])], ["a on one", "a on one (2)",
                                                                           "a on one (2) (2)"]),
    ],
)  # fmt: skip
def test_each_run_has_a_name_of_its_own(sets: list[tuple[str, str, list[int]]], wanted: list[str]) -> None:
    made = [
        (3, Runs.from_arrays(scores=np.zeros((len(seeds), 3)), seeds=seeds, model=model, dataset=dataset))
        for model, dataset, seeds in sets
    ]
    assert _run_names(made, 3)["run"].to_list() == wanted
