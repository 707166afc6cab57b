"""How often audits of judgments give each verdict, where what the seat adds is known.

    python -m benchmarks.verdicts.judges [--draws 500] [--rows 5000]

A judge sees each item in both orders. In a share of the items the first seat wins, else one side wins by merit in both
orders, but for one item in five, in which each verdict is drawn apart: the share is what the first seat adds. With
several judges one alone follows the seat.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter

import numpy as np
import polars as pl

import goldassay
from benchmarks.verdicts.cells import Cell, at_least, at_most, print_table

UNSOUND = 0.1
NOISY = 0.2
# What the first seat adds, in limits for unsound.
SIZES = {"no seat": 0.0, "at the limit": 1.0, "twice the limit": 2.0, "twice, the second seat": -2.0}


def judged(n: int, added: float, n_judges: int, seed: int) -> pl.DataFrame:
    """Verdicts on n items in both orders; the last judge follows the seat.

    Args:
        n: Items.
        added: What the first seat adds to the win rate; below 0 the second.
        n_judges: Judges.
        seed: Of the draws.
    """
    rng = np.random.default_rng([seed, n_judges, round(1000 * (added + 1))])
    better = rng.random(n) < 0.5
    parts = []
    for judge in range(n_judges):
        follows = rng.random(n) < (abs(added) if judge == n_judges - 1 else 0.0)
        noisy = rng.random(n) < NOISY
        for first in (True, False):
            wins = np.where(noisy, rng.random(n) < 0.5, better)
            wins = np.where(follows, first == (added > 0), wins)
            parts.append(
                pl.DataFrame({
                    "item": np.arange(n), "judge": f"judge {judge}", "order": "original" if first else "swapped",
                    "model_a": "x", "model_b": "y", "winner": np.where(wins, "x", "y"),
                })
            )  # fmt: skip
    return pl.concat(parts)


def cells_of(draws: range, n: int, n_judges: int) -> list[Cell]:
    """The shares of the verdicts that should be given, and of *sound* where it must not be."""
    cells = []
    for name, size in SIZES.items():
        words: Counter[str] = Counter()
        for seed in draws:
            report = goldassay.audit(judged(n, size * UNSOUND, n_judges, seed), seed=seed, quiet=True)
            words[str(report.verdicts["judgments"]["verdict"])] += 1
        world = f"{name}, {n:,} items, {n_judges} judge{'s' if n_judges > 1 else ''}"
        total, sound = words.total(), words["sound"]
        if size == 0:
            cells.append(Cell(world, "caution or worse", words["caution"] + words["unsound"], total, at_most(0.025)))
            cells.append(Cell(world, "sound", sound, total, at_least(0.8) if n >= 1000 else None))
        else:
            cells.append(Cell(world, "sound", sound, total, at_most(0.025 if abs(size) == 1 else 0)))
            if abs(size) > 1:
                cells.append(Cell(world, "unsound", words["unsound"], total, at_least(0.9) if n >= 1000 else None))
            else:
                cells.append(Cell(world, "unsound", words["unsound"], total, at_most(0.025)))
    return cells


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 1000, 5000])
    parser.add_argument("--judges", type=int, nargs="+", default=[1, 5])
    given = parser.parse_args()
    started = time.time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = [
            cell for n in given.rows for judges in given.judges for cell in cells_of(range(given.draws), n, judges)
        ]
    print_table(cells)
    print(f"{time.time() - started:.0f} s")


if __name__ == "__main__":
    main()
