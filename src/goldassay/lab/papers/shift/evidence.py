"""What tables and conclusions are made of: rows on gaps, and on what is taken for foreign.

The paper's one table of figures beside ours, and ours alone where it draws what it does not print.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.core.numbers import in_points
from goldassay.lab.papers.cells import compare_cells, show_cells
from goldassay.lab.papers.recipe import PRETRAINED
from goldassay.lab.papers.shift.scales import BAG
from goldassay.lab.papers.shift.sets import FOREIGN, OWN, TRAIN
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.shift.detection import report_detection
from goldassay.questions.shift.question import report_generalization
from goldassay.questions.shift.quick_models import predict_quick

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.lab.papers.recipe import Comparison, Training, Workplace
    from goldassay.report.report import Report

DETECTION = "detection"
_COSINE = "bow"
# Of the scores that can tell a foreign text, the paper's.
_CONFIDENCE = "max_softmax"
# The other correlation stands in the reports.
_BESIDE = "spearman"


@dataclass(frozen=True)
class Evidence:
    """Rows of the reports.

    Attributes:
        gaps: A row a model, training set ("train", by its domain) and test set, as the reports on generalization have
            it.
        detection: A row a model and foreign set, by the models' confidence.
    """

    gaps: tuple[Mapping[str, Any], ...]
    detection: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, reports: Mapping[str, Report]) -> Evidence:
        """Take the rows of the reports of `measured_reports`."""
        documents = {name: report.to_dict()["shift"] for name, report in reports.items()}
        detection = documents.pop(DETECTION, {"detection": []})["detection"]
        gaps = [
            {**row, "train": row["train"].removesuffix(TRAIN)}
            for section in documents.values()
            for row in section["generalization"]
            if row["metric"] != _BESIDE
        ]
        return cls(tuple(gaps), tuple(row for row in detection if row["score"] == _CONFIDENCE))


def measured_reports(work: Workplace) -> dict[str, Report]:
    """A report on generalization for each training set, and one on detection."""
    reports = {}
    for training in work.scale.trainings:
        if training.train in work.lacking or _lacks_models(training, work):
            continue
        own = training.train.removesuffix(TRAIN)
        reports[own.replace(" ", "_")] = _generalization(training, own, work)
    foreign = [name for name in FOREIGN if any(name in training.tests for training in work.scale.trainings)]
    if foreign:
        reports[DETECTION] = report_detection(
            [f"{OWN}={work.runs}"],
            [f"{name}={work.runs}" for name in foreign],
            choice=RunChoice(train_set=f"{OWN}{TRAIN}"),
            n_draws=work.scale.chosen["draws"],
            seed=work.seed,
        )
    return reports


def _lacks_models(training: Training, work: Workplace) -> bool:
    """Whether it is for pretrained models alone, and there is none."""
    return not work.pretrained and all(network == PRETRAINED for network in training.models.values())


def _generalization(training: Training, own: str, work: Workplace) -> Report:
    tests = {name: work.sets[name] for name in training.tests if name in work.sets and name not in FOREIGN}
    train = work.sets[training.train]
    notes, untrained = [], []
    if "label" in train.examples.columns and train.examples["label"].dtype.is_float():
        notes.append(predict_quick(_COSINE, train, list(tests.values()), [], [0], work.runs, name=BAG))
        untrained.append(BAG)
    return report_generalization(
        [str(work.runs)],
        in_distribution={"": own},
        choice=RunChoice(train_set=training.train),
        metric="exact_match" if "answers" in train.examples.columns else None,
        texts=tests,
        notes=notes,
        leave_out=[name for name in training.tests if name in FOREIGN],
        untrained=untrained,
        n_draws=work.scale.chosen["draws"],
        seed=work.seed,
    )


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
