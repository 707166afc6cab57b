"""How often the intervals of effects hold the truth, and all lower ends together: labels, rules, what hardly varies.

    python -m benchmarks.verdicts.coverage --draws 2000          a table; three minutes of a core

Labels are the worlds of `effects`. Rules pick among four choices of 651 items: one names the last place, where the key
stands in a quarter of the items or in 41.5 %, twelve pick at random, and six pick in 5 to 9 items. A reader that hardly
varies names one label but in 3 or 8 rows of 1,000, where it is right in 60 %.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.verdicts.cells import Cell, at_least, at_most, print_table
from benchmarks.verdicts.effects import BOOTSTRAP, HALVES, THIRDS, World, measured
from goldassay.stats.effects import ACCURACY, BALANCED, INFORMATION, Effects, Limits, ReaderPredictions, measure_effects

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LIMITS = {name: Limits(0.03, 0.12) for name in (ACCURACY, BALANCED, INFORMATION)}
# Ends do not allow for what is left to be gained being drawn, too: it matters where a reader loses as much as this.
FAR_BELOW = -0.2
N_ITEMS, UNIFORM, LAST = 651, 0.25, 0.415


def cells_of(world: str, draw: Callable[[int], tuple[Effects, Sequence[float]]], draws: int) -> list[Cell]:
    """Of draws, each with the true values of its effects: how often intervals hold them, and lower ends all of them.

    Args:
        world: What is true.
        draw: The effects of a seed, and their true values.
        draws: How many.
    """
    held: dict[str, list[bool]] = {}
    together, cautions, flawless = [], [], True
    for seed in range(draws):
        found, truths = draw(seed)
        known = [(each, truth) for each, truth in zip(found.effects, truths, strict=True) if each.measurable]
        for each, truth in known[-2:] if len(known) > 4 else known:
            own = each.ordinary_low - 1e-9 <= truth <= each.high + 1e-9
            far = ", far below 0" if truth < FAR_BELOW else ""
            held.setdefault(f"{each.measure}{far}: the ordinary interval covers", []).append(own)
        together.append(all(each.low <= truth + 1e-9 for each, truth in known))
        cautions.append(any(each.low >= each.caution for each, _ in known))
        flawless &= max(truths) <= 0
    made = [
        Cell(world, name, sum(own), len(own), None if "far below 0" in name else at_least(0.93))
        for name, own in held.items()
    ]
    made.append(Cell(world, "all lower ends hold", sum(together), draws, at_least(0.95)))
    if flawless:
        made.append(Cell(world, "caution or worse", sum(cautions), draws, at_most(0.025)))
    return made


def of_labels(world: World, skill: float) -> Callable[[int], tuple[Effects, Sequence[float]]]:
    """A word that gives `skill`, and a reader that gains nothing where labels are balanced."""
    balanced = max(world.shares) - min(world.shares) < 0.01

    def draw(seed: int) -> tuple[Effects, Sequence[float]]:
        found = measured(world, skill, "leakage", seed)
        # One that guesses in a tenth of the rows loses accuracy where one label is frequent.
        most, guessed = max(world.shares), 1 / len(world.shares)
        return found, (skill, skill, 0.0 if balanced else 0.1 * (guessed - most) / (1 - most), 0.0)

    return draw


def of_rules(last: float) -> Callable[[int], tuple[Effects, Sequence[float]]]:
    """22 rules, of which six pick in fewer than ten items, and the last names the last place."""

    def draw(seed: int) -> tuple[Effects, Sequence[float]]:
        rng = np.random.default_rng(seed)
        gold = rng.choice(4, N_ITEMS, p=[(1 - last) / 3] * 3 + [last])
        chance = np.full(N_ITEMS, 0.25)
        every = np.ones(N_ITEMS, np.bool_)
        picked = [(rng.integers(0, 4, N_ITEMS), every) for _ in range(12)]
        picked += [
            (rng.integers(0, 4, N_ITEMS), np.isin(np.arange(N_ITEMS), rng.choice(N_ITEMS, n, replace=False)))
            for n in (5, 6, 7, 8, 9, 9)
        ]
        picked += [(np.full(N_ITEMS, place), every) for place in range(4)]
        readings = [
            ReaderPredictions(
                "choices", f"rule {at}", None, correct=np.where(applies, named == gold, 0.25)[np.newaxis],
                chance=chance, applies=applies,
            )
            for at, (named, applies) in enumerate(picked)
        ]  # fmt: skip
        other = ((1 - last) / 3 - 0.25) / 0.75
        truths = [0.0] * 18 + [other] * 3 + [(last - 0.25) / 0.75]
        return measure_effects(readings, gold, 4, LIMITS, seed=seed, n_draws=BOOTSTRAP, by_kind=True), truths

    return draw


def of_constants(n_unlike: int, n: int = 1000) -> Callable[[int], tuple[Effects, Sequence[float]]]:
    """A reader that names one of two labels but in about so many rows, where it is right in 60 %."""

    def draw(seed: int) -> tuple[Effects, Sequence[float]]:
        rng = np.random.default_rng(seed)
        gold = rng.integers(0, 2, n)
        told = np.where(rng.random(n) < 0.6, gold, 1 - gold)
        named = np.where(rng.random(n) < n_unlike / n, told, 0)
        found = measure_effects(
            [ReaderPredictions("hypothesis", "nearly one label", named[np.newaxis])],
            gold, 2, LIMITS, seed=seed, n_draws=BOOTSTRAP, by_kind=True,
        )  # fmt: skip
        gain = n_unlike / n * 0.1 / 0.5
        return found, (gain, gain)

    return draw


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000, help="Draws a cell.")
    draws = parser.parse_args(arguments).draws
    worlds = (World(1000, THIRDS), World(1000, (0.9, 0.1)), World(1000, THIRDS, size=20, icc=0.2), World(200, HALVES))
    cells = [
        cell
        for world in worlds
        for skill in (0.0, 0.12)
        for cell in cells_of(f"{world}, skill {skill:g}", of_labels(world, skill), draws)
    ]
    for last in (UNIFORM, LAST):
        cells += cells_of(f"22 rules, {100 * last:g} % at the last place", of_rules(last), draws)
    for n_unlike in (3, 8):
        cells += cells_of(f"one label but in {n_unlike} rows", of_constants(n_unlike), draws)
    return print_table(cells)


if __name__ == "__main__":
    raise SystemExit(main())
