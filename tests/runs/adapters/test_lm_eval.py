from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldassay.errors import InputError
from goldassay.runs import list_runs, read_runs


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
    assert runs.scores.tolist() == [[1, 0]] * 2
    assert runs.logits is not None
    assert runs.logits[0].tolist() == [[-3.0, -1.0], [-2.0, -1.5]]
    assert runs.predictions is not None
    assert runs.predictions.tolist() == [[1, 1]] * 2
    assert read_runs(tmp_path, columns={"score": "acc_norm"}).scores.tolist() == [[0, 0]] * 2


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


def test_samples_that_the_tool_wrote() -> None:
    (path,) = (Path(__file__).parent / "fixtures").glob("samples_my_task_*.jsonl")
    runs = read_runs(path)
    assert (runs.dataset, runs.n_examples) == ("my_task", 6)
    assert runs.scores.mean() == pytest.approx(1 / 3)
    assert runs.logits is not None
    assert (runs.logits.argmax(-1) == runs.predictions).all()
    assert ((runs.predictions == runs.gold) == runs.scores).all()
