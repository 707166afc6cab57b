from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.questions.instability.spread import above_constant
from goldassay.runs.reading import list_runs, read_runs
from tests.stated import in_order

SAMPLES = Path(__file__).parents[1] / "fixtures" / "lm_eval"


def sample(doc: int, target: int, choices: list[float], **more: Any) -> dict[str, Any]:
    best = max(range(len(choices)), key=choices.__getitem__)
    return {
        "doc_id": doc,
        "doc": {"question": "?"},
        "target": str(target),
        "arguments": {"gen_args_0": {"arg_0": "?", "arg_1": " yes"}},
        "resps": [[[str(value), "False"]] for value in choices],
        "filtered_resps": [[str(value), "False"] for value in choices],
        "filter": "none",
        "metrics": ["acc", "acc_norm"],
        "doc_hash": "0",
        "prompt_hash": "0",
        "target_hash": "0",
        "acc": float(best == target),
        "acc_norm": 0.0,
        **more,
    }


def write(folder: Path, time: str, records: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_my_task_{time}.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records) + "\n")
    return path


def test_runs_of_one_model(tmp_path: Path) -> None:
    records = [sample(0, 1, [-3.0, -1.0]), sample(1, 0, [-2.0, -1.5])]
    for time in ("2026-01-01T10-00-00.123456", "2026-01-02T10-00-00.123456"):
        write(tmp_path / "org__model", time, records)
    frame = list_runs(tmp_path)
    assert frame["model"].to_list() == ["org__model"]
    assert frame["dataset"].to_list() == ["my_task"]
    runs = read_runs(tmp_path)
    assert runs.n_runs == 2
    # Each line holds its document, target and score: a score below the majority is no sign of labels of other rows.
    assert runs.keyed
    assert not above_constant(runs).by_position
    assert runs.scores.tolist() == [[1, 0]] * 2
    assert runs.logits is not None
    assert runs.logits[0].tolist() == [[-3.0, -1.0], [-2.0, -1.5]]
    assert runs.predictions is not None
    assert runs.predictions.tolist() == [[1, 1]] * 2
    assert read_runs(tmp_path, columns={"score": "acc_norm"}).scores.tolist() == [[0, 0]] * 2


def test_the_folder_of_a_model_named_by_its_path(tmp_path: Path) -> None:
    """Slashes become two underscores each, so that it begins with two; other names with one are no runs."""
    time = "2026-01-01T10-00-00.123456"
    for folder in ("__home__me__model", "_aside", "__pycache__"):
        write(tmp_path / folder, time, [sample(0, 1, [-3.0, -1.0]), sample(1, 0, [-2.0, -1.5])])
    assert list_runs(tmp_path)["model"].to_list() == ["__home__me__model"]


def test_metrics_of_the_task_as_a_whole_are_not_offered(tmp_path: Path) -> None:
    """Of mcc and the like a sample has its label and choice."""
    records = [sample(0, 1, [-3.0, -1.0], metrics=["acc", "mcc"], mcc=[1, 1])]
    path = write(tmp_path, "2026-01-01T10-00-00.123456", records)
    with pytest.raises(InputError, match=in_order("'mcc'", "each sample", "there are acc")):
        read_runs(path, columns={"score": "mcc"})


def test_filters_are_chosen_from(tmp_path: Path) -> None:
    answer = {"resps": [["42"]], "filtered_resps": ["42"], "metrics": ["exact_match"]}
    records = [
        sample(0, 0, [0.0], **answer, filter=name, exact_match=value) for name, value in (("a", 1.0), ("b", 0.0))
    ]
    write(tmp_path / "m", "2026-01-01T10-00-00", records)
    with pytest.raises(InputError, match="my_task/a, my_task/b"):
        read_runs(tmp_path)
    runs = read_runs(tmp_path, dataset="my_task/a")
    assert runs.scores.tolist() == [[1]]
    assert runs.logits is None


def test_no_usable_metric(tmp_path: Path) -> None:
    path = write(tmp_path / "m", "2026-01-01T10-00-00", [sample(0, 0, [0.0], metrics=["ppl"], ppl=9.0)])
    with pytest.raises(InputError, match="none of the metrics ppl"):
        read_runs(path)
    path = write(tmp_path / "m", "2026-01-01T10-00-00", [sample(0, 0, [0.0]), {"doc_id": 1}])
    with pytest.raises(InputError, match="line 2"):
        read_runs(path)


def test_scores_are_those_that_the_tool_reports() -> None:
    for results in SAMPLES.rglob("results_*.json"):
        reported = json.loads(results.read_text())["results"]
        time = results.stem.removeprefix("results_")
        for metric in ("acc", "acc_norm"):
            path = results.with_name(f"samples_made_up_choice_{time}.jsonl")
            scores = read_runs(path, columns={"score": metric}).scores
            assert scores.mean() == pytest.approx(reported["made_up_choice"][f"{metric},none"])
        for name in ("first", "last-word"):
            path = results.with_name(f"samples_made_up_answer_{time}.jsonl")
            scores = read_runs(path, dataset=f"made_up_answer/{name}").scores
            assert scores.mean() == pytest.approx(reported["made_up_answer"][f"exact_match,{name}"])


def test_model_and_seed_from_the_results_file(tmp_path: Path) -> None:
    frame = list_runs(SAMPLES).filter(pl.col("dataset") == "made_up_choice")
    assert frame["model"].to_list() == ["dummy", "made-up/tiny"]
    ((time,), seeds) = frame["seeds"].to_list()
    assert seeds == ["7", "8"]
    # The harness's own seeds are no choice of anybody's, and the name that it drew is no model's.
    (results,) = (path for path in SAMPLES.rglob("results_*.json") if "made-up" not in str(path))
    assert results.stem == f"results_{time}"
    runs = read_runs(SAMPLES, model="made-up/tiny", dataset="made_up_choice")
    assert runs.seeds.tolist() == [7, 8]
    # Without the results file the folder and the time name them.
    folder = tmp_path / "made-up__tiny"
    folder.mkdir()
    for path in SAMPLES.glob("made-up__tiny/samples_made_up_choice_*"):
        (folder / path.name).write_bytes(path.read_bytes())
    (row,) = list_runs(folder).to_dicts()
    assert row["model"] == "made-up__tiny"
    assert row["n_runs"] == 2
    assert row["seeds"][0].startswith("20")


def test_log_likelihoods_become_logits() -> None:
    runs = read_runs(SAMPLES, model="made-up/tiny", dataset="made_up_choice")
    assert runs.logits is not None
    assert runs.logits.shape == (2, 6, 3)
    assert (runs.logits < 0).all()
    assert (runs.logits.argmax(-1) == runs.predictions).all()
    assert ((runs.predictions == runs.gold) == runs.scores).all()
    # acc_norm is not of the likeliest choice, so that these would be another prediction's.
    normed = read_runs(SAMPLES, model="made-up/tiny", dataset="made_up_choice", columns={"score": "acc_norm"})
    assert normed.logits is None
    assert normed.predictions is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"results": {', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[1]", "does not say how the model was run"),
        ('{"config": 1}', "does not say how the model was run"),
    ],
)
def test_damaged_results_file(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path / "m", "2026-01-01T10-00-00.1", [sample(0, 1, [-3.0, -1.0])])
    (tmp_path / "m" / "results_2026-01-01T10-00-00.1.json").write_text(text)
    with pytest.raises(InputError, match=said):
        read_runs(path)


@pytest.mark.parametrize(
    "config",
    [{}, {"model_args": 3, "random_seed": "7"}, {"model": 3, "random_seed": [7]}, {"model_args": {"pretrained": None}}],
)
def test_results_file_with_other_types(tmp_path: Path, config: dict[str, Any]) -> None:
    path = write(tmp_path / "m", "2026-01-01T10-00-00.1", [sample(0, 1, [-3.0, -1.0])])
    (tmp_path / "m" / "results_2026-01-01T10-00-00.1.json").write_text(json.dumps({"config": config}))
    assert read_runs(path).seeds.tolist() == ["2026-01-01T10-00-00.1"]
    assert read_runs(path).model == "m"


def test_other_types_in_samples(tmp_path: Path) -> None:
    for metrics in ("acc", [1], None):
        path = write(tmp_path / "m", "2026-01-01T10-00-00", [sample(0, 0, [0.0], metrics=metrics)])
        with pytest.raises(InputError, match=r"line 1.* not a list of names"):
            read_runs(path)
    for resps in (3, [[]], [[["-1"]], [["-2"]]], [[["x", "y"]], [["x", "y"]]], [[["nan", "F"]], [["-1", "F"]]]):
        path = write(tmp_path / "m", "2026-01-01T10-00-00", [sample(0, 0, [0.0], resps=resps, acc=1.0)])
        runs = read_runs(path)
        assert runs.logits is None
        assert runs.scores.tolist() == [[1]]
    path = write(tmp_path / "m", "2026-01-01T10-00-00", [sample(i, 0, [0.0], acc=[1.0, None][i]) for i in range(2)])
    with pytest.raises(InputError, match=in_order("'acc'", "each sample", "there are acc, acc_norm")):
        read_runs(path)


def test_packed_and_cut_short(tmp_path: Path) -> None:
    whole = next(SAMPLES.glob("made-up__tiny/samples_made_up_choice_*")).read_bytes()
    path = tmp_path / "samples_made_up_choice_2026-01-01T10-00-00.jsonl.gz"
    path.write_bytes(gzip.compress(whole))
    assert read_runs(path).n_examples == 6
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(InputError, match="damaged or cut short"):
        read_runs(path)
    path = tmp_path / "samples_made_up_choice_2026-01-01T10-00-00.jsonl"
    path.write_bytes(whole[:-40])
    with pytest.raises(InputError, match="line 6"):
        read_runs(path)
