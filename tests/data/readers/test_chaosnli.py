"""ChaosNLI's data files, made up after the sample in its README (repository easonnie/ChaosNLI)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from goldassay.core.errors import InputError
from goldassay.data.reading import read_dataset

if TYPE_CHECKING:
    from pathlib import Path


def line(uid: str, label: str, **more: Any) -> dict[str, Any]:
    example = {"uid": uid, "premise": f"Premise {uid}.", "hypothesis": "A hypothesis.", "source": "mnli_agree_3"}
    return {
        "uid": uid,
        "label_counter": {"e": 20, "n": 20, "c": 4, label: 76},
        "majority_label": label,
        "label_dist": [0.76, 0.2, 0.04],
        "label_count": [76, 20, 4],
        "entropy": 0.951,
        "example": example,
        "old_label": "n",
        "old_labels": ["neutral", "entailment", "neutral", "neutral", "contradiction"],
    } | more


def write(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(each) + "\n" for each in lines))
    return path


def test_texts_and_the_majority_label(tmp_path: Path) -> None:
    dataset = read_dataset(write(tmp_path / "chaosNLI_mnli_m.jsonl", line("1n", "e"), line("2n", "c")))
    assert dataset.text_columns == ("premise", "hypothesis")
    assert dataset.examples["premise"].to_list() == ["Premise 1n.", "Premise 2n."]
    assert dataset.examples["label"].to_list() == ["entailment", "contradiction"]
    assert dataset.examples["example_id"].to_list() == ["1n", "2n"]
    assert dataset.provenance.format == "chaosnli"


def test_the_earlier_label_instead(tmp_path: Path) -> None:
    path = write(tmp_path / "chaos.jsonl", line("1n", "e"), line("2n", "c", old_label="e"))
    labels = read_dataset(path, columns={"label": "old_label"}).examples["label"].to_list()
    assert labels == ["neutral", "entailment"]


def test_lines_of_another_kind_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "chaos.jsonl", line("1n", "e"), line("2n", "c", example="a text"))
    with pytest.raises(InputError, match="not examples of ChaosNLI like the first"):
        read_dataset(path)
