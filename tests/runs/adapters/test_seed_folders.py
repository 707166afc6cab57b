from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.runs.reading import list_runs, read_runs

if TYPE_CHECKING:
    from pathlib import Path

NLI = ["contradiction", "entailment", "neutral"]


def write(folder: Path, predictions: list[int] | None, logits: list[list[float]] | None) -> None:
    folder.mkdir(parents=True)
    (folder / "eval_results.txt").write_text("acc = 0.5\n")
    if predictions is not None:
        (folder / "pred_results.txt").write_text(json.dumps(predictions))
    if logits is not None:
        (folder / "logits_results.txt").write_text(json.dumps(logits))


def gold() -> Dataset:
    return Dataset(pl.DataFrame({"example_id": ["0", "1"], "label": ["neutral", "entailment"]}), (), tuple(NLI), "d")


def test_the_released_layout(tmp_path: Path) -> None:
    for seed in (1, 2, 10):
        for dataset in ("mnli", "mnli-mm"):
            write(tmp_path / f"berts/seed_{seed}/-{dataset}", [2, 0], [[0.1, 0.2, 0.9], [2.0, 1.0, 0.0]])
    frame = list_runs(tmp_path)
    assert frame["dataset"].to_list() == ["mnli", "mnli-mm"]
    assert frame["seeds"].to_list() == [["1", "2", "10"]] * 2
    runs = read_runs(tmp_path, dataset="mnli-mm", label_names=NLI, gold=gold())
    assert runs.model == "berts"
    assert runs.seeds.tolist() == [1, 2, 10]
    assert runs.scores.tolist() == [[1, 0]] * 3
    assert runs.logits is not None
    assert runs.logits.shape == (3, 2, 3)


@pytest.mark.parametrize("kind", ["predictions", "logits"])
def test_either_file_is_enough(tmp_path: Path, kind: str) -> None:
    write(
        tmp_path / "m/seed_3/-d",
        [2, 0] if kind == "predictions" else None,
        None if kind == "predictions" else [[0.1, 0.2, 0.9], [2.0, 1.0, 0.0]],
    )
    assert read_runs(tmp_path, label_names=NLI, gold=gold()).scores.tolist() == [[1, 0]]


@pytest.mark.parametrize("text", ["__import__('os').system('touch sprung')", "[1, 2", "{}", "[]", ""])
def test_it_is_read_as_data_and_never_evaluated(tmp_path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "m/seed_3/-d", [1], None)
    (tmp_path / "m/seed_3/-d/pred_results.txt").write_text(text)
    with pytest.raises(InputError, match="JSON list"):
        read_runs(tmp_path)
    assert not (tmp_path / "sprung").exists()


def test_misfits(tmp_path: Path) -> None:
    write(tmp_path / "m/seed_3/-d", [2, 0, 1], [[0.1, 0.2, 0.9], [2.0, 1.0, 0.0]])
    with pytest.raises(InputError, match="3 predictions but 2 rows"):
        read_runs(tmp_path, label_names=NLI, gold=gold())
    with pytest.raises(InputError, match="label codes up to 2, but 2 labels"):
        read_runs(tmp_path, label_names=NLI[:2], gold=gold())
