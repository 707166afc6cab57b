from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.instability import decompose_variance, summarize_scores
from goldassay.questions.run_curves import summarize_store
from goldassay.questions.run_sets import RunChoice
from goldassay.runs.reading import read_runs
from goldassay.runs.runs import Runs
from goldassay.runs.store import write_runs

if TYPE_CHECKING:
    from pathlib import Path

STEPS = (100, 200, 1000)


def make(dataset: str, model: str = "bert", n: int = 30, seed: int = 0) -> Runs:
    rng = np.random.default_rng([seed, n])
    gold = np.random.default_rng(n).integers(0, 3, n)
    predictions = np.where(rng.random((4, len(STEPS), n)) < 0.7, gold, rng.integers(0, 3, (4, len(STEPS), n)))
    return Runs.from_arrays(predictions, gold, checkpoints=STEPS, dataset=dataset, model=model)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for dataset, n in (("mnli", 30), ("hans", 20)):
        write_runs(make(dataset, n=n), tmp_path / "store")
    write_runs(make("mnli", model="roberta", seed=1), tmp_path / "store")
    return tmp_path / "store"


def test_figures_are_those_of_the_runs_read_whole(store: Path) -> None:
    done: list[tuple[int, int]] = []
    found = summarize_store(store, progress=lambda *at: done.append(at))
    assert [(each.model, each.dataset) for each in found.sets] == [
        ("bert", "hans"), ("bert", "mnli"), ("roberta", "mnli"),
    ]  # fmt: skip
    assert found.n_rows == 4 * 3 * (20 + 30 + 30)
    assert done == [(step, 9) for step in range(1, 10)]
    for each in found.sets:
        runs = read_runs(store, model=each.model, dataset=each.dataset)
        assert each.seeds == tuple(runs.seeds.tolist())
        assert each.scores.checkpoints == STEPS
        assert np.array_equal(each.scores.run_means, runs.scores.mean(axis=-1))
        for t in range(len(STEPS)):
            assert each.scores.sd[t] == pytest.approx(summarize_scores(runs.scores[:, t]).sd)
            parts = decompose_variance(runs.scores[:, t])
            assert each.scores.effective_size[t] == pytest.approx(parts.effective_size)


def test_the_table_has_a_row_a_set_and_checkpoint(store: Path) -> None:
    frame = summarize_store(store).to_frame()
    assert frame.height == 9
    assert frame["checkpoint"].to_list() == [str(step) for step in STEPS] * 3
    assert frame["n_examples"].to_list() == [20] * 3 + [30] * 6
    assert frame.null_count().sum_horizontal().item() == 0


def test_choices(store: Path) -> None:
    (one,) = summarize_store(store, RunChoice(model="roberta")).sets
    assert one.model == "roberta"
    last = summarize_store(store, RunChoice(checkpoint="last", dataset="mnli"))
    assert [each.scores.n_checkpoints for each in last.sets] == [1, 1]
    assert last.sets[0].scores.mean[0] == pytest.approx(
        read_runs(store, model="bert", dataset="mnli", checkpoint=1000).scores.mean()
    )
    (both,) = summarize_store(store, RunChoice(model="*bert*", dataset="mnli")).sets
    assert both.scores.n_runs == 8
    with pytest.raises(InputError, match="there are no runs"):
        summarize_store(store, RunChoice(model="other"))


def test_runs_without_checkpoints(tmp_path: Path) -> None:
    runs = make("mnli").final()
    write_runs(Runs.from_arrays(scores=runs.scores), tmp_path)
    (found,) = summarize_store(tmp_path).sets
    assert found.scores.checkpoints == ("final",)
    assert found.scores.sd[0] == pytest.approx(summarize_scores(runs.scores).sd)


def test_a_table_of_another_tool(tmp_path: Path) -> None:
    runs = make("mnli")
    rows = [
        {"seed": seed, "checkpoint": step, "example_id": i, "score": runs.scores[seed, t, i]}
        for seed in range(4) for t, step in enumerate(STEPS) for i in range(30)
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv(tmp_path / "runs.csv")
    (found,) = summarize_store(tmp_path / "runs.csv").sets
    assert found.scores.run_means == pytest.approx(runs.scores.mean(axis=-1))


def test_a_missing_checkpoint_is_refused_before_anything_is_read(store: Path) -> None:
    next(store.glob("bert*mnli*seed-2*checkpoint-200*")).unlink()
    done: list[int] = []
    with pytest.raises(InputError, match="seed 2 of bert lacks 1, first 200"):
        summarize_store(store, progress=lambda *at: done.append(at[0]))
    assert done == []


def test_other_examples_at_another_checkpoint_are_refused(tmp_path: Path) -> None:
    for step, ids in ((1, ["a", "b"]), (2, ["b", "a"]), (3, ["a", "c"])):
        write_runs(Runs.from_arrays(scores=np.eye(2), example_ids=ids, checkpoints=[step]), tmp_path)
    # An order of their own is no matter.
    assert summarize_store(tmp_path, RunChoice(checkpoint=2)).n_rows == 4
    with pytest.raises(InputError, match="checkpoints 1 and 3 do not cover the same examples"):
        summarize_store(tmp_path)


def test_other_labels_at_another_checkpoint_are_refused(tmp_path: Path) -> None:
    for step, ids, gold in ((1, ["a", "b"], [0, 1]), (2, ["b", "a"], [1, 0]), (3, ["a", "b"], [1, 1])):
        runs = Runs.from_arrays(
            [[0, 1], [1, 1]], gold, example_ids=ids, checkpoints=[step], label_names=["yes", "no"]
        )  # fmt: skip
        write_runs(runs, tmp_path)
    with pytest.raises(InputError, match="checkpoints 1 and 3 disagree on the right labels"):
        summarize_store(tmp_path)
