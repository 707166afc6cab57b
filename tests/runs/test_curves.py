from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from goldassay.core.errors import InputError
from goldassay.runs.curves import read_curves
from goldassay.runs.reading import NoRunsError, find_slices
from goldassay.runs.run_parts import Request
from tests.stated import in_order

WRITTEN = Path(__file__).parent / "fixtures" / "trainer"


def state(folder: Path, history: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "trainer_state.json"
    path.write_text(json.dumps({"global_step": 20, "log_history": history}))
    return path


def scored(*values: float, name: str = "eval_accuracy") -> list[dict[str, Any]]:
    return [{"step": 10 * i, "loss": 1.0, name: value} for i, value in enumerate(values, start=1)]


def test_what_the_tool_wrote() -> None:
    hard, plain = read_curves(WRITTEN)
    assert (hard.model, hard.dataset, hard.metric, plain.dataset) == ("tiny-bert", "hard", "accuracy", "plain")
    assert plain.seeds == (1, 2, 3)
    assert plain.checkpoints == (8, 16, 24, 32, 40, 48)
    assert plain.scores.shape == (3, 6)
    assert plain.final.tolist() == plain.scores[:, -1].tolist()
    results = [json.loads((WRITTEN / f"tiny-bert/seed_{k}/eval_results.json").read_text()) for k in (1, 2, 3)]
    assert plain.final.tolist() == [each["eval_accuracy"] for each in results]
    assert read_curves(WRITTEN, "eval_plain_accuracy")[0].scores.tolist() == plain.scores.tolist()
    assert [each.dataset for each in read_curves(WRITTEN, dataset="hard")] == ["hard"]
    assert read_curves(WRITTEN, model="other") == []


def test_the_state_that_reaches_furthest(tmp_path: Path) -> None:
    """Where a run kept no state of its own, as after a kill, that of its last checkpoint is taken, by its number."""
    shutil.copytree(WRITTEN / "tiny-bert/seed_1", tmp_path / "m/seed_1")
    (tmp_path / "m/seed_1/trainer_state.json").unlink()
    for step in (16, 32, 48):
        if step == 48:
            (tmp_path / "m/seed_1/checkpoint-48").rename(tmp_path / "m/seed_1/checkpoint-100")
    assert read_curves(tmp_path)[0].checkpoints == (8, 16, 24, 32, 40, 48)
    # Without any state, results of the last evaluation are all there is.
    for file in tmp_path.rglob("trainer_state.json"):
        file.unlink()
    (curve,) = read_curves(tmp_path)
    assert (curve.checkpoints, curve.dataset, curve.final.tolist()) == ((), "eval", [0.375])


def test_steps_that_runs_do_not_share(tmp_path: Path) -> None:
    state(tmp_path / "m/seed_1", scored(0.1, 0.2, 0.3))
    state(tmp_path / "m/seed_2", scored(0.4, 0.5))
    # A later evaluation at the same step is of another dataset, or the same again.
    state(tmp_path / "m/seed_3", [*scored(0.6, 0.7), {"step": 20, "eval_accuracy": 0.9}])
    (curve,) = read_curves(tmp_path)
    assert curve.checkpoints == (10, 20)
    assert curve.scores.tolist() == [[0.1, 0.2], [0.4, 0.5], [0.6, 0.7]]
    assert curve.final.tolist() == [0.3, 0.5, 0.7]
    assert curve.skipped == {"steps at which not all runs were scored": 1}


@pytest.mark.parametrize(
    ("name", "dataset", "metric"),
    [
        ("eval_accuracy", "eval", "accuracy"),
        ("eval_f1", "eval", "f1"),
        ("eval_macro_f1", "eval", "macro_f1"),
        ("eval_f1_macro", "eval", "f1_macro"),
        ("eval_mnli_mm_macro_f1", "mnli_mm", "macro_f1"),
        ("eval_squad_exact_match", "squad", "exact_match"),
    ],
)
def test_names_of_metrics(tmp_path: Path, name: str, dataset: str, metric: str) -> None:
    state(tmp_path / "m/seed_1", scored(0.1, 0.2, name=name))
    (curve,) = read_curves(tmp_path)
    assert (curve.dataset, curve.metric) == (dataset, metric)


def test_a_metric_by_its_name(tmp_path: Path) -> None:
    state(tmp_path / "m/seed_1", scored(0.1, 0.2, name="eval_matthews_correlation"))
    with pytest.raises(InputError, match=in_order("no score", "there are eval_matthews_correlation")):
        read_curves(tmp_path)
    assert read_curves(tmp_path, required=False) == []
    assert read_curves(tmp_path, "eval_matthews_correlation")[0].final.tolist() == [0.2]
    with pytest.raises(InputError, match="'eval_x'"):
        read_curves(tmp_path, "eval_x")


def test_several_models_as_runs_of_one(tmp_path: Path) -> None:
    for name in ("bert-b", "bert-a"):
        state(tmp_path / name, scored(0.1, 0.2))
    assert [each.model for each in read_curves(tmp_path)] == ["bert-a", "bert-b"]
    (curve,) = read_curves(tmp_path, model="bert-*")
    assert (curve.model, curve.seeds) == ("bert-*", ("bert-a", "bert-b"))


@pytest.mark.parametrize(
    ("history", "said"),
    [
        ({}, "log_history is not a list"),
        ([3], "log_history is not a list"),
        (None, "log_history is not a list"),
        ([], "there are no evaluations"),
        ([{"step": "10", "eval_accuracy": 0.5}], "no score within"),
        ([{"step": 10, "eval_accuracy": "high"}], "no score within"),
        ([{"step": 10, "eval_accuracy": 85.3}], "no score within"),
        ([{"step": 10, "eval_accuracy": float("nan")}], "no score within"),
    ],
)
def test_what_is_refused(tmp_path: Path, history: Any, said: str) -> None:
    path = state(tmp_path / "m/seed_1", history)
    with pytest.raises(InputError, match=said):
        read_curves(path)


def test_damaged_and_doubled(tmp_path: Path) -> None:
    path = state(tmp_path / "a/m/seed_1", scored(0.1))
    state(tmp_path / "b/m/seed_1", scored(0.2))
    with pytest.raises(InputError, match="the run of m with seed 1 is there twice"):
        read_curves(tmp_path)
    for text in ("[", "[1]", "[" * 100_000):
        path.write_text(text)
        with pytest.raises(InputError, match=r"not JSON|not hold one JSON object"):
            read_curves(path)


def test_links_that_lead_back_are_followed_once(tmp_path: Path) -> None:
    state(tmp_path / "m/seed_1", scored(0.1, 0.2))
    (tmp_path / "m/seed_1/predict_results.txt").write_text("index\tprediction\n0\ta\n")
    for name in ("up", "again"):
        (tmp_path / name).symlink_to(tmp_path, target_is_directory=True)
        (tmp_path / "m" / name).symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "gone.csv").symlink_to(tmp_path / "nowhere")
    assert len(read_curves(tmp_path)) == 1
    assert len(find_slices(tmp_path, "auto", Request())) == 1


def test_predictions_are_asked_for_where_only_scores_are(tmp_path: Path) -> None:
    state(tmp_path / "m/seed_1", scored(0.1))
    with pytest.raises(NoRunsError, match="logged scores are here, but no predictions"):
        find_slices(tmp_path, "auto", Request())
