"""The paper's tables beside ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from goldassay.core.numbers import in_points
from goldassay.papers.cells import compare_cells
from goldassay.papers.leakage.sets import TRAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.papers.recipe import Comparison

_ROWS = ("model", "dataset", "condition")
# Of each printed metric ours: its value, and the ends of its interval.
_ACCURACIES = {
    "single_accuracy": ("accuracy", "accuracy_low", "accuracy_high"),
    "recovered": ("recovered", "recovered_low", "recovered_high"),
    "improvement": ("improvement", "improvement_low", "improvement_high"),
}
_DECISIONS = {
    "agreement": ("agreement", "agreement_low", "agreement_high"),
    "recovery": ("recovery_paper", "recovery_paper_low", "recovery_paper_high"),
    "token_relevance_agreement": ("relevance_paper", None, None),
    "peco": ("peco_paper", None, None),
}
# Table 1 has another name for one part of MNLI than those after it.
_IN_TABLE_1 = {"MNLI-b": "MNLI-m"}
_IN_TABLE_2 = {"ours": "paired", "sota": "best published"}


def compare_tables(
    rows: Sequence[Mapping[str, Any]], grid: Sequence[Mapping[str, Any]], sets: Mapping[str, Dataset]
) -> tuple[Comparison, ...]:
    """Tables 1 to 5.

    Args:
        rows: Of `rows_of_all`.
        grid: Of `peco_cells`.
        sets: Of the study, by name.
    """
    sizes = [
        {"dataset": _IN_TABLE_1.get(name, name), "split": split, "metric": "examples", "ours": len(sets[file])}
        for name in dict.fromkeys(row["dataset"] for row in rows)
        for file, split in ((f"{name}{TRAIN}", "train"), (name, "test"))
        if file in sets
    ]
    whole = list({(row["model"], row["dataset"]): row for row in rows}.values())
    paired = [
        {
            "model": row["model"], "dataset": row["dataset"], "metric": metric, "ours": in_points(row[key]),
            "low": in_points(row.get(f"{key}_low")), "high": in_points(row.get(f"{key}_high")), "n_runs": row["n_runs"],
        }
        for row in whole
        for metric, key in (("ours", "paired"), ("majority", "majority"))
    ]  # fmt: skip
    return (
        compare_cells(
            "saxon2023_table1", "Table 1: sizes", sizes, rows=("dataset",), columns=("split",),
            where={"metric": "examples"}, digits=0, note="the paper prints thousands.",
        ),
        _renamed(
            compare_cells(
                "saxon2023_table2", "Table 2: models of the pair, and the majority", paired, rows=("model", "dataset"),
                columns=("metric",), where={"kind": "accuracy"},
            )
        ),
        compare_cells(
            "saxon2023_table3", "Table 3: models of a single sentence", list(_cells(rows, _ACCURACIES)), rows=_ROWS,
            columns=("metric",), note="accuracy, its share of the pair's, and what it is above the majority.",
        ),
        compare_cells(
            "saxon2023_table4", "Table 4: decisions and relevances, of one sentence and of the pair",
            list(_cells(rows, _DECISIONS)), rows=_ROWS, columns=("metric",),
            note="all in the paper's convention, in which recovery is a share of what the pair's model gets right, and "
            "a PECO of 5.0 is none; the reports have both conventions, and the part of PECO that is beyond chance.",
        ),
        *(
            compare_cells(
                "saxon2023_table5", f"Table 5: PECO by number of clusters, {kind}",
                [cell for cell in grid if cell["divergence"] == divergence], rows=(*_ROWS, "pca"), columns=("k",),
                where={"divergence": divergence}, digits=digits,
                note="in the paper's convention, by the components of the PCA; 0 is without one.",
            )
            for divergence, kind, digits in (("squared_l2", "squared L2", 3), ("kl", "Kullback-Leibler × 100", 1))
        ),
    )  # fmt: skip


def _cells(
    rows: Iterable[Mapping[str, Any]], metrics: Mapping[str, tuple[str, str | None, str | None]]
) -> Iterable[dict[str, Any]]:
    for row in rows:
        for metric, (value, low, high) in metrics.items():
            if row[value] is None:
                continue
            yield {
                **{key: row[key] for key in (*_ROWS, "n_runs")},
                "metric": metric,
                "ours": in_points(row[value]),
                "low": None if low is None else in_points(row[low]),
                "high": None if high is None else in_points(row[high]),
            }


def _renamed(table: Comparison) -> Comparison:
    """Whose the column "ours" of the paper is, stands in doubt beside figures of our own."""
    renamed = pl.col("metric").replace(_IN_TABLE_2)
    others = None if table.unmatched is None else table.unmatched.with_columns(renamed)
    return replace(table, cells=table.cells.with_columns(renamed), unmatched=others)
