"""Right labels from a table without texts: which of its other columns are groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import goldassay
from goldassay.runs.reading import read_runs
from tests.markdown_tables import table_of

if TYPE_CHECKING:
    from pathlib import Path

N = 40
GOLD = pl.DataFrame(
    {
        "example_id": [f"e{i}" for i in range(N)],
        "label": ["yes", "no"] * (N // 2),
        # Names that repeat ten times are groups: 4 of 40 rows are a tenth.
        "topic": [f"topic {i % 4}" for i in range(N)],
        # Five names are more than a tenth, free text is all its own, and one name parts nothing.
        "writer": [f"writer {i % 5}" for i in range(N)],
        "note": [f"said of example {i}" for i in range(N)],
        "source": ["exam"] * N,
        # Numbers and columns with gaps are no names.
        "level": [i % 2 for i in range(N)],
        "partly": ["a" if i % 2 else None for i in range(N)],
    }
)


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    rows = [
        {"example_id": f"e{i}", "seed": seed, "prediction": "yes" if i < 20 + 4 * seed else "no"}
        for seed in range(2)
        for i in range(N)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "runs.csv")
    return tmp_path / "runs.csv"


def test_names_that_repeat_are_groups_and_free_text_is_none(tmp_path: Path, predictions: Path) -> None:
    GOLD.write_parquet(tmp_path / "gold.parquet")
    runs = read_runs(predictions, gold=tmp_path / "gold.parquet")
    assert list(runs.groups) == ["topic"]
    assert runs.groups["topic"].tolist() == GOLD["topic"].to_list()


def test_the_report_has_a_row_for_each_group_and_none_for_free_text(tmp_path: Path, predictions: Path) -> None:
    GOLD.write_parquet(tmp_path / "gold.parquet")
    report = goldassay.measure_instability(predictions, test=tmp_path / "gold.parquet")
    (found,) = report.to_dict()["instability"]["results"]
    assert found["group_columns"] == ["topic"]
    (within,) = table_of(report, "Covariance within")
    assert (within["by"], within["groups"]) == ("topic", "4")
    rows = {row["group"]: (row["examples"], row["mean score"]) for row in table_of(report, "By topic")}
    # "yes" of the first 20, then of the first 24: of topics 0 and 2, whose labels are "yes", 5 and 6 of 10 are right;
    # of topics 1 and 3, whose labels are "no", 5 and 4.
    assert rows == {f"topic {at}": ("10", "45.0" if at % 2 else "55.0") for at in range(4)}
