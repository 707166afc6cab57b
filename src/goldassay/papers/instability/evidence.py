"""What tables and conclusions are made of: rows of reports on our runs, and on those that the authors released."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def released_report(work: Workplace) -> Report | None:
    """The authors' ten BERT runs, where they and the sets in their order are at hand."""
    folder = work.file("predictions/instability_bert_base", "instability_bert_base")
    gold: dict[str, Path | None] = {
        "mnli": work.file("multinli_1.0/multinli_1.0_dev_matched.jsonl", "multinli/dev_matched.tsv.gz"),
        "snli": work.file("snli_1.0/snli_1.0_dev.jsonl", "snli/dev.tsv.gz"),
        "break": work.file("breaking_nli/dataset.jsonl", "breaking_nli/dataset.jsonl.gz"),
        "hans": work.file("hans/heuristics_evaluation_set.txt", "hans/hans_gold_by_position.tsv.gz"),
    }
    if folder is None or None in gold.values() or work.scale_name == "smoke":
        return None
    files = [folder / f"{name}.preds.tsv.gz" for name in gold]
    return measure_instability(
        files,
        reference="mnli",
        seed=work.seed,
        gold=gold,
        labels={"0": "contradiction", "1": "entailment", "2": "neutral"},
        align="position",
    )
