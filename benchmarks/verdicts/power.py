"""Worlds in which the power of `compare` is known: two models of equal noise, of normal scores or of answers.

python -m benchmarks.verdicts.power [--draws N]      # prints the table; ten minutes
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from goldassay.instability import compare, comparison_power, smallest_difference

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class PowerWorld:
    """Two models of equal noise on N examples.

    Attributes:
        run: Standard deviation of a run's level.
        flip: Of each run on each example.
        example: Of what a model does better on one example (or on all of a cluster) than on another.
        cluster_size: Examples in a cluster.
        n: N.
    """

    run: float
    flip: float
    example: float
    cluster_size: int = 1
    n: int = 200

    @property
    def sd(self) -> float:
        """Standard deviation of a model's score over runs."""
        return math.sqrt(self.run**2 + self.flip**2 / self.n)

    @property
    def example_variance(self) -> float:
        """Variance of the mean difference by the examples."""
        return self.example**2 / self.clusters

    @property
    def clusters(self) -> int:
        """Independent clusters of examples."""
        return self.n // self.cluster_size

    def difference(self, n_runs: int, power: float) -> float:
        """The true difference of which `power` is claimed."""
        return smallest_difference(self.sd, n_runs, power, 0.05, self.example_variance, self.clusters)

    def found(self, difference: float, n_runs: int, n_draws: int, seed: int = 0) -> int:
        """Draws in which `compare` finds the difference at 5 %."""
        rng, found = np.random.default_rng([seed, n_runs]), 0
        names = np.arange(self.n) // self.cluster_size if self.cluster_size > 1 else None
        for _ in range(n_draws):
            ease = rng.normal(0, 1, self.n)
            better = difference + rng.normal(0, self.example, self.clusters).repeat(self.cluster_size)
            scores = [
                ease + part * better + rng.normal(0, self.run, (n_runs, 1)) + rng.normal(0, self.flip, (n_runs, self.n))
                for part in (0.5, -0.5)
            ]
            found += compare(scores[0], scores[1], names, n_draws=1).p_value < 0.05
        return found


POWER_WORLDS = {
    "runs differ in level": PowerWorld(run=0.3, flip=0.3, example=0.0),
    "runs and examples": PowerWorld(run=0.1, flip=0.5, example=1.0),
    "examples flip singly": PowerWorld(run=0.0, flip=1.0, example=0.0),
    "flips and examples": PowerWorld(run=0.0, flip=1.0, example=0.5),
    "examples mostly": PowerWorld(run=0.02, flip=0.5, example=2.0),
    "clusters of 5": PowerWorld(run=0.1, flip=0.5, example=0.5, cluster_size=5),
}


@dataclass(frozen=True)
class AnswerWorld:
    """Two models whose answers to N examples are right or wrong, 80 % right on average.

    Model m answers example i in run r rightly where e_i +- d_i/2 + u_r + noise > 0, all of them normal: e_i is how easy
    the example is, d_i how much better A does on it, u_r how good the run is.

    Attributes:
        run: Standard deviation of a run's level u_r.
        example: Of d_i.
        flip: Of the noise of each run on each example.
        n: N.
        ease: Of e_i.
        accuracy: Mean accuracy where the models are alike.
    """

    run: float
    example: float
    flip: float = 0.5
    n: int = 500
    ease: float = 1.0
    accuracy: float = 0.8

    @cached_property
    def _center(self) -> float:
        from scipy.special import ndtri

        return float(ndtri(self.accuracy)) * math.sqrt(self.ease**2 + self.example**2 / 4 + self.run**2 + self.flip**2)

    def heights(self, shift: float, rng: np.random.Generator, n: int) -> list[NDArray[np.float64]]:
        """How far each example is above 0, for A and for B."""
        ease = self._center + rng.normal(0, self.ease, n)
        better = shift + rng.normal(0, self.example, n)
        return [ease + part * better for part in (0.5, -0.5)]

    def answers(self, heights: NDArray[np.float64], n_runs: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        """Whether each run answers each example rightly, (R, N)."""
        levels = rng.normal(0, self.run, (n_runs, 1))
        return np.asarray(heights + levels + rng.normal(0, self.flip, (n_runs, heights.size)) > 0)

    def truth(self, shift: float) -> tuple[float, float, float]:
        """The true difference of accuracy, the standard deviation over runs, and the variance by the examples."""
        from scipy.special import ndtr

        rng = np.random.default_rng(1)
        heights = self.heights(shift, rng, 50_000)
        of_run, of_runs = math.hypot(self.flip, self.run), np.linspace(-3.5, 3.5, 41)
        weights = np.exp(-(of_runs**2) / 2)
        weights /= weights.sum()
        chances = [ndtr(each / of_run) for each in heights]
        variance = 0.0
        for each in heights:
            right = ndtr((each[:5000, np.newaxis] + self.run * of_runs) / self.flip)
            levels = right.mean(axis=0)
            level = float(weights @ levels**2 - (weights @ levels) ** 2)
            variance += (level + float((right * (1 - right)).mean(axis=0) @ weights) / self.n) / 2
        apart = chances[0] - chances[1]
        # The mean of infinitely many examples is known.
        spread = math.sqrt(of_run**2 + self.ease**2 + self.example**2 / 4)
        difference = float(np.diff(ndtr((self._center + np.array([-0.5, 0.5]) * shift) / spread))[0])
        return difference, math.sqrt(variance), float(apart.var()) / self.n

    def shift(self, n_runs: int, power: float) -> float:
        """How much better A does where `power` is claimed for the difference."""
        low, high = 0.0, 8.0
        for _ in range(40):
            middle = (low + high) / 2
            difference, sd, variance = self.truth(middle)
            enough = comparison_power(difference, sd, n_runs, 0.05, variance, self.n) >= power
            low, high = (low, middle) if enough else (middle, high)
        return high

    def found(self, shift: float, n_runs: int, n_draws: int, seed: int = 0) -> int:
        """Draws in which `compare` finds a difference at 5 %."""
        rng, found = np.random.default_rng([seed, n_runs, self.n]), 0
        for _ in range(n_draws):
            scores = [self.answers(each, n_runs, rng) for each in self.heights(shift, rng, self.n)]
            found += compare(scores[0], scores[1], n_draws=1).p_value < 0.05
        return found


ANSWER_WORLDS = {
    "runs differ in level": {"run": 0.15, "example": 0.0},
    "runs and examples": {"run": 0.1, "example": 0.5},
    "examples mostly": {"run": 0.02, "example": 1.0},
    "flips alone": {"run": 0.0, "example": 0.0, "flip": 1.0},
}


def main() -> None:
    """Print, for each world, size and number of runs, how often a difference is found of which 80 % are claimed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    draws = parser.parse_args().draws
    runs = (2, 3, 5, 10)
    print(
        "| noise of | N | "
        + " | ".join(f"{kind}, R = {r}" for kind in ("80 % claimed", "no difference") for r in runs)
        + " |"
    )
    print("|---|---:|" + "---:|" * 2 * len(runs))
    for name, noise in ANSWER_WORLDS.items():
        for n in (500, 2000):
            world = AnswerWorld(n=n, **noise)
            cells = [world.found(world.shift(r, 0.8), r, draws) for r in runs] + [
                world.found(0.0, r, draws) for r in runs
            ]
            print(f"| {name} | {n:,} | " + " | ".join(f"{100 * cell / draws:.1f}" for cell in cells) + " |", flush=True)


if __name__ == "__main__":
    main()
