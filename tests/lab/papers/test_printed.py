"""Printed tables: whole, with keys that tell cells apart."""

from __future__ import annotations

from importlib.resources import files

import polars as pl
import pytest

from goldassay.lab.papers import printed
from goldassay.lab.papers.printed import printed_table

NAMES = sorted(path.name.removesuffix(".csv") for path in files(printed).iterdir() if path.name.endswith(".csv"))


@pytest.mark.parametrize("name", NAMES)
def test_cells_are_told_apart_by_their_keys(name: str):
    table = printed_table(name)
    keys = [column for column in table.columns if column not in ("value", "sd", "doubted")]
    assert keys
    assert table.height
    # Two places of one paper give one size with different digits.
    unique = [*keys, "value"] if name == "liu2020_sizes" else keys
    assert table.select(unique).is_unique().all()
    assert table.schema["doubted"] == pl.Boolean


def test_figures_are_those_of_the_papers():
    spread = printed_table("zhou2020_table9").filter((pl.col("model") == "BERT-B") & (pl.col("dataset") == "HANS"))
    assert spread.select("value", "sd").row(0) == (62.31, 1.51)
    easy = printed_table("liu2020_table4").filter(
        (pl.col("model") == "InferSent") & (pl.col("dataset") == "SNLI test") & (pl.col("subset") == "easy")
    )
    assert easy["value"].to_list() == [97.2]
    sick = printed_table("saxon2023_table3").filter(
        (pl.col("dataset") == "SICK") & (pl.col("metric") == "single_accuracy")
    )
    assert sick["value"].to_list() == [60.0]
    assert printed_table("zhou2020_table9").filter(pl.col("doubted"))["model"].to_list()[0] == "ESIM"
