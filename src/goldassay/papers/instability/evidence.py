"""What tables and conclusions are made of: rows of reports on our runs, and on those that the authors released."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from goldassay.data.published_files import find_published
from goldassay.questions.instability.report import measure_instability

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from goldassay.papers.workplace import Workplace
    from goldassay.report import Report

REFERENCE = "MNLI-m"
# Of reading comprehension.
READING = "SQuAD"
STANDARD = (REFERENCE, "MNLI-mm", "SNLI", READING)
RELEASED = "BERT-B"


class Evidence:
    """The rows of a report on instability, under the names that the tables have."""

    def __init__(self, report: Report, model: str | None) -> None:
        section = report.to_dict()["instability"]
        self.results = _named(section["results"], model)
        self.deviations = _named((section["deviations"] or {"rows": []})["rows"], model)
        self.selections = [row for row in _named(section["selections"], model) if row["reason"] is None]
        self.examples = _named(section["examples"], model)
        self.correlations = [row for row in section["correlations"] if row["over"] == "checkpoints"]
        self.design_effects = {
            (row["model"], row["dataset"]): figure
            for row in _named(section["intervals"], model)
            for figure in row["figures"]
            if figure["figure"] == "design_effect"
        }


_RELEASED_NAMES = {"mnli": REFERENCE, "snli": "SNLI", "break": "BREAK-NLI", "hans": "HANS"}


def _named(rows: Iterable[Mapping[str, Any]], model: str | None) -> list[dict[str, Any]]:
    return [
        {**row, "dataset": _RELEASED_NAMES.get(row["dataset"], row["dataset"]), **({"model": model} if model else {})}
        for row in rows
    ]


def released_files(work: Workplace) -> tuple[list[Path], dict[str, Path]] | None:
    """The predictions of the authors' ten BERT runs and the sets in their order; None where any is not at hand."""
    if work.scale_name == "smoke":
        return None
    folder = work.file("predictions/instability_bert_base", "instability_bert_base")
    gold = {
        "mnli": work.file("multinli_1.0/multinli_1.0_dev_matched.jsonl", "multinli/dev_matched.tsv"),
        "snli": work.file("snli_1.0/snli_1.0_dev.jsonl", "snli/dev.tsv"),
        "break": work.file("breaking_nli/dataset.jsonl"),
        "hans": work.file("hans/heuristics_evaluation_set.txt", "hans/hans_gold_by_position.tsv"),
    }
    there = {name: file for name, file in gold.items() if file is not None}
    if folder is None or len(there) < len(gold):
        return None
    files = [find_published(folder, [f"{name}.preds.tsv"]) for name in gold]
    predicted = [file for file in files if file is not None]
    return (predicted, there) if len(predicted) == len(gold) else None


def released_report(work: Workplace) -> Report | None:
    """The authors' ten BERT runs, where they and the sets in their order are at hand."""
    found = released_files(work)
    if found is None:
        return None
    files, gold = found
    return measure_instability(
        files,
        reference="mnli",
        seed=work.seed,
        gold=gold,
        labels={"0": "contradiction", "1": "entailment", "2": "neutral"},
        align="position",
    )
