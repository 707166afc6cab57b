"""Files of right labels whose cells are partly blank: counted, and no label of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from goldassay.core.errors import InputError
from goldassay.runs.reading import read_runs
from tests.stated import in_order

if TYPE_CHECKING:
    from pathlib import Path

IDS = [f"e{i}" for i in range(8)]
LABELS = ["yes", "no"] * 4


def predictions(folder: Path) -> Path:
    path = folder / "seed_1.csv"
    pl.DataFrame({"example_id": IDS, "prediction": ["yes"] * 8}).write_csv(path)
    return path


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("texts", [False, True])
def test_blank_labels_are_counted(tmp_path: Path, suffix: str, texts: bool) -> None:
    """In CSV an empty cell is an empty text, of which every answer would be wrong."""
    table = pl.DataFrame({"example_id": IDS, "label": [*LABELS[:4], None, None, None, None]})
    if texts:
        table = table.with_columns(premise=pl.lit("It is"), hypothesis=pl.format("said {}", pl.col("example_id")))
    gold = tmp_path / f"gold.{suffix}"
    getattr(table, f"write_{suffix}")(gold)
    path = predictions(tmp_path)
    with pytest.raises(InputError, match=in_order("4 of 8 examples", "gold of gold (", "e4")) as caught:
        read_runs(path, gold=gold)
    assert "4 of its 8 rows have a blank label" in str(caught.value) or "4 rows were left out" in str(caught.value)
    assert read_runs(path, gold=gold, align="intersect").scores.tolist() == [[1, 0, 1, 0]]


def test_blank_labels_alone_are_refused(tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    pl.DataFrame({"example_id": IDS, "label": [" "] * 8}).write_csv(gold)
    with pytest.raises(InputError, match="all 8 right labels are blank"):
        read_runs(predictions(tmp_path), gold=gold)
