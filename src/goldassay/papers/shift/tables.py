"""The paper's one table of figures beside ours, and ours alone where it draws what it does not print."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import in_points
from goldassay.papers.cells import compare_cells, show_cells
from goldassay.papers.shift.scales import BAG

if TYPE_CHECKING:
    from goldassay.papers.recipe import Comparison
    from goldassay.papers.shift.evidence import Evidence

_TELEPHONE = "MNLI Telephone"
_DETECTED = {
    "false_alarm_rate": "false alarms at 95 % recall",
    "auroc": "area under the ROC curve",
    "aupr_out": "area under the precision-recall curve, foreign texts positive",
}
CHANCE = "chance"


def compare_tables(found: Evidence) -> tuple[Comparison, ...]:
    """Table 1, then what Figures 1 to 4 draw."""
    values = [_cell(row, "value", "low", "high") for row in found.gaps]
    gaps = [_cell(row, "gap", "gap_low", "gap_high") for row in found.gaps if not row["own"]]
    tables = [
        compare_cells(
            "hendrycks2020_table1", "Table 1: trained on MNLI Telephone", [
                {**cell, "statistic": "accuracy"} for cell in values if cell["train"] == _TELEPHONE
            ],
            rows=("model",), columns=("dataset",), where={"train": _TELEPHONE}, keep_unmatched=True,
            note="the paper's only figures on generalization; the others are drawn.",
        ),
        show_cells(
            "values", "Scores at home and elsewhere", values, rows=("train", "dataset"), columns=("model",),
            note="accuracy, Pearson's correlation × 100 for STS-B, exact match for ReCoRD; the paper draws them.",
        ),
        show_cells(
            "gaps", "What is lost elsewhere", gaps, rows=("train", "dataset"), columns=("model",),
            note="in points; above 0 it is lost, below 0 gained." + _untrained(found),
        ),
    ]  # fmt: skip
    for metric, title in _DETECTED.items():
        cells: list[dict[str, Any]] = [
            {"dataset": row["dataset"], "model": row["model"], **_points(row, metric, f"{metric}_low",
             f"{metric}_high"), "n_runs": row["n_runs"]}
            for row in found.detection
        ]  # fmt: skip
        chance = {row["dataset"]: 100 * row[f"{metric}_chance"] for row in found.detection}
        cells += [{"dataset": name, "model": CHANCE, "ours": value} for name, value in chance.items()]
        if cells:
            tables.append(show_cells(metric, f"Foreign texts: {title}", cells, rows=("dataset",), columns=("model",)))
    return tuple(tables)


def _untrained(found: Evidence) -> str:
    """What the figures of a model without a home are."""
    if all(row.get("trained", True) for row in found.gaps):
        return ""
    return f" On STS-B nothing is trained for the {BAG}, a cosine: its figures say how hard sets are, no loss."


def _cell(row: Any, *keys: str) -> dict[str, Any]:
    return {
        "train": row["train"], "dataset": row["test"], "model": row["model"], **_points(row, *keys),
        "n_runs": row["n_runs"],
    }  # fmt: skip


def _points(row: Any, *keys: str) -> dict[str, float | None]:
    names = ("ours", "low", "high")
    return {name: in_points(row[key]) for name, key in zip(names, keys, strict=True)}
