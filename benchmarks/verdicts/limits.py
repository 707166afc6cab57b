"""How often whole audits are right about made sets: without a flaw, and with one of each kind that they claim to see.

    python -m benchmarks.verdicts.limits --to FILE [--of texts|items] [--rows 300 1000 2000 5000] [--draws 10]
                                         [--training-rows 4000] [--times 1 1.5 2]
    python -m benchmarks.verdicts.limits --from FILE                  prints the table of what FILE holds
    python -m benchmarks.verdicts.limits --recovery                   what naive Bayes recovers of fifty words, by rows

Texts are premise and hypothesis of eight words drawn by Zipf's law, in one file or beside a training part, with three
balanced labels; items are those of `items`. A draw is audited as it is. Then each kind of cue whose limit of detection
was printed below the limit for unsound is planted in twice that share of the rows, as `questions.detection_limits`
writes cues, and audited again: a flaw as large as that is never sound. With `--times` so many limits of detection are
planted instead, and the second audit prints for the kind a limit at least as large.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import goldassay
from benchmarks.verdicts.cells import Cell, at_most, print_table
from benchmarks.verdicts.commands import UNSOUND, _sentences
from benchmarks.verdicts.items import QUESTIONS, made_items
from goldassay.questions.detection_limits import N_OPTION_GROUPS, option_planting, planted_texts
from goldassay.readers.naive_bayes import planted_evidence_of_folds, word_evidence_of_folds
from goldassay.stats.clusters import Folds
from goldassay.stats.detection import FIFTY_WORDS, KINDS, plant_rows
from goldassay.stats.detection import Cell as Planted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from goldassay.report.report import Report
    from goldassay.stats.detection import CueKind

N_LABELS = 3
# An audit plants by other seeds.
OWN_SEED = 7_000_000


def texts(n: int, seed: int, kind: CueKind | None, share: float) -> pl.DataFrame:
    """Pairs without a flaw, or with a cue of a kind in a share of the hypotheses of each label."""
    rng = np.random.default_rng([seed, 5])
    label = rng.integers(0, N_LABELS, n)
    hypotheses = pl.Series(_sentences(rng, n))
    if kind is not None:
        planting = plant_rows(label, N_LABELS, np.zeros(n), [kind], [share], [Planted(0, 0)], OWN_SEED + seed)
        hypotheses = planted_texts(hypotheses, planting, OWN_SEED + seed)
    return pl.DataFrame(
        {"premise": _sentences(rng, n), "hypothesis": hypotheses, "label": [f"l{code}" for code in label]}
    )


def items(n: int, seed: int, kind: CueKind | None, share: float) -> pl.DataFrame:
    """Items without a flaw, or with a cue of a kind in the right choice of a share of them."""
    made = made_items(n, "none", 0.0, seed)
    if kind is None:
        return made
    codes = np.zeros(n, np.int64)
    planting = plant_rows(codes, N_OPTION_GROUPS, codes, [kind], [share], [Planted(0, 0)], OWN_SEED + seed)
    sizes = made["choices"].list.len().to_numpy()
    item_of, flat = np.repeat(np.arange(n), sizes), made["choices"].explode()
    right = np.arange(item_of.size) == (np.cumsum(sizes) - sizes + made["answer"].to_numpy())[item_of]
    own = option_planting(planting, item_of, right, OWN_SEED + seed)
    told = pl.DataFrame({"item": item_of, "choices": planted_texts(flat, own, OWN_SEED + seed)})
    return made.with_columns(choices=told.group_by("item", maintain_order=True).agg("choices")["choices"])


def said_of(report: Report) -> dict[str, Any]:
    """Word, S and the limits of kinds by question."""
    plain = report.to_dict()
    return {
        question: {
            "word": report.verdicts[question]["verdict"],
            "at_most": report.verdicts[question]["at_most"],
            "limits": {each["kind"]: each["limit"] for each in plain[question]["effects"]["limits"]},
        }
        for question in QUESTIONS
    }


def drawn(of: str, n: int, seed: int, training_rows: int, times: Sequence[float]) -> Iterator[dict[str, Any]]:
    """A draw as it is, then with flaws of each kind that a question claims to see.

    Args:
        of: What is drawn.
        n: Rows that are read.
        seed: Of the draw.
        training_rows: Rows of a training part.
        times: How many limits of detection a flaw is as large as; twice the limit for unsound, if there are none.
    """
    make = {"texts": texts, "items": items}[of]

    def said(kind: CueKind | None, share: float) -> dict[str, Any]:
        made = make(training_rows + n, seed, kind, share)
        parts = (made.head(training_rows), made.tail(n)) if training_rows else (made,)
        return said_of(goldassay.audit(*parts, seed=seed, quiet=True))

    drawn_as = {"of": of, "n": n, "training_rows": training_rows, "seed": seed}
    clean = said(None, 0.0)
    yield {**drawn_as, "kind": "", **clean}
    for question in QUESTIONS:
        for kind in KINDS:
            limit = clean[question]["limits"].get(kind.name, 1.0)
            if limit < UNSOUND[question]:
                for share in [each * limit for each in times] or [2 * UNSOUND[question]]:
                    yield {**drawn_as, "kind": kind.name, "asked": question, "share": share, **said(kind, share)}


def recovery_of_many_words(n: int, n_teaching: int, seed: int) -> tuple[float, float]:
    """Of fifty words of each label in 11 % of n texts: what naive Bayes recovers, and words that training rows have.

    Args:
        n: Texts that are read, by five folds or by training rows of their own.
        n_teaching: Those training rows; 0 for folds.
        seed: Of the draw.
    """
    made = texts(n_teaching + n, seed, None, 0.0)
    codes, hypotheses = made["label"].str.slice(1).cast(pl.Int64).to_numpy(), made["hypothesis"]
    folds = (
        Folds.of_parts(n_teaching, n) if n_teaching else Folds.of_all(np.random.default_rng(seed).permutation(n) % 5)
    )
    parts = (np.arange(codes.size) >= n_teaching).astype(np.int64)
    planting = plant_rows(codes, N_LABELS, parts, [FIFTY_WORDS], [0.11], [Planted(0, 0)], OWN_SEED + seed)
    words, gold = planting.words[:, 0], codes[folds.rows]
    here = word_evidence_of_folds(hypotheses, codes, N_LABELS, folds).argmax(axis=1) == gold
    read = planted_evidence_of_folds(hypotheses, codes, N_LABELS, folds)
    rows = words[folds.rows] >= 0
    right = (read(words).argmax(axis=1) == gold)[rows].astype(np.float64)
    known = [np.isin(words[each.reading], words[each.teaching])[words[each.reading] >= 0] for each in folds.rounds()]
    return float((right - here[rows]).sum() / (~here[rows]).sum()), float(np.concatenate(known).mean())


def cells_of(rows: list[dict[str, Any]]) -> list[Cell]:
    """Shares of *caution or worse* and *sound* without a flaw, and of *sound* at twice the limit."""
    bounds: dict[tuple[str, str], list[bool]] = defaultdict(list)
    words: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for row in rows:
        for question in QUESTIONS:
            if row["kind"] == "":
                world = f"{row['of']}, {row['n']:,}" + (
                    f" and {row['training_rows']:,} training rows" if row.get("training_rows") else ""
                )
                words[world, question, ""][row[question]["word"]] += 1
            elif row["asked"] == question and row.get("share", 2 * UNSOUND[question]) == 2 * UNSOUND[question]:
                words[row["of"], question, row["kind"]][row[question]["word"]] += 1
            elif row["asked"] == question:
                bounds[row["of"], question].append(row[question]["limits"][row["kind"]] < row["share"])
    cells = [
        Cell(f"{of}, {question}, a flaw planted", "limit of detection below it", sum(below), len(below), at_most(0.05))
        for (of, question), below in bounds.items()
    ]
    for (world, question, kind), counted in words.items():
        n = counted.total()
        if kind:
            name = f"{world}, {question}, {kind} at twice the limit"
            cells.append(Cell(name, "sound", counted["sound"], n, at_most(0.025)))
            cells.append(Cell(name, "caution or worse", counted["caution"] + counted["unsound"], n))
        else:
            name = f"{world}, {question}, no flaw"
            cells.append(Cell(name, "caution or worse", counted["caution"] + counted["unsound"], n, at_most(0.025)))
            cells.append(Cell(name, "sound", counted["sound"], n))
    return cells


def main() -> None:
    """Draw, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--of", nargs="+", choices=("texts", "items"), default=("texts", "items"))
    parser.add_argument("--rows", nargs="+", type=int, default=(300, 1000, 2000, 5000))
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--training-rows", type=int, default=0, help="rows of a training part")
    parser.add_argument("--times", nargs="+", type=float, default=(), help="limits of detection in a flaw")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first draw")
    parser.add_argument("--to", type=Path, help="file of JSON lines that is added to")
    parser.add_argument("--from", dest="source", type=Path, help="print the table from such a file")
    parser.add_argument("--recovery", action="store_true", help="print what is recovered of fifty words")
    given = parser.parse_args()
    if given.recovery:
        for n, n_teaching in ((1000, 0), (2000, 0), (3000, 0), (4000, 0), (5000, 0), (2000, 4000)):
            found = np.array([recovery_of_many_words(n, n_teaching, seed) for seed in range(given.draws)])
            print(n, n_teaching, *(f"{mean:.2f}" for mean in found.mean(axis=0)))
        return
    if given.source is not None:
        print_table(cells_of([json.loads(line) for line in given.source.read_text().splitlines()]))
        return
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(given.first, given.first + given.draws):
            for n in given.rows:
                for of in given.of:
                    for row in drawn(of, n, seed, given.training_rows, given.times):
                        rows.append(row)
                        line = json.dumps(row)
                        print(line, flush=True)
                        if given.to is not None:
                            with given.to.open("a") as file:
                                file.write(line + "\n")
    print_table(cells_of(rows))


if __name__ == "__main__":
    main()
