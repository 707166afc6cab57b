"""Ours joined with the printed, by hand and by a plain loop."""

from __future__ import annotations

from typing import Any

import polars as pl

from goldassay.lab.papers.printed import compare_cells, printed_table, show_cells

KEYS = {"rows": ("model",), "columns": ("dataset",)}


def row(model: str, dataset: str, ours: float, **more: Any) -> dict[str, Any]:
    return {"model": model, "dataset": dataset, "ours": ours, **more}


def test_a_cell_finds_its_printed_figure():
    found = compare_cells("zhou2020_table9", "t", [row("BERT-B", "HANS", 61.0, sd=1.0, n_runs=10)], **KEYS)
    cell = found.cells.filter(pl.col("ours").is_not_null()).row(0, named=True)
    assert (cell["printed"], cell["printed_sd"], cell["ours"], cell["sd"], cell["n_runs"]) == (62.31, 1.51, 61, 1, 10)
    assert not cell["doubted"]


def test_rows_of_ours_bring_the_printed_cells_that_we_lack():
    found = compare_cells("zhou2020_table9", "t", [row("ESIM", "HANS", 50.0)], **KEYS).cells
    printed = printed_table("zhou2020_table9").filter(pl.col("model") == "ESIM")
    assert found.height == printed.height
    assert found["ours"].is_not_null().sum() == 1
    assert found["doubted"].sum() == printed["doubted"].sum() > 0


def test_what_is_not_printed_stays():
    found = compare_cells("zhou2020_table9", "t", [row("ours alone", "HANS", 50.0)], **KEYS).cells
    assert found.height == 1
    assert found["printed"].to_list() == [None]
    assert found["doubted"].to_list() == [False]


def test_all_printed_rows_are_kept_where_asked_for():
    ours = [row("ours alone", "HANS", 50.0), row("ESIM", "HANS", 50.0)]
    found = compare_cells("zhou2020_table9", "t", ours, **KEYS, keep_unmatched=True).cells
    expected = {(each["model"], each["dataset"]): each["value"] for each in printed_table("zhou2020_table9").to_dicts()}
    assert {(c["model"], c["dataset"]): c["printed"] for c in found.to_dicts() if c["printed"] is not None} == expected
    assert found.height == len(expected) + 1
    # Ours first: nobody looks for them at the end.
    assert found["model"][0] == "ours alone"


def test_a_part_of_a_table_has_a_name_of_its_own():
    found = compare_cells(
        "zhou2020_table6", "t", [{"model": "BERT-B", "dataset": "HANS", "selection_set": "MNLI-m", "ours": 60.0}],
        rows=("model", "dataset"), columns=("selection_set",), where={"statistic": "accuracy_mean"},
    )  # fmt: skip
    assert found.name == "zhou2020_table6_accuracy_mean"
    assert found.cells.filter(pl.col("ours") == 60)["printed"].to_list() == [61.6]
    assert found.cells.height == 2


def test_each_of_our_models_stands_beside_all_that_is_printed():
    """The printed table has no column of models: each of ours takes the whole of it."""
    ours = [
        {"model": model, "dataset": "SNLI", "metric": "improvement", "condition": "hypothesis_only", "ours": value}
        for model, value in (("a", 10.0), ("b", 20.0))
    ]
    found = compare_cells(
        "saxon2023_table3", "t", ours, rows=("model", "dataset", "condition"), columns=("metric",)
    ).cells
    improvements = found.filter(metric="improvement")
    assert improvements.select("model", "ours", "printed").rows() == [("a", 10.0, 37.8), ("b", 20.0, 37.8)]
    assert found.filter(metric="recovered").select("model", "ours", "printed").sort("model").rows() == [
        ("a", None, 79.0), ("b", None, 79.0)
    ]  # fmt: skip


def test_ours_alone_have_nothing_printed():
    found = show_cells("gaps", "t", [row("LSTM", "IMDb", 3.0, low=1.0, high=5.0)], **KEYS)
    cell = found.cells.row(0, named=True)
    assert (cell["ours"], cell["low"], cell["high"], cell["printed"], cell["doubted"]) == (3.0, 1.0, 5.0, None, False)
