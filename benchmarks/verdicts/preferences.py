"""How often audits of preferences give each verdict: made pairs with a known flaw, and real ones shuffled.

    python -m benchmarks.verdicts.preferences [--draws 500] [--rows 5000]                 # rules without training
    python -m benchmarks.verdicts.preferences --whole [--draws 6] [--rows 5000]           # whole audits, a minute each
    GOLDASSAY_DATA=DIR python -m benchmarks.verdicts.preferences --shuffled [--whole] [--draws 200] [--rows 500]

Made pairs are two responses of eight to sixteen words drawn by Zipf's law. Their flaw is of 24 %, twice the limit: in
that share of the pairs the preferred response gets ten words more (a rule sees it), or one of fifty words of its own
takes the place of a word of it (only a trained reader sees it). Shuffled pairs are published ones of which the
preferred response is drawn anew.

Readers take most of the time of an audit. Without `--whole` the effects of the rules alone are judged: false alarms
and flaws that a rule sees are counted, and of *sound* what it needs of them, that every upper end lies below the limit.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from benchmarks.verdicts.cells import Cell, at_least, at_most, print_table
from benchmarks.verdicts.items import N_TOLD, N_WORDS, QUESTIONS, UNSOUND, WORDS, audited, read_set, shuffled, words_of
from goldassay.data.kinds.preferences import read_preferences
from goldassay.data.table import Table
from goldassay.questions.leakage.item_loading import item_clusters
from goldassay.readers.choice_rules import chance_of
from goldassay.readers.preference_rules import measure_preference_rules
from goldassay.stats.effects import Limits, ReaderPredictions, measure_effects
from goldassay.stats.verdicts import judge_effects

if TYPE_CHECKING:
    from goldassay.data.kinds.choices import ChoiceItems

FLAWS = ("none", "longer", "words")
SETS = {
    "HH-RLHF harmless": "preferences/hh-harmless-test.jsonl.gz",
    "JudgeBench": "preferences/judgebench-gpt4o.jsonl.gz",
    "PandaLM": "preferences/pandalm-testset-v1.json.gz",
    "HHH": "preferences/hhh_alignment_eval.json.gz",
    "AlpacaEval, Gemma": "preferences/alpacaeval2-gemma-7b-it-annotations.json.gz",
    **{
        f"LLMBar {name.rpartition('/')[2]}": f"preferences/llmbar.tar.gz:{name}/dataset.json"
        for name in (
            "LLMBar/Adversarial/Neighbor", "LLMBar/Adversarial/GPTInst", "LLMBar/Natural", "Processed/FairEval",
            "CaseStudy/Base_9", "CaseStudy/Base_10", "CaseStudy/Normal",
        )
    },
}  # fmt: skip
_LIMITS = {"accuracy skill": Limits(0.03, UNSOUND)}


def made_pairs(n: int, flaw: str, skill: float, seed: int) -> ChoiceItems:
    """Preferences whose flaw gives away the share `skill` of what guessing leaves to be gained."""
    rng = np.random.default_rng([seed, FLAWS.index(flaw)])
    weights = 1 / np.arange(10, N_WORDS + 10)
    weights /= weights.sum()
    drawn = WORDS[rng.choice(N_WORDS, (n, 2, 26), p=weights)].tolist()
    lengths = rng.integers(8, 17, (n, 2)).tolist()
    flawed, told = (rng.random(n) < skill).tolist(), rng.integers(0, N_TOLD, n).tolist()
    rows = []
    for at, (both, sizes) in enumerate(zip(drawn, lengths, strict=True)):
        chosen, rejected = both[0][: sizes[0]], both[1][: sizes[1]]
        if flawed[at] and flaw == "longer":
            chosen = both[0][: max(sizes) + 10]
        elif flawed[at] and flaw == "words":
            chosen[told[at] % 8] = f"m{told[at]}"
        prompt = " ".join(WORDS[rng.choice(N_WORDS, 10, p=weights)].tolist())
        rows.append({"prompt": f"{prompt} q{at}", "chosen": " ".join(chosen), "rejected": " ".join(rejected)})
    items = read_preferences(Table(pl.DataFrame(rows), ""), "made")
    assert items is not None
    return items


def rule_word(items: ChoiceItems, seed: int) -> str:
    """The verdict on leakage that the rules alone would give; *sound* where every upper end lies below the limit."""
    codes = item_clusters(items).codes_if_any
    chance = chance_of(items)
    readings = [
        ReaderPredictions(
            "response", f"rule: {each.rule}", None, correct=each.hits[np.newaxis], chance=chance, applies=each.applies
        )
        for each in measure_preference_rules(items, codes, seed)[1]
        if each.applies.any()
    ]
    effects = measure_effects(
        readings, items.first_right, 2, _LIMITS, train_counts=None, clusters=codes, seed=seed, by_kind=True
    )
    return judge_effects(effects).word


def _counted(items: ChoiceItems, seed: int, *, whole: bool) -> dict[str, str]:
    return words_of(audited(items, seed)) if whole else {"leakage": rule_word(items, seed)}


def made_cells(draws: range, n: int, *, whole: bool) -> list[Cell]:
    """Of made pairs the shares of the verdicts that should be given, and of *sound* where it must not be."""
    flaws = FLAWS if whole else FLAWS[:2]
    questions = QUESTIONS if whole else ("leakage",)
    words: dict[tuple[str, str], Counter[str]] = {(flaw, each): Counter() for flaw in flaws for each in questions}
    for seed in draws:
        for flaw in flaws:
            found = _counted(made_pairs(n, flaw, 2 * UNSOUND, seed), seed, whole=whole)
            for question, word in found.items():
                words[flaw, question][word] += 1
            if whole:
                print(f"{flaw}, draw {seed}: {found}", flush=True)
    by = "whole audit" if whole else "rules alone"
    cells = []
    for question in questions:
        none = words["none", question]
        worse = none["caution"] + none["unsound"]
        of = f"{question}, {by}, {n:,} pairs"
        cells.append(Cell(f"no flaw, {of}", "caution or worse", worse, none.total(), at_most(0.025)))
        reached = at_least(0.8) if n >= 5000 else None
        cells.append(Cell(f"no flaw, {of}", "sound", none["sound"], none.total(), reached))
        for flaw in flaws[1:]:
            counted = words[flaw, question]
            wanted = "unsound" if (flaw, question) == ("longer", "leakage") else "caution"
            target = at_least(0.9) if n >= 5000 else None
            cells.append(Cell(f"{flaw} in 24 %, {of}", wanted, counted[wanted], counted.total(), target))
            cells.append(Cell(f"{flaw} in 24 %, {of}", "sound", counted["sound"], counted.total(), at_most(0)))
    return cells


def shuffled_cells(draws: range, rows: int | None, *, whole: bool) -> list[Cell]:
    """Of each real set the share of shuffled copies that is a caution or worse."""
    with tempfile.TemporaryDirectory() as folder:
        sets = {name: read_set(place, Path(folder)) for name, place in SETS.items()}
    words: dict[tuple[str, str], Counter[str]] = {}
    for seed in draws:
        for name, items in sets.items():
            found = _counted(shuffled(items, seed, rows), seed, whole=whole)
            for question, word in found.items():
                words.setdefault((name, question), Counter())[word] += 1
            if whole:
                print(f"{name}, draw {seed}: {found}", flush=True)
    by = "whole audit" if whole else "rules alone"
    return [
        Cell(
            f"{name} shuffled, {question}, {by}", "caution or worse", counted["caution"] + counted["unsound"],
            counted.total(), at_most(0.025),
        )
        for (name, question), counted in words.items()
    ]  # fmt: skip


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first draw")
    parser.add_argument("--rows", type=int, help="pairs of each set: 5,000 made ones, and all of a real set by default")
    parser.add_argument("--shuffled", action="store_true", help="real pairs instead of made ones")
    parser.add_argument("--whole", action="store_true", help="whole audits, with readers and patterns")
    given = parser.parse_args()
    draws = range(given.first, given.first + given.draws)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if given.shuffled:
            cells = shuffled_cells(draws, given.rows, whole=given.whole)
        else:
            cells = made_cells(draws, given.rows or 5000, whole=given.whole)
    print_table(cells)


if __name__ == "__main__":
    main()
