"""How often artifacts and leakage are called sound, caution or unsound where the truth is known: simulated readers.

    python -m benchmarks.verdicts.effects --draws 300          a table; 2,000 draws took 75 minutes on a busy core

A world has N rows of K labels. A word ends a share of the rows of each label but the most frequent, clusters differing
as their correlation says. A reader of the hypothesis names the label of the word where there is one, and the most
frequent label elsewhere: its accuracy skill and its balanced skill are that share. A reader of the premise names labels
at random in a tenth of the rows and gains nothing. All pass through `measure_effects` and `judge_effects`, as in every
command.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.verdicts.cells import Cell, at_least, at_most, print_table
from goldassay.stats.effects import (
    ACCURACY,
    BALANCED,
    INFORMATION,
    Effects,
    Limits,
    ReaderPredictions,
    measure_effects,
)
from goldassay.stats.verdicts import judge_effects

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Those of artifacts and of leakage.
LIMITS = {"artifacts": (0.015, 0.075), "leakage": (0.03, 0.12)}
BOOTSTRAP = 500


@dataclass(frozen=True)
class World:
    """What is true.

    Attributes:
        n: Rows.
        shares: Of the labels, the most frequent first.
        size: Rows of a cluster.
        icc: How alike rows of a cluster are in holding the word, from 0.
        repeats: How often each row stands in the set; repeats are one cluster.
    """

    n: int
    shares: tuple[float, ...]
    size: int = 1
    icc: float = 0.0
    repeats: int = 1

    def __str__(self) -> str:
        shares = "/".join(f"{100 * share:.0f}" for share in self.shares)
        clusters = "" if self.size == 1 else f", clusters of {self.size}, ICC {self.icc:g}"
        repeats = "" if self.repeats == 1 else f", each row {self.repeats} times"
        return f"{self.n:,} rows, {shares}{clusters}{repeats}"

    @property
    def plain(self) -> bool:
        """The worlds in which a sound set must be called so: 5,000 unclustered rows of two or three equal labels."""
        return (
            self.n == 5000
            and self.size == self.repeats == 1
            and len(self.shares) <= 3
            and max(self.shares) - min(self.shares) < 0.01
        )

    def draw(
        self, rng: np.random.Generator, skill: float
    ) -> tuple[NDArray[np.int64], list[ReaderPredictions], NDArray[np.int64] | None]:
        """Gold labels, readings, and clusters."""
        n = self.n // self.repeats
        gold = rng.choice(len(self.shares), n, p=np.array(self.shares) / sum(self.shares))
        clusters = np.arange(n) // self.size
        chance = np.full(n, skill)
        if self.icc and 0 < skill < 1:
            spread = 1 / self.icc - 1
            chance = rng.beta(skill * spread, (1 - skill) * spread, int(clusters.max()) + 1)[clusters]
        named = np.where(rng.random(n) < chance, gold, 0)
        idle = np.where(rng.random(n) < 0.1, rng.integers(0, len(self.shares), n), 0)
        gold, named, idle, clusters = (np.repeat(each, self.repeats) for each in (gold, named, idle, clusters))
        readings = [
            ReaderPredictions("hypothesis", "word", named[np.newaxis]),
            ReaderPredictions("premise", "chance", idle[np.newaxis]),
        ]
        return gold, readings, None if self.size == self.repeats == 1 else clusters


def measured(world: World, skill: float, question: str, seed: int) -> Effects:
    """The effects of one draw."""
    limits = Limits(*LIMITS[question])
    gold, readings, clusters = world.draw(np.random.default_rng(seed), skill)
    return measure_effects(
        readings,
        gold,
        len(world.shares),
        {ACCURACY: limits, BALANCED: limits, INFORMATION: Limits(0.01, 0.05)},
        clusters=clusters,
        seed=seed,
        n_draws=BOOTSTRAP,
        by_kind=True,
    )


def judged_by(effects: Effects, question: str) -> Effects:
    """The same effects with the limits of a question."""
    caution, unsound = LIMITS[question]
    limited = tuple(replace(each, caution=caution, unsound=unsound) for each in effects.effects)
    return replace(effects, effects=limited)


def cells_of(world: World, draws: int) -> list[Cell]:
    """What is said without a flaw, at the limit, and at twice the limit."""
    made = []
    clean = [measured(world, 0.0, "artifacts", seed) for seed in range(draws)]
    for question, (_, limit) in LIMITS.items():
        for times, flaw in ((0, "no flaw"), (1, "at the limit"), (2, "twice the limit")):
            words = {"sound": 0, "not measurable": 0, "caution": 0, "unsound": 0}
            covered = known = 0
            for seed in range(draws):
                if times == 0:
                    effects = judged_by(clean[seed], question)
                else:
                    effects = measured(world, times * limit, question, seed)
                words[judge_effects(effects).word] += 1
                balanced = effects.effects[1]
                if balanced.measurable and balanced.standard_error > 0:
                    known += 1
                    covered += balanced.ordinary_low <= times * limit <= balanced.high
            name = f"{question}, {world}, {flaw}"
            if times == 0:
                made.append(Cell(name, "caution or worse", words["caution"] + words["unsound"], draws, at_most(0.025)))
                made.append(Cell(name, "sound", words["sound"], draws, at_least(0.8) if world.plain else None))
            elif times == 1:
                made.append(Cell(name, "sound", words["sound"], draws, at_most(0.025)))
                made.append(Cell(name, "unsound", words["unsound"], draws, at_most(0.025)))
            else:
                made.append(Cell(name, "unsound", words["unsound"], draws, at_least(0.9) if world.plain else None))
            if known:
                name_covers = "the interval of the balanced skill covers"
                made.append(Cell(name, name_covers, covered, known, at_least(0.93)))
    return made


THIRDS, HALVES, FIFTHS = (1 / 3,) * 3, (0.5, 0.5), (0.2,) * 5
WORLDS = (
    World(5000, HALVES), World(5000, THIRDS), World(5000, (0.9, 0.1)), World(5000, (0.98, 0.02)),
    World(1000, THIRDS), World(1000, FIFTHS), World(1000, (0.9, 0.1)), World(200, HALVES),
    World(5000, THIRDS, size=20, icc=0.2), World(5000, THIRDS, size=3, icc=0.05), World(1000, THIRDS, size=20, icc=0.2),
    World(5000, THIRDS, repeats=10),
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=300, help="Draws a cell.")
    parser.add_argument("--worlds", type=int, default=len(WORLDS), help="Only the first so many worlds.")
    options = parser.parse_args(arguments)
    cells = []
    for world in WORLDS[: options.worlds]:
        begin = time.perf_counter()
        cells += cells_of(world, options.draws)
        print(f"{world}: {time.perf_counter() - begin:.0f} s", file=sys.stderr, flush=True)
    return print_table(cells)


if __name__ == "__main__":
    raise SystemExit(main())
