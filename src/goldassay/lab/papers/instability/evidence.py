"""What tables and conclusions are made of: rows of reports on our runs, and on those that the authors released.

Made-up sets whose instability is known: training does not say which of two words decides, and analysis sets ask it.

A label has two words in each family, and training and standard sets show both, the first a little less often. Analysis
sets, a family each, set the first word of one label, which is right, against the second of another. What a seed draws
decides all of their rows, so that they are right or wrong together, and more of them are wrong the longer it trains.
Rows of filler alone, whose labels nothing tells, give every set the noise of single examples.

The paper's tables beside ours.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from goldassay.data.dataset import Dataset
from goldassay.data.source import find_published
from goldassay.lab.papers.printed import beside_printed, compare_cells, show_cells
from goldassay.questions.instability.command import measure_instability
from goldassay.questions.instability.paper import PRINTED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from pathlib import Path

    from goldassay.lab.papers.recipe import Comparison, Workplace
    from goldassay.report.report import Report

REFERENCE = "MNLI-m"
# Of reading comprehension.
READING = "SQuAD"
STANDARD = (REFERENCE, "MNLI-mm", "SNLI", READING)
RELEASED = "BERT-B"


class Evidence:
    """The rows of a report on instability, under the names that the tables have."""

    def __init__(self, report: Report, model: str | None, without: Collection[str] = ()) -> None:
        """Take what a report has.

        Args:
            report: On instability.
            model: What tables call its one model; None where it has their names.
            without: Sets that are left out, as others know more of them.
        """
        section = report.to_dict()["instability"]
        self.results = [row for row in _named(section["results"], model) if row["dataset"] not in without]
        n_runs = {(row["model"], row["dataset"]): row["n_runs"] for row in self.results}
        deviations = _named((section["deviations"] or {"rows": []})["rows"], model)
        self.deviations = [
            {**row, "n_runs": n_runs[row["model"], row["dataset"]]}
            for row in deviations
            if row["dataset"] not in without
        ]
        self.selections = [row for row in _named(section["selections"], model) if row["reason"] is None]
        self.examples = _named(section["examples"], model)
        self.correlations = [row for row in section["correlations"] if row["over"] == "checkpoints"]
        self.printed = {
            each.name: [cell for cell in _named(each.cells, model) if cell["dataset"] not in without]
            for each in report.printed_tables
        }
        self.design_effects = {
            (row["model"], row["dataset"]): figure
            for row in _named(section["intervals"], model)
            for figure in row["figures"]
            if figure["figure"] == "design_effect"
        }


_RELEASED_NAMES = {
    "mnli": REFERENCE, "snli": "SNLI", "break": "BREAK-NLI", "hans": "HANS", "snli-hard": "SNLI-hard",
    "stress-antonymy": "STR-A", "stress-length": "STR-L", "stress-negation": "STR-NE", "stress-numerical": "STR-NU",
    "stress-spell": "STR-S",
}  # fmt: skip


def _named(rows: Iterable[Mapping[str, Any]], model: str | None) -> list[dict[str, Any]]:
    return [
        {**row, "dataset": _RELEASED_NAMES.get(row["dataset"], row["dataset"]), **({"model": model} if model else {})}
        for row in rows
    ]


_RELEASED = "instability_bert_base"


def released_files(work: Workplace) -> tuple[list[Path], dict[str, Path]] | None:
    """The predictions of the authors' ten BERT runs and the sets in their order; None where any is not at hand."""
    if work.scale_name == "smoke":
        return None
    folder = work.file(f"predictions/{_RELEASED}", _RELEASED)
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
        test=gold,
        labels={"0": "contradiction", "1": "entailment", "2": "neutral"},
        align="position",
    )


def released_table(work: Workplace) -> Path | None:
    """The accuracies that the authors report of the same runs on ten sets, where their table is at hand."""
    if work.scale_name == "smoke":
        return None
    return work.file(f"predictions/{_RELEASED}/eval_results.tsv", f"{_RELEASED}/eval_results.tsv")


def released_scores(work: Workplace) -> Report | None:
    """The report on these."""
    table = released_table(work)
    return None if table is None else measure_instability(table, reference="mnli", seed=work.seed)


LABELS = ("entailment", "neutral", "contradiction")
_FILLER = 300
_WORDS = 5
# Of all rows, those that nothing tells apart.
_OPEN = 0.4
# Of the others, those without the first word.
_LACKING = 0.25


def planted_sets(
    train: Mapping[str, int],
    standard: Mapping[str, int],
    analysis: Mapping[str, int],
    seed: int,
    *,
    clean: bool = False,
) -> dict[str, Dataset]:
    """Sets by name, of as many rows as are asked for.

    Args:
        train: Training sets.
        standard: Sets that are drawn as these are.
        analysis: Sets of which each has one family of words, and sets them against each other.
        seed: Decides every draw.
        clean: Whether analysis sets are drawn as standard ones are, so that nothing is planted.
    """
    rng = np.random.default_rng(seed)
    families = range(len(analysis))
    sets = {name: _drawn(name, n, families, rng) for name, n in {**train, **standard}.items()}
    for family, (name, n) in zip(families, analysis.items(), strict=True):
        sets[name] = _drawn(name, n, families if clean else [family], rng, against=not clean)
    return sets


def _drawn(name: str, n: int, families: Sequence[int], rng: np.random.Generator, *, against: bool = False) -> Dataset:
    rows = [_row(f"{name} {at}", at % len(LABELS), families, rng, against=against) for at in range(n)]
    return Dataset.from_frame(pl.DataFrame(rows), name=name)


def _row(key: str, label: int, families: Sequence[int], rng: np.random.Generator, *, against: bool) -> dict[str, str]:
    premise, hypothesis = ([f"w{word}" for word in rng.integers(_FILLER, size=_WORDS)] for _ in range(2))
    if rng.random() >= _OPEN:
        family = families[int(rng.integers(len(families)))]
        label, other = (0, len(LABELS) - 1) if against else (label, label)
        hypothesis[0] = f"second{family}{other}"
        if against or rng.random() >= _LACKING:
            hypothesis[1] = f"first{family}{label}"
    rng.shuffle(hypothesis)
    return {
        "example_id": key, "premise": " ".join(premise), "hypothesis": " ".join(hypothesis), "label": LABELS[label],
    }  # fmt: skip


def compare_tables(
    found: Sequence[Evidence], reading: Evidence | None, tests: Mapping[str, Dataset]
) -> tuple[Comparison, ...]:
    """Tables 9, 1, 3, 5, 6 and 7, and of reading comprehension 10, 2 and 4.

    Args:
        found: Rows on our runs, and on the released ones.
        reading: Rows on our runs of reading comprehension, where there are any.
        tests: What was evaluated on.
    """
    selections = [
        {"model": row["model"], "dataset": row["dataset"], "selection_set": by, "ours": 100 * row[f"{key}_mean"],
         "sd": 100 * row[f"{key}_sd"]}
        for each in found for row in each.selections
        for by, key in ((REFERENCE, "standard"), ("re-split dev", "analysis"))
    ]  # fmt: skip
    pairs = [
        {"model": row["model"], "dataset": row["dataset"], "statistic": name, "ours": value}
        for each in found for row in each.examples if row["pairs"]
        for name, value in (
            ("largest covariance of two, thousandths", 1000 * row["pairs"][0]["covariance"]),
            ("pairs that have it", row["n_pairs_at_most"]),
        )
    ]  # fmt: skip
    sizes = [
        {"dataset": name, "statistic": statistic, "ours": value}
        for name, dataset in tests.items()
        for statistic, value in (("examples", len(dataset)), ("classes", len(dataset.label_names)))
    ]
    tables = [
        _laid(found, "zhou2020_table9", keep_unmatched=True),
        _laid(found, "zhou2020_table1"),
        _laid(found, "zhou2020_table3"),
        show_cells(
            "zhou2020_table5", "Table 5: the two examples that move together most", pairs, rows=("model", "dataset"),
            columns=("statistic",), digits=0, drawn="nothing",
            note="the paper shows one pair with .278 as the largest; of ten runs no pair can have more, and many have "
            "as much.",
        ),
        compare_cells(
            "zhou2020_table6", "Table 6: model selection on the standard set, or on a part of the analysis set",
            selections, rows=("model", "dataset"), columns=("selection_set",), where={"statistic": "accuracy_mean"},
            note="ours are means over 20 splits; the paper does not say how many it took.",
        ),
        replace(
            compare_cells(
                "zhou2020_table7", "Table 7: sizes", sizes, rows=("dataset",), columns=("statistic",), digits=0
            ),
            drawn="nothing",
        ),
    ]  # fmt: skip
    if reading is not None:
        tables += [
            _laid(
                [reading], "zhou2020_table9", "zhou2020_table10",
                "Table 10: F1 of reading comprehension, mean and SD over seeds", where={"statistic": "f1"},
                note="of AddSent the paper takes the worst variant of each question, ours is the mean over all.",
            ),
            _laid(
                [reading], "zhou2020_table1", "zhou2020_table2",
                "Table 2: normalized deviation of reading comprehension",
            ),
            _laid(
                [reading], "zhou2020_table3", "zhou2020_table4",
                "Table 4: where the variance of reading comprehension comes from, roots in points",
            ),
        ]  # fmt: skip
    return tuple(tables)


def _laid(found: Sequence[Evidence], layout: str, name: str = "", title: str = "", **more: Any) -> Comparison:
    """A printed table beside the cells that reports lay out for it, or for the like one of another task.

    Args:
        found: Rows.
        layout: The table that reports lay out.
        name: The printed table; the same if not given.
        title: Its own.
        more: Of `beside_printed`.
    """
    cells = [cell for each in found for cell in each.printed.get(layout, ())]
    laid = PRINTED[layout]
    return beside_printed(replace(laid, name=name or layout, title=title or laid.title), cells, **more)
