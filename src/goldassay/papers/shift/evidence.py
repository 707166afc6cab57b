"""What tables and conclusions are made of: rows on gaps, and on what is taken for foreign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goldassay.papers.recipe import PRETRAINED
from goldassay.papers.shift.scales import BAG
from goldassay.papers.shift.sets import FOREIGN, OWN, TRAIN
from goldassay.questions.run_choice import RunChoice
from goldassay.questions.shift.detection_report import report_detection
from goldassay.questions.shift.gap_report import report_generalization
from goldassay.questions.shift.quick_models import predict_quick

if TYPE_CHECKING:
    from collections.abc import Mapping

    from goldassay.papers.recipe import Training
    from goldassay.papers.workplace import Workplace
    from goldassay.report import Report

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
