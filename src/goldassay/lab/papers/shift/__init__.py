"""Scores on another distribution, and whether a model's confidence tells that it has left its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.lab.papers.recipe import PRETRAINED, Findings, Shown
from goldassay.lab.papers.shift.conclusions import conclude
from goldassay.lab.papers.shift.evidence import DETECTION, Evidence, compare_tables, measured_reports
from goldassay.lab.papers.shift.scales import SCALES, TRANSFORMERS
from goldassay.lab.papers.shift.sets import built_sets, planted_sets, write_checkpoints

if TYPE_CHECKING:
    from goldassay.data import Dataset
    from goldassay.lab.papers.recipe import Workplace

__all__ = ["NEEDED", "PAPER", "SCALES", "TITLE", "has_released", "measure", "prepare"]

NEEDED: tuple[str, ...] = ()

TITLE = "Robustness to other distributions"
_WIDE = (
    "Intervals of differences between two models take their errors for independent. They answer the same examples, so "
    "that these intervals are wide rather than narrow."
)
PAPER = "Hendrycks, Liu, Wallace, Dziedzic, Krishnan and Song 2020"


def has_released(_work: Workplace) -> bool:
    """Nothing of it was released."""
    return False


def prepare(work: Workplace) -> dict[str, Dataset]:
    """What is planted at the smallest size; domains built of published files; texts of other tasks."""
    planted: dict[str, Dataset] = {}
    if "planted" in work.scale.chosen:
        n_train, n_test, n_foreign = work.scale.chosen["planted"]
        planted = planted_sets(n_train, n_test, n_foreign, work.seed)
        work.checkpoints = write_checkpoints(planted, work.folder / "checkpoints", work.seed)
        planted = {name: dataset for name, dataset in planted.items() if name not in work.absent}
    return planted | built_sets(work, work.sets | planted)


def measure(work: Workplace) -> Findings:
    """The gap of every model from each training set, and what the models of sentiment take for foreign."""
    reports = measured_reports(work)
    found = Evidence.of(reports)
    asks = any(PRETRAINED in training.models for training in work.scale.trainings)
    trained = {name: name.replace("_", " ") for name in reports if name != DETECTION}
    shown = [Shown(f"Figures 1 and 2. Trained on {own}", name, "shift_slopes") for name, own in trained.items()]
    if any(row["model"] in TRANSFORMERS for row in found.gaps):
        shown += [
            Shown(f"Figure 3. Gap and size, trained on {own}", name, "shift_sizes") for name, own in trained.items()
        ]
    if DETECTION in reports:
        shown += [
            Shown("Figure 4. False alarms", DETECTION, "shift_false_alarms"),
            Shown("Figure 5. Confidence in own and foreign texts", DETECTION, "shift_confidence"),
        ]
    return Findings(
        conclusions=conclude(found),
        comparisons=compare_tables(found),
        reports=reports,
        shown=tuple(shown),
        notes=(_WIDE, *(("No pretrained checkpoint was given.",) if asks and not work.pretrained else ())),
    )
