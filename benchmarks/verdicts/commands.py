"""How often whole audits give each verdict to made sets with a known flaw, end to end.

    python -m benchmarks.verdicts.commands [--draws 100] [--first 0] [--worlds 4]

A draw of all four worlds is 20 audits. An interruption prints the table of what was drawn until then.

Premise and hypothesis are words drawn by Zipf's law. For artifacts, a word of its label ends the hypotheses of a share
of the rows of each label but the most frequent, which is the accuracy skill that patterns can reach. For leakage, one
of K words ends every hypothesis: that of its label in a share of the rows, any in the others. The share is the balanced
skill of the best reader, and its accuracy skill too where labels are balanced.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import goldassay
from benchmarks.verdicts.cells import Cell, Target, at_least, at_most, print_table

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.queues import Queue

    from numpy.typing import NDArray

UNSOUND = {"artifacts": 0.075, "leakage": 0.12}
N_WORDS, LENGTH = 2000, 8
WORDS = np.array([f"w{code}" for code in range(N_WORDS)])


@dataclass(frozen=True)
class World:
    """What is true of a set, but for its flaw.

    Attributes:
        n: Rows of the test part; the training part has 5,000 or more.
        shares: Of the labels, the most frequent first.
        size: Rows of a cluster, which share a premise.
        icc: How alike rows of a cluster are in holding the flaw.
    """

    n: int
    shares: tuple[float, ...]
    size: int = 1
    icc: float = 0.0

    def __str__(self) -> str:
        shares = "/".join(f"{100 * share:.0f}" for share in self.shares)
        clusters = "" if self.size == 1 else f", clusters of {self.size}, ICC {self.icc:g}"
        return f"{self.n:,} rows, {shares}{clusters}"

    @property
    def plain(self) -> bool:
        """Many balanced rows that vary independently: here *sound* and *unsound* must be reached."""
        return self.n == 5000 and self.size == 1 and max(self.shares) - min(self.shares) < 0.01

    def part(self, rng: np.random.Generator, n: int, question: str, skill: float) -> pl.DataFrame:
        """Rows of one part, with a flaw of the size `skill`."""
        k = len(self.shares)
        gold = rng.choice(k, n, p=np.array(self.shares) / sum(self.shares))
        clusters = np.arange(n) // self.size
        chance = np.full(n, skill)
        if self.icc and skill:
            spread = 1 / self.icc - 1
            chance = rng.beta(skill * spread, (1 - skill) * spread, int(clusters.max()) + 1)[clusters]
        true = rng.random(n) < chance
        if question == "artifacts":
            ends = np.where(true & (gold > 0), gold, -1)
        else:
            ends = np.where(true, gold, rng.integers(0, k, n))
        premises = _sentences(rng, int(clusters.max()) + 1)
        texts = _sentences(rng, n)
        return pl.DataFrame(
            {
                "premise": [f"{premises[cluster]} p{cluster}" for cluster in clusters],
                "hypothesis": [
                    f"{text} m{end}" if end >= 0 else text for text, end in zip(texts, ends.tolist(), strict=True)
                ],
                "label": [f"l{code}" for code in gold],
            }
        )


def _sentences(rng: np.random.Generator, n: int) -> list[str]:
    weights = 1 / np.arange(10, N_WORDS + 10)
    drawn: NDArray[np.str_] = WORDS[rng.choice(N_WORDS, (n, LENGTH), p=weights / weights.sum())]
    return [" ".join(row) for row in drawn.tolist()]


THIRDS = (1 / 3,) * 3
WORLDS = (
    World(5000, THIRDS),
    World(5000, (0.9, 0.1)),
    World(5000, THIRDS, size=20, icc=0.2),
    World(1000, (0.2,) * 5),
)


def verdicts(world: World, question: str, skill: float, seed: int) -> dict[str, str]:
    """The word for each question about one drawn set."""
    rng = np.random.default_rng([seed, 1])
    train = world.part(rng, max(5000, world.n), question, skill)
    test = world.part(rng, world.n, question, skill)
    report = goldassay.audit(train, test, seed=seed)
    return {name: verdict["verdict"] for name, verdict in report.verdicts.items()}


# How large a flaw is, in limits for unsound.
SIZES = {"no flaw": 0.0, "at the limit": 1.0, "twice the limit": 2.0}


def words_of(world: World, seed: int) -> dict[tuple[str, str], str]:
    """The word of each question about a set without a flaw, and about two with its own flaw."""
    clean = verdicts(world, "artifacts", 0.0, seed)
    return {
        (question, size): (verdicts(world, question, times * limit, seed) if times else clean)[question]
        for question, limit in UNSOUND.items()
        for size, times in SIZES.items()
    }


def cells_of(world: World, drawn: Sequence[dict[tuple[str, str], str]]) -> list[Cell]:
    """What is said without a flaw, at the limit and at twice the limit of each question."""
    made = []
    for question in UNSOUND:
        said = {size: [words[question, size] for words in drawn] for size in SIZES}
        reached = at_least(0.8) if world.plain else None
        found = at_least(0.9) if world.plain else None
        asked: tuple[tuple[str, str, set[str], Target | None], ...] = (
            ("no flaw", "caution or worse", {"caution", "unsound"}, at_most(0.025)),
            ("no flaw", "sound", {"sound"}, reached),
            ("at the limit", "sound", {"sound"}, at_most(0.025)),
            ("at the limit", "unsound", {"unsound"}, at_most(0.025)),
            ("twice the limit", "unsound", {"unsound"}, found),
            ("twice the limit", "sound", {"sound"}, at_most(0.0)),
        )
        made += [
            Cell(f"{question}, {world}, {size}", event, sum(word in counted for word in said[size]), len(drawn), target)
            for size, event, counted, target in asked
        ]
    return made


def _on_one_core(free: Queue[int]) -> None:
    """An audit is as fast on two cores as two audits on one each, but not faster."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {free.get()})


def draw_all(worlds: Sequence[World], seeds: range) -> dict[World, list[dict[tuple[str, str], str]]]:
    """All draws of all worlds, seed by seed, a process a core; what an interruption leaves is of whole draws."""
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    context = multiprocessing.get_context("spawn")
    free = context.Queue()
    for core in allowed:
        free.put(core)
    drawn: dict[World, list[dict[tuple[str, str], str]]] = {world: [] for world in worlds}
    begin = time.perf_counter()
    with ProcessPoolExecutor(len(allowed), context, _on_one_core, (free,)) as pool:
        waiting = [(world, pool.submit(words_of, world, seed)) for seed in seeds for world in worlds]
        try:
            for done, (world, each) in enumerate(waiting, start=1):
                drawn[world].append(each.result())
                print(f"{done} of {len(waiting)}, {time.perf_counter() - begin:.0f} s", file=sys.stderr)
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
    return drawn


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=100, help="Draws a cell.")
    parser.add_argument("--first", type=int, default=0, help="Seed of the first draw.")
    parser.add_argument("--worlds", type=int, default=len(WORLDS), help="Only the first so many worlds.")
    options = parser.parse_args(arguments)
    drawn = draw_all(WORLDS[: options.worlds], range(options.first, options.first + options.draws))
    return print_table([cell for world, words in drawn.items() if words for cell in cells_of(world, words)])


if __name__ == "__main__":
    raise SystemExit(main())
