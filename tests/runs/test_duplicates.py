"""Runs that stand in two files are one run, or are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.runs.reading import Joined, find_slices, join_duplicates, runs_of
from goldassay.runs.run_parts import Request
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

IDS, LABELS = ["a", "b", "c", "d"], ["x", "y", "x", "y"]
PREDICTED = {"m": ["x", "y", "y", "y"], "n": ["y", "y", "x", "x"]}
CORRECT = {name: [int(p == g) for p, g in zip(values, LABELS, strict=True)] for name, values in PREDICTED.items()}


def write(path: Path, runs: dict[str, list[str]] | dict[str, list[int]], order: list[int] | None = None,
          label: list[str] | None = LABELS) -> None:  # fmt: skip
    columns = {"id": IDS} | ({} if label is None else {"label": label}) | runs
    table = pl.DataFrame(columns)
    (table if order is None else table[order]).write_csv(path)


def joined(folder: Path) -> Joined:
    return join_duplicates(find_slices(folder, "auto", Request()))


def test_correctness_and_predictions_are_one_run(tmp_path: Path) -> None:
    write(tmp_path / "correct.csv", CORRECT)
    write(tmp_path / "predicted.csv", {"m": PREDICTED["m"]}, order=[2, 0, 3, 1])
    found = joined(tmp_path)
    assert found.pairs == {("correct.csv", "predicted.csv"): 1}
    assert sorted(part.collection.model for part in found.slices) == ["m", "n"]
    runs = runs_of(found.slices, {"model": "m"})
    assert runs.scores.tolist() == [[1, 1, 0, 1]]
    assert runs.predictions is not None
    assert [runs.label_names[code] for code in runs.predictions[0]] == PREDICTED["m"]


def test_a_copy_is_the_same_run_and_others_are_not(tmp_path: Path) -> None:
    write(tmp_path / "one.csv", PREDICTED)
    write(tmp_path / "two.csv", {"m": PREDICTED["m"], "n": PREDICTED["m"]})
    found = joined(tmp_path)
    assert found.pairs == {("one.csv", "two.csv"): 1}
    assert sorted(part.collection.model for part in found.slices) == ["m", "n", "n"]


def test_other_labels_or_examples_are_another_dataset(tmp_path: Path) -> None:
    write(tmp_path / "correct.csv", CORRECT)
    write(tmp_path / "predicted.csv", PREDICTED, label=["y", "y", "x", "x"])
    pl.DataFrame({"id": ["e", "f", "g", "h"], "label": LABELS, **PREDICTED}).write_csv(tmp_path / "third.csv")
    found = joined(tmp_path)
    assert not found.pairs
    assert len(found.slices) == 6


def test_a_contradiction_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "correct.csv", {"m": [1, 1, 1, 1]})
    write(tmp_path / "predicted.csv", {"m": PREDICTED["m"]})
    says = in_order("predicted.csv: m", "correct.csv", "1 of 4", "wrong")
    with pytest.raises(InputError, match=says):
        joined(tmp_path)


def test_without_right_labels_it_cannot_be_told(tmp_path: Path) -> None:
    write(tmp_path / "correct.csv", {"correct_m": CORRECT["m"]}, label=None)
    write(tmp_path / "predicted.csv", {"pred_m": PREDICTED["m"]}, label=None)
    with pytest.raises(InputError, match="no right labels say whether it is the same run"):
        joined(tmp_path)
