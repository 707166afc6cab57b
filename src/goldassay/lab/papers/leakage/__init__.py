"""Labels that a part of the input gives away: models of single sentences, their agreement, and clusters, over sets.

Its networks are declared as trainings rather than left to `measure_leakage`, which could train them too: like this they
are priced before they start, go to several processes or machines, and stand still halfway, as in every other study.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldassay.lab.papers.leakage.conclusions import conclude
from goldassay.lab.papers.leakage.evidence import (
    compare_tables,
    compared,
    file_name,
    measured_sets,
    peco_cells,
    rows_of_all,
)
from goldassay.lab.papers.leakage.sets import SCALES, made_sets, planted_sets
from goldassay.lab.papers.recipe import Findings, Shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from goldassay.data import Dataset
    from goldassay.lab.papers.leakage.evidence import MeasuredSet
    from goldassay.lab.papers.recipe import Workplace

__all__ = ["NEEDED", "PAPER", "SCALES", "TITLE", "has_released", "measure", "prepare"]

NEEDED: tuple[str, ...] = ()

TITLE = "Single sentences that give the label away"
PAPER = "Saxon, Wang, Xu and Wang 2023"


def has_released(_work: Workplace) -> bool:
    """Nothing of it was released."""
    return False


def prepare(work: Workplace) -> dict[str, Dataset]:
    """What is planted at the smallest size, and what is made of others' sets."""
    if "planted" in work.scale.chosen:
        n_train, n_test = work.scale.chosen["planted"]
        made = planted_sets(n_train, n_test, work.seed)
        return {name: dataset for name, dataset in made.items() if name not in work.absent}
    return made_sets(work)


def measure(work: Workplace) -> Findings:
    """Every set by every model: conditions, agreement, relevances and clusters; then all sets beside each other."""
    found = measured_sets(work)
    rows = rows_of_all(found)
    reports = {each.name: each.report for each in found} | compared(found)
    notes = [] if work.pretrained or work.scale_name != "desk" else ["No pretrained checkpoint was given."]
    return Findings(
        conclusions=conclude(rows, {f"{each.dataset} ({each.model})": each.document for each in found}),
        comparisons=compare_tables(rows, peco_cells(work, found), work.sets),
        reports=reports,
        shown=tuple(_shown(found)),
        notes=tuple(notes),
    )


def _shown(found: Iterable[MeasuredSet]) -> Iterable[Shown]:
    """Of each model the set that has a map, and all sets together."""
    for model in dict.fromkeys(each.model for each in found):
        yield Shown(
            f"Figures 2, 5, 6 and 7. What goes together over sets, {model}", file_name(model), "leakage_datasets"
        )
    for each in found:
        if each.mapped:
            about = f"{each.dataset}, {each.model}"
            yield Shown(f"Figure 1. Clusters of sentences, {about}", each.name, "leakage_map")
            yield Shown(f"How much clusters lean, {about}", each.name, "leakage_curve")
            yield Shown(f"Figure 8. Confidence in biased clusters and elsewhere, {about}", each.name,
                        "leakage_confidence")  # fmt: skip
