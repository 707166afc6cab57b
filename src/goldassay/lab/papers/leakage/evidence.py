"""What tables and conclusions are made of: a report a model and set, and a row a model, set and part.

Scores of clusters over numbers of clusters and components: the cells of Table 5.

The paper's tables beside ours.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.lab.papers.leakage.sets import TRAIN
from goldassay.lab.papers.printed import beside_printed, compare_cells
from goldassay.lab.papers.recipe import PRETRAINED, Comparison, Workplace
from goldassay.questions.leakage.datasets import compare_datasets, parts_of
from goldassay.questions.leakage.given import GivenEvidence
from goldassay.questions.leakage.measures.peco import peco_grid
from goldassay.questions.leakage.page import lay_out
from goldassay.questions.leakage.partial_input import LeakageChoice
from goldassay.questions.leakage.question import study_leakage
from goldassay.questions.run_choice import RunChoice
from goldassay.readers.conditions import PAIRED
from goldassay.runs.sidecar import read_embeddings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goldassay.data.dataset import Dataset
    from goldassay.report.report import Report

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
        for part in parts_of(each.dataset, each.report):
            condition = f"{part.part}_only"
            score = clusters.get(part.part)
            rows.append(
                {
                    "model": each.model,
                    "condition": condition,
                    "n_runs": runs[condition],
                    "n_paired": runs.get(PAIRED),
                    "chance": agreements[condition]["chance"],
                    "recovery_paper_low": agreements[condition]["recovery_paper_low"],
                    "recovery_paper_high": agreements[condition]["recovery_paper_high"],
                    "relevance_paper": relevances[condition]["agreement_paper"],
                    "relevance_paper_sd": relevances[condition]["sd_paper"],
                    "peco_of_runs": [] if score is None else [score["score"], *score["other_models"]],
                    "peco_examples_error": None if score is None else score["examples_error"],
                    **part.to_dict(),
                }
            )
    return rows


def is_printed_part(row: Mapping[str, Any]) -> bool:
    """Whether the paper shows this part of a set, or would if it had the set."""
    if row["dataset"] in BOTH_PARTS:
        return True
    return bool(row["condition"] == ("premise_only" if row["dataset"] in _PREMISE_FIRST else "hypothesis_only"))


def peco_cells(work: Workplace, found: Iterable[MeasuredSet]) -> list[dict[str, Any]]:
    """A cell a model, set, part, k, number of components and divergence, in the paper's convention and units.

    Sentences go alone through the model of the pair, trained with the first seed, and are clustered once, as printed;
    scores of the Kullback-Leibler kind are hundredfold. Settings for which there are too few examples or dimensions
    are left out.
    """
    clusters, components = work.scale.chosen["grid"]
    cells: list[dict[str, Any]] = []
    for each in found:
        recorded = read_embeddings(
            work.runs, model=each.model, dataset=each.dataset, train_set=each.train, condition="paired"
        )[0]
        test = work.sets[each.dataset]
        place = {str(name): row for row, name in enumerate(recorded.example_ids.tolist())}
        order = np.array([place[str(name)] for name in test.examples["example_id"]])
        for role in test.text_columns:
            condition = f"{role}_only"
            if not is_printed_part({"dataset": each.dataset, "condition": condition}):
                continue
            vectors = recorded.vectors[role][order]
            ks = [k for k in clusters if k * LEAST_A_CLUSTER <= len(test)]
            sizes = [size for size in components if size <= min(vectors.shape)]
            if not ks:
                continue
            with warnings.catch_warnings():
                # A model that puts many sentences in one place leaves clusters empty; the score counts them so.
                warnings.simplefilter("ignore", UserWarning)
                table = peco_grid(vectors, test.labels(), ks, sizes, convention="paper", seed=work.seed).to_frame()
            cells += [
                {
                    "model": each.model, "dataset": each.dataset, "condition": condition, "k": str(row["n_clusters"]),
                    "pca": str(row["n_components"]), "divergence": row["divergence"],
                    "ours": row["score"] * (100 if row["divergence"] == "kl" else 1),
                }
                for row in table.iter_rows(named=True)
            ]  # fmt: skip
    return cells


# Table 1 has another name for one part of MNLI than those after it.
_IN_TABLE_1 = {"MNLI-b": "MNLI-m"}
_IN_TABLE_2 = {"ours": "paired", "sota": "best published"}
_AS_PRINTED = {ours: printed for printed, ours in _IN_TABLE_2.items()}


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
    two, three, four, *five = lay_out(rows, grid)
    # The paper calls its own figures ours.
    pairs = [{**cell, "metric": _AS_PRINTED.get(cell["metric"], cell["metric"])} for cell in two.cells]
    return (
        compare_cells(
            "saxon2023_table1", "Table 1: sizes", sizes, rows=("dataset",), columns=("split",),
            where={"metric": "examples"}, digits=0, note="the paper prints thousands.",
        ),
        _renamed(beside_printed(two, pairs, where={"kind": "accuracy"})),
        beside_printed(three, three.cells),
        beside_printed(four, four.cells),
        *(
            beside_printed(replace(each, name="saxon2023_table5"), each.cells, where={"divergence": divergence})
            for each, divergence in zip(five, ("squared_l2", "kl"), strict=True)
        ),
    )  # fmt: skip


def _renamed(table: Comparison) -> Comparison:
    """Whose the column "ours" of the paper is, stands in doubt beside figures of our own."""
    renamed = pl.col("metric").replace(_IN_TABLE_2)
    others = None if table.unmatched is None else table.unmatched.with_columns(renamed)
    return replace(table, cells=table.cells.with_columns(renamed), unmatched=others)
