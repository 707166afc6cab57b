"""How often each verdict on instability is given where the spread over runs is known, and the power of `compare`.

    python -m benchmarks.verdicts.instability [--draws N]      # prints the tables, of which docs/intervals.md has some

2,000 draws of every cell take about ten minutes on one core.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.verdicts.cells import Cell, Target, at_least, at_most, failures, markdown, pooled
from benchmarks.verdicts.power import POWER_WORLDS
from goldassay.core.errors import UndefinedMeasureWarning
from goldassay.core.settings import InstabilityLimits
from goldassay.questions.instability.spread import measure_spread
from goldassay.questions.instability.verdict import judge
from goldassay.runs.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

FLAWED = "caution or worse"


@dataclass(frozen=True)
class SpreadWorld:
    """Runs of a model whose accuracy has a known standard deviation over runs.

    Half of `varying` examples flip by themselves; a reserve of examples is right in as many as the run's level says, so
    that they flip together. The others are the same in all runs.

    Attributes:
        sd: Standard deviation of the accuracy over runs, without failing runs.
        accuracy: Mean accuracy.
        n: Examples.
        shares: Of the labels.
        flips: Share of the examples that flip by themselves, as a coin.
        failing: Chance of a run to score 10 points less.
        knows: Whether it predicts better than always giving the most frequent label; else its answers are independent
            of the labels.
    """

    sd: float
    accuracy: float = 0.8
    n: int = 5000
    shares: tuple[float, ...] = (1 / 3, 1 / 3, 1 / 3)
    flips: float = 0.03
    failing: float = 0.0
    knows: bool = True

    @property
    def level(self) -> float:
        """Standard deviation of the runs' level, which is what the flips leave of the whole."""
        return math.sqrt(self.sd**2 - self.flips / 4 / self.n)

    @property
    def design_effect(self) -> float:
        """Of the flips and the level, as `decompose_variance` has it: examples of the reserve vary, too."""
        from scipy.special import ndtr

        # Example u of the reserve is right where .5 + level z N/M exceeds u.
        u = (np.arange(self.reserve) + 0.5) / self.reserve
        p = ndtr((0.5 - u) * self.reserve / self.n / self.level) if self.level > 0 else np.zeros(1)
        independent = (self.flips / 4 + float((p * (1 - p)).sum()) / self.n) / self.n
        return self.sd**2 / independent

    @property
    def reserve(self) -> int:
        """Examples that flip with the run's level: enough for four of its standard deviations and for a failure."""
        return min(self.n // 2, round(self.n * (8 * self.level + (0.2 if self.failing else 0.0))) + 20)

    @cached_property
    def _template(self) -> Runs:
        """Labels and names of the examples, which are the same in all draws."""
        counts = np.diff(np.round(np.cumsum((0.0, *self.shares)) * self.n)).astype(np.int64)
        gold = np.random.default_rng(1).permutation(np.arange(len(self.shares)).repeat(counts))
        return Runs.from_arrays(
            gold[np.newaxis], gold, label_names=tuple("abcdefgh"[: len(self.shares)]), model="model", dataset="world",
            example_ids=[f"e{row}" for row in range(self.n)],
        )  # fmt: skip

    def draw(self, n_runs: int, rng: np.random.Generator) -> Runs:
        """New runs."""
        right, gold = self._right(n_runs, rng), self._template.gold
        if not self.knows:
            # The same flips of answers that have nothing to do with the labels.
            first, second = rng.choice(len(self.shares), (2, self.n), p=self.shares)
            right = np.where(right, first, second) == gold
        return replace(
            self._template, scores=right.astype(np.float64), predictions=None, seeds=np.arange(n_runs), numbered=False
        )

    def _right(self, n_runs: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        levels = rng.normal(0, self.level, n_runs)
        if self.failing:
            levels -= 0.1 * (rng.random(n_runs) < self.failing)
        right = np.broadcast_to(np.arange(self.n) < self.accuracy * self.n, (n_runs, self.n)).copy()
        flipping = round(self.flips * self.n)
        # Around the border of right and wrong, so that the mean stays.
        middle = round(self.accuracy * self.n)
        reserve = np.arange(self.reserve) - self.reserve // 2
        right[:, middle + reserve] = reserve < (levels * self.n)[:, np.newaxis]
        start = middle - self.reserve // 2 - flipping
        right[:, start : start + flipping // 2] = rng.random((n_runs, flipping // 2)) < 0.5
        end = middle + self.reserve // 2 + 1
        right[:, end : end + flipping // 2] = rng.random((n_runs, flipping // 2)) < 0.5
        return right

    def verdicts(self, n_runs: int, n_draws: int, seed: int = 0) -> Counter[str]:
        """How often each verdict is given."""
        rng, counted, limits = np.random.default_rng([seed, n_runs]), Counter[str](), InstabilityLimits()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMeasureWarning)
            for _ in range(n_draws):
                counted[judge([measure_spread(self.draw(n_runs, rng))], limits).verdict] += 1
        counted[FLAWED] = counted["caution"] + counted["unsound"]
        return counted


QUIET, LIMIT, TWICE = SpreadWorld(0.0015), SpreadWorld(0.01), SpreadWorld(0.02)
RARE = (0.9, 0.1)


@dataclass(frozen=True)
class Question:
    """A world, the numbers of runs to draw, and what should be found."""

    name: str
    world: SpreadWorld
    targets: Mapping[int, Mapping[str, Target | None]]


_AT_LIMIT: dict[str, Target | None] = {"sound": at_most(0.025), "unsound": at_most(0.025)}
_CLEAN: dict[str, Target | None] = {FLAWED: at_most(0.025), "sound": at_least(0.8)}
_IGNORANT: dict[str, Target | None] = {"sound": at_most(0.025)}
_SHOWN: dict[str, Target | None] = {"sound": None, FLAWED: None}

QUESTIONS = (
    Question("no flaw, SD 0.15", QUIET, {2: {FLAWED: at_most(0.025), "sound": at_most(0.0)},
                                         3: {FLAWED: at_most(0.025), "sound": at_most(0.0)},
                                         5: _CLEAN, 10: _CLEAN}),
    Question("no flaw, SD 0.15, K = 2", SpreadWorld(0.0015, shares=(0.5, 0.5)), {10: _CLEAN}),
    Question("no flaw, SD 0.15, K = 5", SpreadWorld(0.0015, shares=(0.2,) * 5), {10: _CLEAN}),
    Question("no flaw, SD 0.15, labels 90/10", SpreadWorld(0.0015, 0.95, shares=RARE, flips=0.02), {10: _CLEAN}),
    Question("at caution, SD 0.3", SpreadWorld(0.003), {n: {FLAWED: at_most(0.025)} for n in (2, 3, 5, 10)}),
    Question("at the limit, SD 1", LIMIT, dict.fromkeys((2, 3, 5, 10, 12), _AT_LIMIT)),
    Question("at the limit, SD 1, N = 1,000", SpreadWorld(0.01, n=1000), dict.fromkeys((5, 10), _AT_LIMIT)),
    Question("twice the limit, SD 2", TWICE, {
        2: {"unsound": None}, 3: {"unsound": None}, 5: {"unsound": at_least(0.55)}, 10: {"unsound": at_least(0.8)},
        12: {"unsound": at_least(0.9)},
    }),
    Question("one run in ten fails by 10 points", SpreadWorld(0.0015, failing=0.1),
             dict.fromkeys((3, 5, 10, 30), _SHOWN)),
    Question("knows nothing, steady", SpreadWorld(0.0015, knows=False), dict.fromkeys((5, 10), _IGNORANT)),
    Question("knows nothing, steady, labels 90/10", SpreadWorld(0.0015, shares=RARE, knows=False), {10: _IGNORANT}),
)  # fmt: skip


def measure(questions: Sequence[Question] = QUESTIONS, n_draws: int = 2000) -> list[Cell]:
    """All cells of the questions."""
    cells = []
    for question in questions:
        for n_runs, events in question.targets.items():
            found = question.world.verdicts(n_runs, n_draws)
            print(f"{question.name}, R = {n_runs}: {dict(found)}", file=sys.stderr, flush=True)
            cells += [
                Cell(f"{question.name}, R = {n_runs}", event, found[event], n_draws, target)
                for event, target in events.items()
            ]
    return cells


@dataclass(frozen=True)
class Power:
    """The power that is claimed for a difference, and what `compare` finds of it."""

    world: str
    n_runs: int
    n_draws: int
    found: Mapping[float, int]

    @property
    def off(self) -> float:
        """The largest distance of a claim above the level from what is found."""
        return max(abs(count / self.n_draws - claimed) for claimed, count in self.found.items() if claimed > 0.05)


CLAIMED = (0.5, 0.8, 0.95)


def measure_power(n_draws: int = 2000, n_runs: Sequence[int] = (2, 3, 5, 10)) -> list[Power]:
    """Claimed and simulated power of each world, and how often a difference of 0 is found (claimed .05)."""
    return [
        Power(
            name, runs, n_draws,
            {0.05: world.found(0.0, runs, n_draws)}
            | {claimed: world.found(world.difference(runs, claimed), runs, n_draws) for claimed in CLAIMED},
        )
        for name, world in POWER_WORLDS.items()
        for runs in n_runs
    ]  # fmt: skip


def power_table(found: Sequence[Power]) -> str:
    """A row a world and number of runs, with the share of draws in percent below each claim."""
    heads = " | ".join(f"{100 * claimed:g} % claimed" for claimed in CLAIMED)
    lines = [f"| noise of | R | no difference | {heads} |", "|---|---:|---:|" + "---:|" * len(CLAIMED)]
    lines += [
        f"| {row.world} | {row.n_runs} | "
        + " | ".join(f"{100 * row.found[claimed] / row.n_draws:.1f}" for claimed in (0.05, *CLAIMED))
        + " |"
        for row in found
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    draws = parser.parse_args().draws
    start = time.perf_counter()
    cells = measure(n_draws=draws)
    print(
        f"{draws} draws, {time.perf_counter() - start:.0f} s\n\n{markdown(cells)}\n\n{markdown(pooled(cells))}\n",
        flush=True,
    )
    print("\n".join(failures(cells)) or "all targets are kept")
    print(f"\n{power_table(measure_power(draws))}\n\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
