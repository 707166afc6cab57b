"""How often audits of multiple-choice items give each verdict: made items with a known flaw, and real ones shuffled.

    python -m benchmarks.verdicts.items [--draws 100] [--rows 5000]
    GOLDASSAY_DATA=DIR python -m benchmarks.verdicts.items --shuffled [--draws 20] [--rows 2000] [--sets OpenBookQA]

Made items have four choices of six words drawn by Zipf's law, and a question of ten. Their flaw is of 24 %, twice the
limit, of what guessing leaves to be gained: in that share of the items the right choice is made the longest one (a rule
sees it), or one of fifty words of its own takes the place of a word of it (only a trained reader sees it).

Shuffled items are the published ones whose right choices are drawn anew within each item, so that nothing tells them.
"""

from __future__ import annotations

import argparse
import os
import tarfile
import tempfile
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import goldassay
from benchmarks.verdicts.cells import Cell, at_least, at_most, print_table
from goldassay.core.progress import Steps
from goldassay.core.settings import Settings
from goldassay.questions.audit import report_on
from goldassay.questions.item_checks import measure_leakage
from goldassay.questions.kind_evidence import ItemEvidence
from goldassay.questions.leakage.item_loading import ItemReading, Posed, load_items
from goldassay.questions.overlap.search.scan import CorpusChoice

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from goldassay.data.kinds.choices import ChoiceItems
    from goldassay.report.report import Report

DATA = Path(os.environ.get("GOLDASSAY_DATA", Path(__file__).parents[3] / "shared" / "data"))
UNSOUND = 0.12
N_WORDS, N_CHOICES, N_TOLD = 2000, 4, 50
WORDS = np.array([f"w{code}" for code in range(N_WORDS)])
QUESTIONS = ("artifacts", "leakage")
FLAWS = ("none", "longest", "words")
_AGIEVAL, _DREAM, _MMLU = (f"choices/{name}.tar.gz" for name in ("agieval-v1-en", "dream", "mmlu-csv"))
SETS = {
    "ARC-Challenge": "choices/ARC-Challenge-Test.jsonl.gz",
    "ARC-Challenge dev": "choices/ARC-Challenge-Dev.jsonl.gz",
    "OpenBookQA": "choices/openbookqa-test.jsonl.gz",
    "CommonsenseQA": "choices/csqa-dev_rand_split.jsonl.gz",
    "TruthfulQA": "choices/TruthfulQA.csv.gz",
    "SocialIQa": "choices/socialiqa-dev.jsonl.gz",
    "LogiQA": "choices/logiqa-Test.txt.gz",
    "LogiQA, Chinese": "choices/logiqa-zh_test.txt.gz",
    "WinoGrande": "choices/winogrande-validation.parquet",
    "AQuA dev": "choices/aqua.tar.gz:dev.json",
    "aqua-rat": f"{_AGIEVAL}:aqua-rat.jsonl",
    "JEC-QA": f"{_AGIEVAL}:jec-qa-kd.jsonl",
    "LSAT-LR": f"{_AGIEVAL}:lsat-lr.jsonl",
    "LSAT-AR": f"{_AGIEVAL}:lsat-ar.jsonl",
    "SAT-en": f"{_AGIEVAL}:sat-en.jsonl",
    "SAT-math": f"{_AGIEVAL}:sat-math.jsonl",
    "DREAM": f"{_DREAM}:data/test.json",
    "DREAM dev": f"{_DREAM}:data/dev.json",
    "MMLU law": f"{_MMLU}:test/professional_law_test.csv",
    "MMLU psychology": f"{_MMLU}:test/professional_psychology_test.csv",
    "MMLU prehistory": f"{_MMLU}:test/prehistory_test.csv",
}


def made_items(n: int, flaw: str, skill: float, seed: int) -> pl.DataFrame:
    """Items whose flaw gives away the share `skill` of what guessing leaves to be gained."""
    rng = np.random.default_rng([seed, FLAWS.index(flaw)])
    weights = 1 / np.arange(10, N_WORDS + 10)
    weights /= weights.sum()
    questions = [" ".join(row) for row in WORDS[rng.choice(N_WORDS, (n, 10), p=weights)].tolist()]
    choices = WORDS[rng.choice(N_WORDS, (n, N_CHOICES, 6), p=weights)].tolist()
    answers = rng.integers(0, N_CHOICES, n).tolist()
    for own, answer, flawed, told in zip(
        choices, answers, (rng.random(n) < skill).tolist(), rng.integers(0, N_TOLD, n).tolist(), strict=True
    ):
        if flawed and flaw == "longest":
            own[answer] += [*own[answer][:4], *own[answer][2:]]
        elif flawed and flaw == "words":
            own[answer][told % 6] = f"m{told}"
    return pl.DataFrame(
        {
            "question": questions,
            "choices": [[" ".join(choice) for choice in own] for own in choices],
            "answer": answers,
        }
    )


def audited(items: ChoiceItems, seed: int) -> Report:
    """The report of a whole audit of items in memory."""
    evidence = ItemEvidence(
        Posed(None, items, ()), CorpusChoice(()), Settings(seed=seed), Steps(quiet=True), measure_leakage
    )
    return report_on(evidence, None)


def words_of(report: Report) -> dict[str, str]:
    """The verdict on each question that an audit of items asks."""
    return {question: str(report.verdicts[question]["verdict"]) for question in QUESTIONS}


def shuffled(items: ChoiceItems, seed: int, rows: int | None) -> ChoiceItems:
    """The items, all or so many of them, with as many choices called right as before, drawn anew in each item."""
    rng = np.random.default_rng(seed)
    if rows is not None and len(items) > rows:
        items = items.take(np.sort(rng.choice(len(items), rows, replace=False)))
    order = np.lexsort((rng.random(items.right.size), items.item_of))
    return replace(items, right=items.right[order])


def read_set(place: str, folder: Path) -> ChoiceItems:
    """The items of a file, or of a member of an archive."""
    path, _, member = place.partition(":")
    file = DATA / path
    if member:
        with tarfile.open(file) as archive:
            source = archive.extractfile(member)
            assert source is not None
            file = folder / Path(member).name
            file.write_bytes(source.read())
    posed = load_items(file, None, ItemReading())
    assert posed is not None
    return posed.test


def shuffled_cells(draws: range, rows: int | None, names: Collection[str]) -> list[Cell]:
    """Of each real set and question the share that is a caution or worse, and the share that is sound."""
    words: dict[tuple[str, str], Counter[str]] = {
        (name, question): Counter() for name in names for question in QUESTIONS
    }
    with tempfile.TemporaryDirectory() as folder:
        sets = {name: read_set(SETS[name], Path(folder)) for name in names}
    for seed in draws:
        for name, items in sets.items():
            found = words_of(audited(shuffled(items, seed, rows), seed))
            for question, word in found.items():
                words[name, question][word] += 1
            print(f"{name}, draw {seed}: {found}", flush=True)
    cells = []
    for (name, question), counted in words.items():
        worse, n = counted["caution"] + counted["unsound"], counted.total()
        cells.append(Cell(f"{name}, {question}", "caution or worse", worse, n, at_most(0.025)))
        cells.append(Cell(f"{name}, {question}", "sound", counted["sound"], n))
    return cells


def made_cells(draws: range, n: int, flaws: Sequence[str] = FLAWS) -> list[Cell]:
    """Of made items the shares of the verdicts that should be given, and of *sound* where it must not be."""
    words: dict[tuple[str, str], Counter[str]] = {
        (flaw, question): Counter() for flaw in flaws for question in QUESTIONS
    }
    for seed in draws:
        for flaw in flaws:
            found = words_of(goldassay.audit(made_items(n, flaw, 2 * UNSOUND, seed), seed=seed, quiet=True))
            for question, word in found.items():
                words[flaw, question][word] += 1
            print(f"{flaw}, draw {seed}: {found}", flush=True)
    reached = at_least(0.8) if n >= 5000 else None
    cells = []
    for question in QUESTIONS:
        for flaw in flaws:
            if flaw == "none":
                none = words["none", question]
                worse = none["caution"] + none["unsound"]
                cells.append(Cell(f"no flaw, {question}", "caution or worse", worse, none.total(), at_most(0.025)))
                cells.append(Cell(f"no flaw, {question}", "sound", none["sound"], none.total(), reached))
                continue
            found_words = words[flaw, question]
            # Patterns are learned from choices: they make a caution at most, as any trained reader.
            wanted = "unsound" if (flaw, question) == ("longest", "leakage") else "caution"
            cell = (found_words[wanted], found_words.total(), at_least(0.9))
            cells.append(Cell(f"{flaw} in 24 %, {question}", wanted, *cell))
            sound = (found_words["sound"], found_words.total(), at_most(0))
            cells.append(Cell(f"{flaw} in 24 %, {question}", "sound", *sound))
    return cells


def main() -> None:
    """Print each draw, then the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first draw")
    parser.add_argument("--rows", type=int, help="items of each set: 5,000 made ones, and all of a real set by default")
    parser.add_argument("--shuffled", action="store_true", help="real items instead of made ones")
    parser.add_argument("--sets", help="of the real ones, separated by semicolons; all if not given")
    parser.add_argument("--flaws", nargs="+", choices=FLAWS, default=FLAWS, help="of the made ones")
    given = parser.parse_args()
    draws = range(given.first, given.first + given.draws)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if given.shuffled:
            names = SETS if given.sets is None else [each.strip() for each in given.sets.split(";")]
            cells = shuffled_cells(draws, given.rows, names)
        else:
            cells = made_cells(draws, given.rows or 5000, given.flaws)
    print_table(cells)


if __name__ == "__main__":
    main()
