from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from goldassay.core.errors import InputError
from goldassay.runs.reading import list_runs, read_runs

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, epochs: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for epoch in range(epochs):
        lines = [{"guid": guid, f"logits_epoch_{epoch}": [0.1 * epoch, 0.15, 0.0], "gold": 0} for guid in (11, 12)]
        text = "\n".join(json.dumps(line) for line in lines)
        (folder / f"dynamics_epoch_{epoch}.jsonl").write_text(text + "\n")


def test_epochs_are_checkpoints(tmp_path: Path) -> None:
    write(tmp_path / "roberta" / "training_dynamics", 3)
    assert list_runs(tmp_path)["n_examples"].to_list() == [2]
    runs = read_runs(tmp_path)
    assert runs.scores.tolist() == [[[0, 0], [0, 0], [1, 1]]]
    assert runs.seeds.tolist() == ["roberta"]
    assert runs.example_ids.tolist() == ["11", "12"]
    assert runs.logits is not None
    assert runs.logits.shape == (1, 3, 2, 3)


def test_the_published_sample_has_no_complete_example(data_dir: Path) -> None:
    folder = data_dir / "golden/cartography_sample"
    frame = list_runs(folder)
    assert frame["n_checkpoints"].to_list() == [5]
    with pytest.raises(InputError, match=r"checkpoint 1, lacks 10 of the 10 examples"):
        read_runs(folder)
    with pytest.raises(InputError, match="no example in common"):
        read_runs(folder, align="intersect")
    accuracies = [read_runs(folder, checkpoint=epoch).scores.mean() for epoch in range(5)]
    assert accuracies == pytest.approx([0.3, 1, 1, 0.9, 1])
