"""The paper's tables beside ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import in_points
from goldassay.papers.cells import compare_cells, show_cells
from goldassay.papers.instability.evidence import REFERENCE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.papers.instability.evidence import Evidence
    from goldassay.papers.recipe import Comparison

_ROOTS = "the root of the covariance's absolute value, as printed; the report tells its sign."


def compare_tables(
    found: Sequence[Evidence], reading: Evidence | None, tests: Mapping[str, Dataset]
) -> tuple[Comparison, ...]:
    """Tables 9, 1, 3, 5, 6 and 7, and of reading comprehension 10, 2 and 4.

    Args:
        found: Rows on our runs, and on the released ones.
        reading: Rows on our runs of reading comprehension, where there are any.
        tests: What was evaluated on.
    """
    selections = [
        {"model": row["model"], "dataset": row["dataset"], "selection_set": by, "ours": 100 * row[f"{key}_mean"],
         "sd": 100 * row[f"{key}_sd"]}
        for each in found for row in each.selections
        for by, key in ((REFERENCE, "standard"), ("re-split dev", "analysis"))
    ]  # fmt: skip
    pairs = [
        {"model": row["model"], "dataset": row["dataset"], "statistic": name, "ours": value}
        for each in found for row in each.examples if row["pairs"]
        for name, value in (
            ("largest covariance of two, thousandths", 1000 * row["pairs"][0]["covariance"]),
            ("pairs that have it", row["n_pairs_at_most"]),
        )
    ]  # fmt: skip
    sizes = [
        {"dataset": name, "statistic": statistic, "ours": value}
        for name, dataset in tests.items()
        for statistic, value in (("examples", len(dataset)), ("classes", len(dataset.label_names)))
    ]
    tables = [
        compare_cells(
            "zhou2020_table9", "Table 9: accuracy, mean and SD over seeds", _spread(found), rows=("model",),
            columns=("dataset",), digits=2, keep_unmatched=True,
        ),
        compare_cells(
            "zhou2020_table1", "Table 1: normalized deviation", _deviations(found), rows=("model",),
            columns=("dataset",), digits=2, note="the paper divides rounded deviations; ours are not rounded.",
        ),
        compare_cells(
            "zhou2020_table3", "Table 3: where the variance comes from, roots in points", _parts(found),
            rows=("model", "dataset"), columns=("statistic",), digits=2, note=_ROOTS,
        ),
        show_cells(
            "zhou2020_table5", "Table 5: the two examples that move together most", pairs, rows=("model", "dataset"),
            columns=("statistic",), digits=0, drawn="nothing",
            note="the paper shows one pair with .278 as the largest; of ten runs no pair can have more, and many have "
            "as much.",
        ),
        compare_cells(
            "zhou2020_table6", "Table 6: model selection on the standard set, or on a part of the analysis set",
            selections, rows=("model", "dataset"), columns=("selection_set",), where={"statistic": "accuracy_mean"},
            note="ours are means over 20 splits; the paper does not say how many it took.",
        ),
        replace(
            compare_cells(
                "zhou2020_table7", "Table 7: sizes", sizes, rows=("dataset",), columns=("statistic",), digits=0
            ),
            drawn="nothing",
        ),
    ]  # fmt: skip
    if reading is not None:
        tables += [
            compare_cells(
                "zhou2020_table10", "Table 10: F1 of reading comprehension, mean and SD over seeds", _spread([reading]),
                rows=("model",), columns=("dataset",), where={"statistic": "f1"}, digits=2,
                note="of AddSent the paper takes the worst variant of each question, ours is the mean over all.",
            ),
            compare_cells(
                "zhou2020_table2", "Table 2: normalized deviation of reading comprehension", _deviations([reading]),
                rows=("model",), columns=("dataset",), digits=2,
            ),
            compare_cells(
                "zhou2020_table4", "Table 4: where the variance of reading comprehension comes from, roots in points",
                _parts([reading]), rows=("model", "dataset"), columns=("statistic",), digits=2, note=_ROOTS,
            ),
        ]  # fmt: skip
    return tuple(tables)


def _spread(found: Sequence[Evidence]) -> list[dict[str, Any]]:
    return [
        {
            "model": row["model"], "dataset": row["dataset"], "ours": 100 * row["mean"], "sd": in_points(row["sd"]),
            "n_runs": row["n_runs"],
        }
        for each in found for row in each.results
    ]  # fmt: skip


def _deviations(found: Sequence[Evidence]) -> list[dict[str, Any]]:
    return [
        {
            "model": row["model"], "dataset": row["dataset"], "ours": row["recommended"], "low": row["low"],
            "high": row["high"],
        }
        for each in found for row in each.deviations if row["recommended"] is not None
    ]  # fmt: skip


def _parts(found: Sequence[Evidence]) -> list[dict[str, Any]]:
    return [
        {"model": row["model"], "dataset": row["dataset"], "statistic": name, "ours": 100 * abs(row[key]) ** 0.5}
        for each in found
        for row in each.results
        if row["total"] is not None
        for name, key in (
            ("sqrt_total_variance", "total"),
            ("sqrt_independent_variance", "independent"),
            ("sqrt_abs_covariance", "covariance"),
        )
    ]
