"""The negative control on real texts: how often audits of shuffled labels say caution or worse; at most 2.5 % of them.

    GOLDASSAY_DATA=DIR python -m benchmarks.verdicts.shuffled [--draws 20] [--sets sick,qnli] [--rows 6000]

Labels are dealt out anew over the rows of each part, so that no text knows anything of them while texts, repeats and
label shares are the real ones. A draw of each set follows on the same draw of the others: what is printed until an
interruption is of all of them.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.verdicts.cells import Cell, at_most, print_table
from goldassay.core.settings import Settings
from goldassay.questions.inputs import load_inputs
from goldassay.questions.public import audit

if TYPE_CHECKING:
    from goldassay.data.dataset import Dataset

DATA = Path(os.environ.get("GOLDASSAY_DATA", Path(__file__).parents[3] / "shared" / "data"))
QUESTIONS = ("artifacts", "leakage")
# Training part and test part; without one all rows are read by folds.
SETS: dict[str, tuple[str, str | None]] = {
    "SNLI, 18,000": ("snli/train_sample_18k.tsv.gz", "snli/dev.tsv.gz"),
    "MultiNLI": ("multinli/dev_matched.tsv.gz", None),
    "SICK": ("sick/SICK.txt.gz", None),
    "HANS": ("hans/heuristics_train_set.tsv.gz", "hans/heuristics_evaluation_set_shuffled.tsv.gz"),
    "XNLI": ("xnli/test-en.tsv.gz", None),
    "QNLI": ("small_nli/qnli_dev.tsv.gz", None),
    "counterfactual NLI": (
        "counterfactual_nli/all_combined_train.tsv.gz",
        "counterfactual_nli/all_combined_test.tsv.gz",
    ),
    "ADD-ONE RTE": ("small_nli/add_one_rte_train.tsv.gz", "small_nli/add_one_rte_dev.tsv.gz"),
    "SST-2": ("sst2/train.tsv.gz", "sst2/dev.tsv.gz"),
}


def shuffled(dataset: Dataset, seed: int, rows: int | None) -> Dataset:
    """The texts, all or so many of them, with the labels dealt out anew."""
    rng = np.random.default_rng(seed)
    if rows is not None and len(dataset) > rows:
        dataset = dataset.take(np.sort(rng.choice(len(dataset), rows, replace=False)))
    labels = dataset.examples["label"]
    return replace(dataset, examples=dataset.examples.with_columns(labels.gather(rng.permutation(len(labels)))))


def words_of(parts: tuple[Dataset, ...], seed: int, rows: int | None) -> dict[str, str]:
    """The verdict on each question."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = audit(*(shuffled(part, 2 * seed + at, rows) for at, part in enumerate(parts)), seed=seed)
    return {question: report.verdicts[question]["verdict"] for question in QUESTIONS}


def cells_of(words: dict[tuple[str, str], Counter[str]]) -> list[Cell]:
    """Of each set and question the share that is a caution or worse, and the share that is sound."""
    cells = []
    for (name, question), counted in words.items():
        worse = counted["caution"] + counted["unsound"]
        n = counted.total()
        cells.append(Cell(f"{name}, {question}", "caution or worse", worse, n, at_most(0.025)))
        cells.append(Cell(f"{name}, {question}", "sound", counted["sound"], n))
    return cells


def main() -> None:
    """Print each draw, then the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first draw")
    parser.add_argument("--sets", default=",".join(name.split(",")[0] for name in SETS))
    parser.add_argument("--rows", type=int, help="of each part at most; drawn anew each time")
    given = parser.parse_args()
    chosen = {each.strip().lower() for each in given.sets.split(",")}
    names = [name for name in SETS if name.split(",")[0].lower() in chosen]
    parts = {}
    for name in names:
        train, test = SETS[name]
        where = [str(DATA / train), None if test is None else str(DATA / test)]
        found = load_inputs(*where, columns=None, label_names=None, file_format="auto", settings=Settings())
        parts[name] = (found.train,) if found.test is found.train else (found.train, found.test)
    words: dict[tuple[str, str], Counter[str]] = {
        (name, question): Counter() for name in names for question in QUESTIONS
    }
    for seed in range(given.first, given.first + given.draws):
        for name in names:
            found_words = words_of(parts[name], seed, given.rows)
            for question, word in found_words.items():
                words[name, question][word] += 1
            print(f"{name}, draw {seed}: {found_words}", flush=True)
    cells = cells_of(words)
    print_table(cells)


if __name__ == "__main__":
    main()
