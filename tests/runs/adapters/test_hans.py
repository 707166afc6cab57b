from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.data.dataset import Dataset
from goldassay.runs.reading import read_runs

if TYPE_CHECKING:
    from pathlib import Path


def test_its_column_of_gold_holds_the_predictions(tmp_path: Path) -> None:
    (tmp_path / "bert.txt").write_text("pairID,gold_label\nex1,neutral\nex0,entailment\nex2,entailment\n")
    with pytest.raises(InputError, match="no gold"):
        read_runs(tmp_path)
    gold = pl.DataFrame({"example_id": ["ex0", "ex1", "ex2"], "label": ["entailment"] + ["non-entailment"] * 2})
    runs = read_runs(tmp_path, gold=Dataset(gold, (), ("entailment", "non-entailment"), "hans"))
    assert runs.example_ids.tolist() == ["ex1", "ex0", "ex2"]
    assert runs.scores.tolist() == [[1, 1, 0]]
    assert (runs.dataset, runs.seeds.tolist()) == ("hans", ["bert"])
