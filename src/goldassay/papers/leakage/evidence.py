"""What tables and conclusions are made of: a report a model and set, and a row a model, set and part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goldassay.papers.recipe import PRETRAINED
from goldassay.questions.leakage.dataset_comparison import compare_datasets, rows_of
from goldassay.questions.leakage.foreign_evidence import GivenEvidence
from goldassay.questions.leakage.options import LeakageChoice
from goldassay.questions.leakage.report import study_leakage
from goldassay.questions.run_choice import RunChoice

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from goldassay.papers.workplace import Workplace
    from goldassay.report import Report

# Fewer examples a cluster than this on average, and its label shares are noise.
LEAST_A_CLUSTER = 10
# Of these the paper shows both sentences alone, of FEVER the premise, of all others the hypothesis.
BOTH_PARTS = ("CAugNLI", "SNLI-debiased", "MNLI-debiased")
_PREMISE_FIRST = ("FEVER",)


@dataclass(frozen=True)
class MeasuredSet:
    """What one model leaves of one set.

    Attributes:
        model: What the runs call it.
        train: Name of what it was trained on.
        dataset: Name of the set.
        mapped: Whether its sentences are laid out on the plane.
        report: Of the study of leakage.
    """

    model: str
    train: str
    dataset: str
    mapped: bool
    report: Report

    @property
    def name(self) -> str:
        """Of its report."""
        return file_name(f"{self.model}_{self.dataset}")

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """The report as plain data."""
        return self.report.to_dict()


def measured_sets(work: Workplace) -> list[MeasuredSet]:
    """A report for each set that each model was tested on."""
    found = []
    chosen = work.scale.chosen
    for training in work.scale.trainings:
        models = [label for label, network in training.models.items() if network != PRETRAINED or work.pretrained]
        for model in models:
            for dataset in training.tests:
                if not work.lacking.isdisjoint((training.train, dataset)):
                    continue
                test, mapped = work.sets[dataset], dataset == chosen["mapped"]
                report = study_leakage(
                    work.sets[training.train],
                    test,
                    given=GivenEvidence(
                        [str(work.runs)], RunChoice(model=model, dataset=dataset, train_set=training.train)
                    ),
                    choice=LeakageChoice(
                        n_clusters=clusters_of(len(test), chosen["clusters"]),
                        n_repetitions=chosen["repetitions"],
                        map=mapped,
                    ),
                    seed=work.seed,
                )
                found.append(MeasuredSet(model, training.train, dataset, mapped, report))
    return found


def file_name(name: str) -> str:
    """A name that a folder may have."""
    return name.replace(" ", "_")


def clusters_of(n_examples: int, wanted: int) -> int:
    """As many clusters as are wanted, or as have ten examples each."""
    return max(1, min(wanted, n_examples // LEAST_A_CLUSTER))


def compared(found: Iterable[MeasuredSet]) -> dict[str, Report]:
    """For each model all of its sets side by side."""
    by_model: dict[str, dict[str, Report]] = {}
    for each in found:
        by_model.setdefault(each.model, {})[each.dataset] = each.report
    return {file_name(model): compare_datasets(reports) for model, reports in by_model.items()}


def rows_of_all(found: Iterable[MeasuredSet]) -> list[dict[str, Any]]:
    """A row a model, set and part, with what the comparison of sets has, and agreement's chance and spread."""
    rows = []
    for each in found:
        section = each.document["leakage"]
        agreements = {row["condition"]: row for row in section["agreement"]}
        relevances = {row["condition"]: row for row in section["relevance"]}
        runs = {row["condition"]: row["n_runs"] for row in section["conditions"]}
        clusters = {row["role"]: row for row in section["peco"]}
        for row in rows_of(each.dataset, each.document):
            condition = f"{row['part']}_only"
            score = clusters.get(row["part"])
            rows.append(
                {
                    "model": each.model,
                    "condition": condition,
                    "n_runs": runs[condition],
                    "chance": agreements[condition]["chance"],
                    "recovery_paper_low": agreements[condition]["recovery_paper_low"],
                    "recovery_paper_high": agreements[condition]["recovery_paper_high"],
                    "relevance_paper": relevances[condition]["agreement_paper"],
                    "relevance_paper_sd": relevances[condition]["sd_paper"],
                    "peco_of_runs": [] if score is None else [score["score"], *score["other_models"]],
                    "peco_examples_error": None if score is None else score["examples_error"],
                    **row,
                }
            )
    return rows


def is_printed_part(row: Mapping[str, Any]) -> bool:
    """Whether the paper shows this part of a set, or would if it had the set."""
    if row["dataset"] in BOTH_PARTS:
        return True
    return bool(row["condition"] == ("premise_only" if row["dataset"] in _PREMISE_FIRST else "hypothesis_only"))
