"""Made up after the published files (repository easonnie/ChaosNLI, README and data/prediction_samples)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from goldassay.core.errors import InputError
from goldassay.runs.reading import list_runs, read_runs
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("entailment", "neutral", "contradiction")
SNLI, MNLI = [f"{i}.jpg#2r1n" for i in range(4)], [f"{i}n" for i in range(3)]


def record(uid: str, right: int, **more: Any) -> dict[str, Any]:
    logits = [-1.0, -1.0, -1.0]
    logits[right] = 2.5
    return {"uid": uid, "logits": logits, "predicted_label": NAMES[right]} | more


def predictions(models: tuple[str, ...] = ("bert-base", "xlnet-base")) -> dict[str, Any]:
    return {
        model: {uid: record(uid, (i + shift) % 3) for i, uid in enumerate(SNLI + MNLI)}
        for shift, model in enumerate(models)
    }


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


def data_file(path: Path, uids: list[str], labels: list[Any], **inner: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "uid": uid,
            "label_counter": {label: 90},
            "majority_label": label,
            "label_dist": [0.9, 0.1, 0.0],
            "entropy": 0.5,
            "example": {"uid": uid, "source": "x", **(inner or {"premise": f"p {uid}", "hypothesis": "h"})},
            "old_label": label,
            "old_labels": ["neutral"],
        }
        for uid, label in zip(uids, labels, strict=True)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_models_and_datasets_of_one_file(tmp_path: Path) -> None:
    path = write(tmp_path / "model_predictions_for_snli_mnli.json", predictions())
    listed = list_runs(path)
    assert listed.select("model", "dataset", "n_examples", "format").rows() == [
        ("bert-base", "chaosnli_mnli", 3, "chaosnli"),
        ("bert-base", "chaosnli_snli", 4, "chaosnli"),
        ("xlnet-base", "chaosnli_mnli", 3, "chaosnli"),
        ("xlnet-base", "chaosnli_snli", 4, "chaosnli"),
    ]


def test_gold_from_the_data_file_given_or_beside(tmp_path: Path) -> None:
    path = write(tmp_path / "data" / "model_predictions" / "nli.json", predictions())
    with pytest.raises(InputError, match="no gold labels"):
        read_runs(path, model="bert-base", dataset="chaosnli_snli")
    gold = data_file(tmp_path / "mine.jsonl", SNLI[::-1], list("ecne"))
    given = read_runs(path, model="bert-base", dataset="chaosnli_snli", gold=gold)
    assert given.scores.tolist() == [[1, 1, 1, 1]]
    assert given.logits is not None
    assert given.logits.argmax(axis=-1).tolist() == [[0, 1, 2, 0]]
    data_file(tmp_path / "data" / "chaosNLI_v1.0" / "chaosNLI_snli.jsonl", SNLI, list("encn"))
    beside = read_runs(tmp_path / "data", model="bert-base", dataset="chaosnli_snli")
    assert beside.scores.tolist() == [[1, 1, 1, 0]]
    assert beside.label_names == NAMES
    data_file(tmp_path / "data" / "chaosNLI_v1.0" / "chaosNLI_snli.jsonl", SNLI[:2], list("en"))
    with pytest.raises(InputError, match=in_order("2 of 4 predicted examples", "ChaosNLI's data", "2.jpg")):
        read_runs(tmp_path / "data", model="bert-base", dataset="chaosnli_snli")


def test_probabilities_and_abductive_labels(tmp_path: Path) -> None:
    uids = ["a-1", "b-1"]
    rows = {
        uid: {"uid": uid, "predicted_probabilities": [p, 1 - p], "predicted_label": 1 if p >= 0.5 else 2}
        for uid, p in zip(uids, (0.75, 0.0), strict=True)
    }
    path = write(tmp_path / "chaosNLI_v1.0" / "mine.json", {"random_baseline": rows})
    data_file(path.parent / "chaosNLI_alphanli.jsonl", uids, [1, 1], obs1="o", obs2="p", hyp1="h", hyp2="i")
    runs = read_runs(path)
    assert runs.dataset == "chaosnli_alphanli"
    assert runs.label_names == ("1", "2")
    assert runs.scores.tolist() == [[1, 0]]
    assert runs.logits is not None
    assert np.exp(runs.logits[0]).tolist() == pytest.approx(np.array([[0.75, 0.25], [0, 1]]))


def test_gold_of_abductive_nli_given_outright(tmp_path: Path) -> None:
    rows = {uid: {"uid": uid, "logits": [2.0, 1.0], "predicted_label": 1} for uid in ("a-1", "b-1")}
    path = write(tmp_path / "runs" / "mine.json", {"m": rows})
    gold = data_file(tmp_path / "gold.jsonl", ["a-1", "b-1"], [1, 2], obs1="o", obs2="p", hyp1="h", hyp2="i")
    assert read_runs(path, gold=gold).scores.tolist() == [[1, 0]]


def test_files_of_one_model_are_its_runs(tmp_path: Path) -> None:
    for seed in ("one", "two"):
        write(tmp_path / f"{seed}.json", {"mine": {uid: record(uid, 0) for uid in SNLI}})
    data_file(tmp_path / "chaosNLI_snli.jsonl", SNLI, list("enee"))
    assert read_runs(tmp_path).seeds.tolist() == ["one", "two"]


def test_damage(tmp_path: Path) -> None:
    content = {"m": {uid: record(uid, 0) for uid in SNLI}}
    path = write(tmp_path / "cut.json", content)
    path.write_text(path.read_text()[:-5])
    with pytest.raises(InputError, match="not whole JSON"):
        list_runs(path)
    content["m"][SNLI[1]]["logits"] = [1.0, 2.0]
    with pytest.raises(InputError, match="logits of 2, 3 classes"):
        read_runs(write(path, content))
    for uid in SNLI:
        content["m"][uid]["logits"] = [1.0, 2.0]
    with pytest.raises(InputError, match="logits have 2 classes, but there are 3 labels"):
        read_runs(write(path, content))
