"""The paper's tables beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.studies.experiments.cells import compare_cells

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goldassay.data import Dataset
    from goldassay.studies.experiments.recipe import Comparison

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
_PARTS = {" train": "train", "": "test"}


def compare_tables(
    rows: Sequence[Mapping[str, Any]], grid: Sequence[Mapping[str, Any]], sets: Mapping[str, Dataset]
) -> tuple[Comparison, ...]:
    """Tables 1 to 5.

    Args:
        rows: Of `rows_of_all`.
        grid: Of `peco_cells`.
        sets: Of the study, by name.
    """
    tested = dict.fromkeys(row["dataset"] for row in rows)
    sizes = [
        {"dataset": name, "split": split, "metric": "examples", "ours": len(sets[f"{name}{suffix}"])}
        for name in tested
        for suffix, split in _PARTS.items()
        if f"{name}{suffix}" in sets
    ]
    whole = list({(row["model"], row["dataset"]): row for row in rows}.values())
    paired = [
        {
            "model": row["model"], "dataset": row["dataset"], "metric": metric, "ours": _points(row[key]),
            "low": _points(row.get(f"{key}_low")), "high": _points(row.get(f"{key}_high")), "n_runs": row["n_runs"],
        }
        for row in whole
        for metric, key in (("ours", "paired"), ("majority", "majority"))
    ]  # fmt: skip
    return (
        compare_cells(
            "saxon2023_table1", "Table 1: sizes", sizes, rows=("dataset",), columns=("split",),
            where={"metric": "examples"}, digits=0, note="the paper prints thousands.",
        ),
        compare_cells(
            "saxon2023_table2", "Table 2: models of the pair, and the majority", paired, rows=("model", "dataset"),
            columns=("metric",), where={"kind": "accuracy"},
        ),
        compare_cells(
            "saxon2023_table3", "Table 3: models of a single sentence", list(_cells(rows, _ACCURACIES)), rows=_ROWS,
            columns=("metric",), note="accuracy, its share of the pair's, and what it is above the majority.",
        ),
        compare_cells(
            "saxon2023_table4", "Table 4: do they decide alike, and look at the same words?",
            list(_cells(rows, _DECISIONS)), rows=_ROWS, columns=("metric",),
            note="all in the paper's convention, in which recovery is a share of what the pair's model gets right, and "
            "a PECO of 5.0 is none; the reports have both conventions, and the part of PECO that is beyond chance.",
        ),
        *(
            compare_cells(
                "saxon2023_table5", f"Table 5: PECO by clusters · components, {kind}",
                [cell for cell in grid if cell["divergence"] == divergence], rows=_ROWS, columns=("k", "pca"),
                where={"divergence": divergence}, digits=digits,
                note="in the paper's convention; with 0 components there is no PCA.",
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
                "ours": _points(row[value]),
                "low": None if low is None else _points(row[low]),
                "high": None if high is None else _points(row[high]),
            }


def _points(value: float | None) -> float | None:
    return None if value is None else 100 * value
