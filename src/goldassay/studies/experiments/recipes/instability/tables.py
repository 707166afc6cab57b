"""The paper's tables beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.studies.experiments.cells import compare_cells
from goldassay.studies.experiments.recipes.instability.evidence import REFERENCE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.studies.experiments.recipe import Comparison
    from goldassay.studies.experiments.recipes.instability.evidence import Evidence


def compare_tables(found: Sequence[Evidence], tests: Mapping[str, Dataset]) -> tuple[Comparison, ...]:
    """Tables 9, 1, 3, 6 and 7.

    Args:
        found: Rows on our runs, and on the released ones.
        tests: What was evaluated on.
    """
    results = [row for each in found for row in each.results]
    spread = [
        {
            "model": row["model"], "dataset": row["dataset"], "ours": 100 * row["mean"], "sd": _points(row["sd"]),
            "n_runs": row["n_runs"],
        }
        for row in results
    ]  # fmt: skip
    deviations = [
        {
            "model": row["model"], "dataset": row["dataset"], "ours": row["recommended"], "low": row["low"],
            "high": row["high"],
        }
        for each in found for row in each.deviations if row["recommended"] is not None
    ]  # fmt: skip
    parts = [
        {"model": row["model"], "dataset": row["dataset"], "statistic": name, "ours": 100 * abs(row[key]) ** 0.5}
        for row in results
        if row["total"] is not None
        for name, key in (
            ("sqrt_total_variance", "total"),
            ("sqrt_independent_variance", "independent"),
            ("sqrt_abs_covariance", "covariance"),
        )
    ]
    selections = [
        {"model": row["model"], "dataset": row["dataset"], "selection_set": by, "ours": 100 * row[f"{key}_mean"],
         "sd": 100 * row[f"{key}_sd"]}
        for each in found for row in each.selections
        for by, key in ((REFERENCE, "standard"), ("re-split dev", "analysis"))
    ]  # fmt: skip
    sizes = [{"dataset": name, "statistic": "examples", "ours": len(dataset)} for name, dataset in tests.items()]
    return (
        compare_cells(
            "zhou2020_table9", "Table 9: accuracy, mean and SD over seeds", spread, rows=("model",),
            columns=("dataset",), digits=2, keep_unmatched=True,
        ),
        compare_cells(
            "zhou2020_table1", "Table 1: normalized deviation", deviations, rows=("model",), columns=("dataset",),
            digits=2, note="the paper divides rounded deviations; ours are not rounded.",
        ),
        compare_cells(
            "zhou2020_table3", "Table 3: where the variance comes from, roots in points", parts,
            rows=("model", "dataset"), columns=("statistic",), digits=2,
            note="the root of the covariance's absolute value, as printed; the report tells its sign.",
        ),
        compare_cells(
            "zhou2020_table6", "Table 6: model selection on the standard set, or on a part of the analysis set",
            selections, rows=("model", "dataset"), columns=("selection_set",), where={"statistic": "accuracy_mean"},
            note="ours are means over 20 splits; the paper does not say how many it took.",
        ),
        compare_cells(
            "zhou2020_table7", "Table 7: sizes", sizes, rows=("dataset",), columns=("statistic",), digits=0,
        ),
    )  # fmt: skip


def _points(value: float | None) -> float | None:
    return None if value is None else 100 * value
